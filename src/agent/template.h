/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_TEMPLATE_H
#define AGENT_TEMPLATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "config/node.h"

#include <stddef.h>

/*
 * Prompts with fields, in the form of Python's str.format() as far as prompts need it: {name} is the
 * field of that name, {{ and }} are braces. What a field holds is put in as it is.
 */
struct template
{
	const char *text;      /* NULL: there is none */
	const struct node *at; /* where it stands, for complaints; NULL: it is one of ours */
};

struct field_value {
	const char *name, *value;
};

/* Whether an agent's state has fields, too, whose names only it knows. */
enum fields_state {
	FIELDS_STATELESS,
	FIELDS_AWAIT_STATE, /* a name that nobody knows may be one of these: it stands for nothing */
	FIELDS_HAVE_STATE,
};

/* Names and what they stand for. All of it lives in the arena. */
struct fields {
	struct arena *arena;
	struct field_value *items;
	size_t n, size;
	enum fields_state state;
};

/* Sets or changes one; both strings are copied. */
void fields_set(struct fields *f, const char *name, const char *value);
void fields_set_number(struct fields *f, const char *name, long long value);
void fields_add(struct fields *f, const struct fields *more);
const char *fields_get(const struct fields *f, const char *name); /* NULL: there is none */

/* -EINVAL with "FILE:LINE: ..." for a field that nobody knows (it names the closest), and for what is no
 * field; `out` may hold a part then. */
int template_render(struct buf *out, const struct template *t, const struct fields *fields,
		struct fh_error *err);

#endif
