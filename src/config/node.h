/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_NODE_H
#define CONFIG_NODE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A YAML file as a tree. Each node knows its place in the file. Nodes live in the arena of the tree
 * and never change. An alias is the node that it names, so that nodes may be shared. */
enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
	enum node_kind kind;
	const char *file;
	int line, column; /* from 1 */
	/* scalar */
	const char *text;
	bool plain; /* no quotes, no block: "true" and "~" are no texts */
	bool block; /* "|" or ">": the text begins on the line after `line` */
	/* list and map */
	size_t n;
	const struct node *const *items;
	const struct node_pair *pairs;
	/* for the tree with aliases expanded; yaml.h has limits */
	size_t n_nodes, n_bytes;
	int height; /* 1 for a scalar */
};

struct node_pair {
	const struct node *key; /* a scalar; no two of a map are equal */
	const struct node *value;
};

/* The value of a key. NULL: the key is missing, or node is no map, or NULL. */
const struct node *node_get(const struct node *node, const char *key);

/* The node at "a.b.c" below root. If it is missing, the deepest node on the way to it. */
const struct node *node_path(const struct node *root, const char *path);

/* True for a plain scalar that is empty, "~" or "null". */
bool node_is_null(const struct node *node);

/* Reads a plain "true" or "false"; false for other nodes. */
bool node_to_bool(const struct node *node, bool *out);

/* Writes "a list", "'12'" and the like, for "expected X, found <this>". Long texts are cut. */
void node_describe(const struct node *node, char *text, size_t n);

/* Fails with "<file>:<line>:<column>: <message>". -EINVAL. */
int node_complain(const struct node *at, struct fh_error *err, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* Merges two trees: `over` replaces `base`, but maps are merged key by key. A merged map has the
 * place of `over` in its file. */
const struct node *node_overlay(struct arena *a, const struct node *base, const struct node *over);

/* Appends the node as YAML in block form. Each line begins with `indent` blanks. */
void node_print(struct buf *out, const struct node *node, int indent);

/* Appends a value after "key:" or "-": on the same line, or on the next ones. */
void node_print_value(struct buf *out, const struct node *node, int indent);

/* Appends a key, without its colon: plain or in double quotes. */
void node_print_key(struct buf *out, const char *key);

/* Appends text as a YAML scalar: plain if possible, else as an indented block, else quoted. */
void node_print_text(struct buf *out, const char *text, int indent);

#endif
