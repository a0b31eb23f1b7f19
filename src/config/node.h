/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_NODE_H
#define CONFIG_NODE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * What a YAML file says, as a tree in which everything knows its place in the file. Nodes belong to
 * the arena they were made in and don't change once made; an alias is the node that it names, so
 * that parts may be shared.
 */
enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
	enum node_kind kind;
	const char *file;
	int line, column; /* from 1 */
	/* scalar */
	const char *text;
	bool plain; /* neither quoted nor a block: "true" and "~" are not mere text */
	bool block; /* "|" or ">", which stands at its place: the text begins on the next line */
	/* list and map */
	size_t n;
	const struct node *const *items;
	const struct node_pair *pairs;
	/* with every alias written out; never more than yaml.h allows */
	size_t n_nodes, n_bytes;
	int height; /* 1 for a scalar */
};

struct node_pair {
	const struct node *key; /* a scalar; no two of a map are equal */
	const struct node *value;
};

/* The value of a map's key; NULL if there is none, or node is no map (NULL is none). */
const struct node *node_get(const struct node *node, const char *key);

/* The node at "a.b.c" below root, or the deepest on the way that is there: for complaining. */
const struct node *node_path(const struct node *root, const char *path);

/* A plain scalar that means nothing at all: empty, "~", "null". */
bool node_is_null(const struct node *node);

/* Of a plain "true" or "false": which. */
bool node_to_bool(const struct node *node, bool *out);

/* What was found, for "expected ..., found <this>": "a list", "'12'", ... Cut when it is long. */
void node_describe(const struct node *node, char *text, size_t n);

/* "<file>:<line>:<column>: <message>", -EINVAL. */
int node_complain(const struct node *at, struct fh_error *err, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* A tree in which over's keys are put over base's: two maps key by key, anything else whole. A map of both
 * has over's place. */
const struct node *node_overlay(struct arena *a, const struct node *base, const struct node *over);

/* Appends the node as YAML, in block form, each line indented by so many blanks. */
void node_print(struct buf *out, const struct node *node, int indent);

/* Appends a key, without its colon: plain or in double quotes. */
void node_print_key(struct buf *out, const char *key);

/* Appends text as a YAML scalar: plain where that reads back as the same text, else a block of
 * lines indented by so many blanks, else in double quotes. */
void node_print_text(struct buf *out, const char *text, int indent);

#endif
