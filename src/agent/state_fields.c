/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"
#include "python/pyjson.h"

#include <string.h>

#define FIELDS_MAX 1024 /* with those that a state brings: each step's may bring others */

/* As Python's str() gives it; NULL for what is no single value. */
static const char *text_of(const struct pyjson *v)
{
	switch (v->kind) {
	case PYJSON_NULL:
		return "None";
	case PYJSON_BOOL:
		return v->boolean ? "True" : "False";
	case PYJSON_NUMBER:
		return v->text;
	case PYJSON_STRING:
		return pyjson_string(v);
	case PYJSON_ARRAY:
	case PYJSON_OBJECT:
		break;
	}
	return NULL;
}

void agent_state_fields(struct fields *f, struct arena *a, const char *state)
{
	struct pyjson_source source = { .name = "state", .data = state, .n = strlen(state) };
	const struct pyjson *object;

	if (pyjson_read(a, &source, &object, NULL) < 0)
		return;
	for (const struct pyjson *v = object->first; object->kind == PYJSON_OBJECT && v;
			v = v->next)
		if (text_of(v) && strlen(v->key) == v->key_len &&
				(f->n < FIELDS_MAX || fields_get(f, v->key)))
			fields_set(f, v->key, text_of(v));
}
