/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"

#include "agent/pytext.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/node.h"
#include "python/repr.h"
#include "task/config.h"

#include <string.h>

/*
 * A task's keys as fields of prompts, as Python's str() gives the values that a YAML reader makes of them:
 * texts as they are, True, None, and lists and mappings as they are written in Python.
 */
#define VALUE_BYTES_MAX (1024 * 1024)

static void add_value(struct buf *out, const struct node *node, bool inside);

static void add_scalar(struct buf *out, const struct node *node, bool inside)
{
	double number;
	bool truth;

	if (node_is_null(node))
		buf_add_str(out, "None");
	else if (node_to_bool(node, &truth))
		buf_add_str(out, truth ? "True" : "False");
	else if (!inside || (node->plain && str_to_double(node->text, &number)))
		buf_add_str(out, node->text);
	else
		repr_add_text(out, node->text, strlen(node->text));
}

static void add_list(struct buf *out, const struct node *node)
{
	buf_add_char(out, '[');
	for (size_t i = 0; i < node->n; i++) {
		buf_add_str(out, i ? ", " : "");
		add_value(out, node->items[i], true);
	}
	buf_add_char(out, ']');
}

static void add_map(struct buf *out, const struct node *node)
{
	buf_add_char(out, '{');
	for (size_t i = 0; i < node->n; i++) {
		buf_add_str(out, i ? ", " : "");
		repr_add_text(out, node->pairs[i].key->text, strlen(node->pairs[i].key->text));
		buf_add_str(out, ": ");
		add_value(out, node->pairs[i].value, true);
	}
	buf_add_char(out, '}');
}

static void add_value(struct buf *out, const struct node *node, bool inside)
{
	switch (node->kind) {
	case NODE_SCALAR:
		add_scalar(out, node, inside);
		break;
	case NODE_LIST:
		add_list(out, node);
		break;
	case NODE_MAP:
		add_map(out, node);
		break;
	}
}

static void set_seconds(struct fields *f, const char *name, int64_t ms)
{
	auto_buf struct buf text = BUF_INIT(64);

	if (ms % 1000 == 0)
		buf_printf(&text, "%lld", (long long)ms / 1000);
	else
		str_add_double(&text, (double)ms / 1e3);
	fields_set(f, name, buf_str(&text));
}

void agent_task_fields(struct fields *f, const struct task *task)
{
	for (const struct field *key = task_schema.fields; key->name; key++)
		fields_set(f, key->name, "None");
	for (size_t i = 0; task->keys && i < task->keys->n; i++) {
		auto_buf struct buf text = BUF_INIT(VALUE_BYTES_MAX);

		add_value(&text, task->keys->pairs[i].value, false);
		fields_set(f, task->keys->pairs[i].key->text, buf_str(&text));
	}
	fields_set(f, "id", task->id);
	fields_set(f, "name", task->name);
	fields_set(f, "description", task->description);
	set_seconds(f, "training_timeout", task->training_timeout_ms);
	fields_set_number(f, "max_steps", task->max_steps);
}
