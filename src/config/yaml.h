/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_YAML_H
#define CONFIG_YAML_H

#include "config/node.h"

/*
 * Reads YAML files as trees of nodes. A file is one document. Keys are scalars, each given once.
 * Anchors, aliases and merge keys (`<<`) are read, but no node may contain itself. Tags other than
 * !!str are refused. Errors name file, line and column. Files that exceed a limit below are
 * refused.
 */

#define YAML_FILE_BYTES_MAX (1024 * 1024)
#define YAML_NODES_MAX 100000            /* most nodes of a file, with aliases expanded */
#define YAML_BYTES_MAX (8 * 1024 * 1024) /* most text of a file, with aliases expanded */
#define YAML_DEPTH_MAX 64
#define YAML_KEYS_MAX 1024 /* most keys of one mapping */
#define YAML_KEY_BYTES_MAX 200
#define YAML_ANCHORS_MAX 256

/* Parses n bytes of YAML. `file` is the name in error messages, copied into the arena like the
 * nodes. An empty text gives a scalar for which node_is_null() is true. -EINVAL: the text is
 * malformed or exceeds a limit; -EFBIG: it exceeds YAML_FILE_BYTES_MAX. */
int yaml_parse(struct arena *a, const char *file, const char *text, size_t n,
		const struct node **out, struct fh_error *err);

/* Reads and parses the YAML file at path. */
int yaml_load(struct arena *a, const char *path, const struct node **out, struct fh_error *err);

#endif
