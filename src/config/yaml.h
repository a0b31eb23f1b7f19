/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_YAML_H
#define CONFIG_YAML_H

#include "config/node.h"

/*
 * Reads YAML files as trees of nodes. A file is one document. Keys are scalars, each given once.
 * Anchors, aliases and merge keys (`<<`) are read, but none may contain itself. Tags other than
 * !!str are refused. Errors name file, line and column. The limits hold for untrusted files:
 */
#define YAML_FILE_BYTES_MAX (1024 * 1024)
#define YAML_NODES_MAX 100000            /* with aliases expanded */
#define YAML_BYTES_MAX (8 * 1024 * 1024) /* text, with aliases expanded */
#define YAML_DEPTH_MAX 64
#define YAML_KEYS_MAX 1024 /* in a mapping */
#define YAML_KEY_BYTES_MAX 200
#define YAML_ANCHORS_MAX 256

/* Parses a text. `file` is its name in errors, and is copied into the arena with the nodes. An
 * empty text gives a scalar that node_is_null(). -EINVAL. */
int yaml_parse(struct arena *a, const char *file, const char *text, size_t n,
		const struct node **out, struct fh_error *err);

/* Parses the file at path. */
int yaml_load(struct arena *a, const char *path, const struct node **out, struct fh_error *err);

#endif
