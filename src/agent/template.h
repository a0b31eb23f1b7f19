/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_TEMPLATE_H
#define AGENT_TEMPLATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "config/node.h"

#include <stddef.h>

/*
 * A prompt with fields, in a subset of Python's str.format(). {name} is replaced by the field's
 * value, and {{ and }} by braces. Values are inserted unchanged.
 */
struct template
{
	/* text of the prompt's template; NULL: the configuration has no such prompt */
	const char *text;
	const struct node *at; /* place of the text in a file, for errors; NULL: built in */
};

struct field_value {
	const char *name, *value;
};

/* Whether the agent's tools report a state after each step. A state adds fields. */
enum fields_state {
	FIELDS_STATELESS,   /* they report none */
	FIELDS_AWAIT_STATE, /* the state is not reported yet: unknown fields are empty */
	FIELDS_HAVE_STATE,
};

/* Fields for a template: names and values, in the arena. */
struct fields {
	struct arena *arena;
	struct field_value *items;
	size_t n;
	enum fields_state state;
};

/* Sets or adds a field. Both strings are copied. */
void fields_set(struct fields *f, const char *name, const char *value);
void fields_set_number(struct fields *f, const char *name, long long value);
void fields_add(struct fields *f, const struct fields *more);
/* Value of a field; NULL: there is none. */
const char *fields_get(const struct fields *f, const char *name);

/* Appends the prompt's text. -EINVAL with "FILE:LINE: ..." for an unknown field (the error names
 * the closest), or a wrong brace. After an error, a part may have been appended. */
int template_render(struct buf *out, const struct template *t, const struct fields *fields,
		struct fh_error *err);

#endif
