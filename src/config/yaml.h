/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_YAML_H
#define CONFIG_YAML_H

#include "config/node.h"

/*
 * YAML files as trees of nodes. One document; mappings with scalar keys that differ; anchors,
 * aliases and merge keys (`<<`), none of which may contain itself; no tags but !!str. Errors name
 * file, line and column. Whatever the file says, it costs no more than these:
 */
#define YAML_FILE_BYTES_MAX (1024 * 1024)
#define YAML_NODES_MAX 100000            /* with aliases written out */
#define YAML_BYTES_MAX (8 * 1024 * 1024) /* of text, likewise */
#define YAML_DEPTH_MAX 64
#define YAML_KEYS_MAX 1024 /* of one mapping */
#define YAML_KEY_BYTES_MAX 200
#define YAML_ANCHORS_MAX 256

/* `file` is what errors call the text; both it and the nodes live in the arena. -EINVAL. An empty
 * text gives a scalar that node_is_null(). */
int yaml_parse(struct arena *a, const char *file, const char *text, size_t n,
		const struct node **out, struct fh_error *err);

/* The file at path. */
int yaml_load(struct arena *a, const char *path, const struct node **out, struct fh_error *err);

#endif
