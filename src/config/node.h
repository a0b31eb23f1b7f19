/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_NODE_H
#define CONFIG_NODE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A YAML file as a tree of nodes. Each node knows its place in the file. Nodes live in the arena of
 * the tree and never change. An alias and its anchor are one node, so that a node may have several
 * parents. */

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
	enum node_kind kind;
	const char *file;
	int line, column; /* place in the file, counted from 1 */
	/* text of a scalar node */
	const char *text;
	/* the scalar has no quotes and is not a block; then "true" is a boolean and "~" a null */
	bool plain;
	/* the scalar is a block after "|" or ">", whose text begins on the line after `line` */
	bool block;
	/* n items of a NODE_LIST, or n pairs of a NODE_MAP */
	size_t n;
	const struct node *const *items;
	const struct node_pair *pairs;
	/* nodes and text bytes of this tree, where an alias counts as its whole tree; yaml.h has
	 * limits */
	size_t n_nodes, n_bytes;
	int height; /* levels of the tree from this node down; 1 for a scalar */
};

struct node_pair {
	const struct node *key; /* the key: a scalar that is unique in its map */
	const struct node *value;
};

/* The value of a key. NULL if the key is missing, or if `node` is not a map or NULL. */
const struct node *node_get(const struct node *node, const char *key);

/* Finds the node at "a.b.c" below root. If a key is missing, returns the deepest node that was
 * reached. */
const struct node *node_path(const struct node *root, const char *path);

/* True for a plain scalar that is empty, "~" or "null". */
bool node_is_null(const struct node *node);

/* Reads a plain "true" or "false" into *out. Returns false for other nodes. */
bool node_to_bool(const struct node *node, bool *out);

/* Describes a node for "expected X, found <description>": "a list", "'12'". Long texts are cut. */
void node_describe(const struct node *node, char *text, size_t n);

/* Sets the error "<file>:<line>:<column>: <message>" with the place of the node. Returns
 * -EINVAL. */
int node_complain(const struct node *at, struct fh_error *err, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* Merges two trees: `over` replaces `base`, but maps are merged key by key. A merged map takes its
 * line and column from `over`. */
const struct node *node_overlay(struct arena *a, const struct node *base, const struct node *over);

/* Appends the node as YAML in block form. Each line begins with `indent` blanks. */
void node_print(struct buf *out, const struct node *node, int indent);

/* Appends a YAML value after "key:" or "-". Short values go on the same line, others on the next
 * lines. */
void node_print_value(struct buf *out, const struct node *node, int indent);

/* Appends a YAML key without its colon, in double quotes if needed. */
void node_print_key(struct buf *out, const char *key);

/* Appends text as a YAML scalar: plain if possible, else as an indented block, else quoted. */
void node_print_text(struct buf *out, const char *text, int indent);

#endif
