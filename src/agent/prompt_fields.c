/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/conversation.h"

#include "base/str.h"
#include "config/node.h"
#include "python/pyjson.h"
#include "python/repr.h"
#include "task/config.h"

#include <string.h>

#define VALUE_BYTES_MAX (1024 * 1024)
/* most fields of a prompt; after each step the agent's tools may report a state with more fields */
#define PROMPT_FIELDS_MAX 1024

/* --- a task's keys ---------------------------------------------------------------------------- */

/* Appends a YAML value as Python's str() shows it. With `inside`, the value lies in a list or a
 * mapping, and appears as repr() shows it. */
static void prompt_add_value(struct buf *out, const struct node *node, bool inside)
{
	double number;
	bool truth;

	switch (node->kind) {
	case NODE_SCALAR:
		if (node_is_null(node))
			buf_add_str(out, "None");
		else if (node_to_bool(node, &truth))
			buf_add_str(out, truth ? "True" : "False");
		else if (!inside || (node->plain && str_to_double(node->text, &number)))
			buf_add_str(out, node->text);
		else
			repr_add_text(out, node->text, strlen(node->text));
		break;
	case NODE_LIST:
		buf_add_char(out, '[');
		for (size_t i = 0; i < node->n; i++) {
			buf_add_str(out, i ? ", " : "");
			prompt_add_value(out, node->items[i], true);
		}
		buf_add_char(out, ']');
		break;
	case NODE_MAP:
		buf_add_char(out, '{');
		for (size_t i = 0; i < node->n; i++) {
			const char *key = node->pairs[i].key->text;

			buf_add_str(out, i ? ", " : "");
			repr_add_text(out, key, strlen(key));
			buf_add_str(out, ": ");
			prompt_add_value(out, node->pairs[i].value, true);
		}
		buf_add_char(out, '}');
		break;
	}
}

void agent_task_fields(struct fields *f, const struct task *task)
{
	auto_buf struct buf seconds = BUF_INIT(64);

	for (const struct field *key = task_schema.fields; key->name; key++)
		fields_set(f, key->name, "None");
	for (size_t i = 0; task->keys && i < task->keys->n; i++) {
		auto_buf struct buf text = BUF_INIT(VALUE_BYTES_MAX);

		prompt_add_value(&text, task->keys->pairs[i].value, false);
		fields_set(f, task->keys->pairs[i].key->text, buf_str(&text));
	}
	fields_set(f, "id", task->id);
	fields_set(f, "name", task->name);
	fields_set(f, "description", task->description);
	if (task->training_timeout_ms % 1000 == 0)
		buf_printf(&seconds, "%lld", (long long)task->training_timeout_ms / 1000);
	else
		str_add_double(&seconds, (double)task->training_timeout_ms / 1e3);
	fields_set(f, "training_timeout", buf_str(&seconds));
	fields_set_number(f, "max_steps", task->max_steps);
}

/* --- the tools' state ------------------------------------------------------------------------- */

/* A JSON value as Python's str() shows it. NULL for a list or an object. */
static const char *prompt_text(const struct pyjson *v)
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

	if (pyjson_read(a, &source, &object, NULL) < 0 || object->kind != PYJSON_OBJECT)
		return;
	for (const struct pyjson *v = object->first; v; v = v->next)
		if (prompt_text(v) && strlen(v->key) == v->key_len &&
				(f->n < PROMPT_FIELDS_MAX || fields_get(f, v->key)))
			fields_set(f, v->key, prompt_text(v));
}
