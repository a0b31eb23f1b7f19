/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_TEMPLATE_H
#define AGENT_TEMPLATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "config/node.h"

#include <stddef.h>

/*
 * Prompts with fields, a subset of Python's str.format(): {name} gives the field's value, {{ and }}
 * give braces. Values are inserted unchanged.
 */
struct template
{
	const char *text;      /* NULL: none */
	const struct node *at; /* place, for errors; NULL: a built-in template */
};

struct field_value {
	const char *name, *value;
};

/* Whether the agent's tools report a state, whose fields only they know. */
enum fields_state {
	FIELDS_STATELESS,
	FIELDS_AWAIT_STATE, /* not reported yet: unknown fields are empty */
	FIELDS_HAVE_STATE,
};

/* Names and values, in the arena. */
struct fields {
	struct arena *arena;
	struct field_value *items;
	size_t n, size;
	enum fields_state state;
};

/* Adds or changes a field. Both strings are copied. */
void fields_set(struct fields *f, const char *name, const char *value);
void fields_set_number(struct fields *f, const char *name, long long value);
void fields_add(struct fields *f, const struct fields *more);
const char *fields_get(const struct fields *f, const char *name); /* NULL: none */

/* Appends the text. -EINVAL with "FILE:LINE: ..." for an unknown field (the error names the
 * closest), or a wrong brace. Then a part may have been appended. */
int template_render(struct buf *out, const struct template *t, const struct fields *fields,
		struct fh_error *err);

#endif
