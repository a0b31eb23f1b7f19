/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/args_yaml.h"

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/yaml.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Types of the fields of args.yaml. `table` lists the fields in the order of the file. */
enum arg_kind { ARG_GROUP, ARG_TEXT, ARG_NUMBER, ARG_INT, ARG_SEED, ARG_FLAG, ARG_LIST, ARG_JSON };

/* Ways to compare a field of args.yaml when two runs are compared. */
enum arg_weight {
	ARG_ANY,     /* may differ */
	ARG_DECIDES, /* fields are equal if args.yaml has the same text for both */
	ARG_COUNTS,  /* fields are equal if both lists have the same number of items */
	ARG_AS_JSON, /* fields are equal if they are the same JSON: members in any order */
	/*
	 * fields are equal if the paths are; in an MLGym checkout only the part behind its folder
	 * counts
	 */
	ARG_AS_PATH,
};

struct args_field {
	const char *path;
	enum arg_kind kind;
	size_t offset;
	enum arg_weight weight;
};

#define ARG(f) offsetof(struct run_args, f)

static const struct args_field table[] = {
	{ "agent", ARG_GROUP },
	{ "agent.agent_command", ARG_TEXT, ARG(agent_command), ARG_DECIDES },
	{ "agent.agent_config", ARG_TEXT, ARG(agent_config), ARG_DECIDES },
	{ "agent.agent_config_path", ARG_TEXT, ARG(agent_config_path) },
	{ "agent.model", ARG_GROUP },
	{ "agent.model.api_version", ARG_TEXT, ARG(api_version) },
	{ "agent.model.completion_kwargs", ARG_JSON, ARG(completion_kwargs), ARG_AS_JSON },
	{ "agent.model.context", ARG_INT, ARG(context_tokens), ARG_DECIDES },
	{ "agent.model.host_url", ARG_TEXT, ARG(url) },
	{ "agent.model.max_tokens", ARG_INT, ARG(max_tokens), ARG_DECIDES },
	{ "agent.model.model_name", ARG_TEXT, ARG(model), ARG_DECIDES },
	{ "agent.model.per_instance_cost_limit", ARG_NUMBER, ARG(cost_limit), ARG_DECIDES },
	{ "agent.model.prices", ARG_TEXT, ARG(prices) },
	{ "agent.model.stop", ARG_LIST, ARG(stop), ARG_DECIDES },
	{ "agent.model.stream", ARG_FLAG, ARG(stream) },
	{ "agent.model.temperature", ARG_NUMBER, ARG(temperature), ARG_DECIDES },
	{ "agent.model.top_p", ARG_NUMBER, ARG(top_p), ARG_DECIDES },
	{ "agent.original_tools", ARG_FLAG, ARG(original_tools), ARG_DECIDES },
	{ "environment", ARG_GROUP },
	{ "environment.aliases_file", ARG_TEXT, ARG(aliases), ARG_AS_PATH },
	{ "environment.bind", ARG_LIST, ARG(bind), ARG_DECIDES },
	{ "environment.data_seed", ARG_SEED, ARG(data_seed), ARG_DECIDES },
	{ "environment.gpus", ARG_LIST, ARG(gpus), ARG_COUNTS },
	{ "environment.max_steps", ARG_INT, ARG(max_steps), ARG_DECIDES },
	{ "environment.memory_enabled", ARG_FLAG, ARG(memory), ARG_DECIDES },
	{ "environment.mlgym_root", ARG_TEXT, ARG(mlgym_root) },
	{ "environment.python", ARG_TEXT, ARG(python), ARG_DECIDES },
	{ "environment.reward", ARG_TEXT, ARG(reward), ARG_DECIDES },
	{ "environment.seed", ARG_SEED, ARG(seed) },
	{ "environment.task", ARG_TEXT, ARG(task), ARG_DECIDES },
	{ "environment.task_config_path", ARG_TEXT, ARG(task_config_path) },
	{ "environment.tasks_dir", ARG_TEXT, ARG(tasks_dir) },
	{ "environment.web_hosts", ARG_TEXT, ARG(web_hosts), ARG_DECIDES },
	{ "suffix", ARG_TEXT, ARG(suffix) },
};

/* --- writing ---------------------------------------------------------------------------------- */

/* Appends a text to args.yaml as a JSON string, which is valid YAML. */
static void args_add_text(struct buf *out, const char *text)
{
	if (text)
		json_text_add(out, text, strlen(text), JSON_TEXT_BYTES);
	else
		buf_add_str(out, "null");
}

static void args_add_list(struct buf *out, const struct texts *list)
{
	buf_add_char(out, '[');
	for (size_t i = 0; i < list->n; i++) {
		buf_add_str(out, i ? ", " : "");
		args_add_text(out, list->items[i]);
	}
	buf_add_char(out, ']');
}

static void args_add_value(struct buf *out, enum arg_kind kind, const void *value)
{
	switch (kind) {
	case ARG_GROUP:
		break;
	case ARG_TEXT:
		args_add_text(out, *(const char *const *)value);
		break;
	case ARG_NUMBER:
		str_add_double(out, *(const double *)value);
		break;
	case ARG_INT:
		buf_printf(out, "%d", *(const int *)value);
		break;
	case ARG_SEED:
		buf_printf(out, "%" PRIu64, *(const uint64_t *)value);
		break;
	case ARG_FLAG:
		buf_add_str(out, *(const bool *)value ? "true" : "false");
		break;
	case ARG_LIST:
		args_add_list(out, value);
		break;
	case ARG_JSON: /* leave the text unchanged: a JSON object is valid YAML */
		buf_add_str(out, *(const char *const *)value ? *(const char *const *)value : "{}");
		break;
	}
}

void args_yaml_add(struct buf *out, const struct run_args *args)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const char *key = table[i].path;

		for (const char *dot; (dot = strchr(key, '.')); key = dot + 1)
			buf_add_str(out, "  ");
		buf_printf(out, "%s:%s", key, table[i].kind == ARG_GROUP ? "" : " ");
		args_add_value(out, table[i].kind, (const char *)args + table[i].offset);
		buf_add_char(out, '\n');
	}
}

/* --- reading ---------------------------------------------------------------------------------- */

static void args_read_list(struct arena *a, const struct node *node, struct texts *out)
{
	const char **items;

	if (node->kind != NODE_LIST)
		return;
	items = arena_array(a, node->n + 1, sizeof(*items));
	for (size_t i = 0; i < node->n; i++)
		items[i] = node->items[i]->kind == NODE_SCALAR ? node->items[i]->text : "";
	*out = (struct texts){ .items = items, .n = node->n };
}

static void args_add_json(struct buf *out, const struct node *node)
{
	if (node->kind == NODE_SCALAR && node->plain)
		buf_add_str(out, node->text);
	else if (node->kind == NODE_SCALAR)
		json_text_add(out, node->text, strlen(node->text), JSON_TEXT_BYTES);
	else
		buf_add_char(out, node->kind == NODE_MAP ? '{' : '[');
	for (size_t i = 0; i < node->n && node->kind != NODE_SCALAR; i++) {
		buf_add_str(out, i ? ", " : "");
		if (node->kind == NODE_MAP) {
			json_text_add(out, node->pairs[i].key->text,
					strlen(node->pairs[i].key->text), JSON_TEXT_BYTES);
			buf_add_str(out, ": ");
		}
		args_add_json(out, node->kind == NODE_MAP ? node->pairs[i].value : node->items[i]);
	}
	if (node->kind != NODE_SCALAR)
		buf_add_char(out, node->kind == NODE_MAP ? '}' : ']');
}

/* Reads a mapping in args.yaml and gives it as JSON text. Older versions wrote a text with JSON
 * instead. An empty mapping gives NULL. */
static void args_read_json(struct arena *a, const struct node *node, const char **out)
{
	auto_buf struct buf text = BUF_INIT(YAML_FILE_BYTES_MAX);

	*out = node->kind == NODE_SCALAR && !node_is_null(node) ? node->text : NULL;
	if (node->kind != NODE_MAP || !node->n)
		return;
	args_add_json(&text, node);
	*out = arena_strdup(a, buf_str(&text));
}

/* Reads a value of args.yaml into a field of `struct run_args`. Ignores a value of another type:
 * another program may have written the file. */
static void args_read_value(struct arena *a, const struct node *node, enum arg_kind kind, void *out)
{
	int64_t number;

	if (kind == ARG_LIST)
		args_read_list(a, node, out);
	if (kind == ARG_JSON)
		args_read_json(a, node, out);
	if (kind == ARG_TEXT && node_is_null(node))
		*(const char **)out = NULL;
	if (node->kind != NODE_SCALAR || node_is_null(node))
		return;
	switch (kind) {
	case ARG_GROUP:
	case ARG_LIST:
	case ARG_JSON:
		break;
	case ARG_TEXT:
		*(const char **)out = node->text;
		break;
	case ARG_NUMBER:
		str_to_double(node->text, out);
		break;
	case ARG_INT:
		if (str_to_i64(node->text, &number) && number >= 0 && number <= INT_MAX)
			*(int *)out = (int)number;
		break;
	case ARG_SEED:
		*(uint64_t *)out = strtoull(node->text, NULL, 10);
		break;
	case ARG_FLAG:
		node_to_bool(node, out);
		break;
	}
}

/* Finds the node of args.yaml at a path such as "agent.model". NULL: a key of the path is
 * missing. */
static const struct node *args_find(const struct node *root, const char *path)
{
	const struct node *node = root;

	while (node && *path) {
		size_t n = strcspn(path, ".");
		auto_free char *key = xstrndup(path, n);

		node = node_get(node, key);
		path += n + (path[n] == '.');
	}
	return node;
}

int args_yaml_read(struct arena *a, const char *dir, struct run_args *args, struct fh_error *err)
{
	auto_free char *path = path_join(dir, ARGS_FILE);
	auto_buf struct buf text = BUF_INIT(YAML_FILE_BYTES_MAX);
	int r = fd_read_plain(path, &text, err);

	return r < 0 ? r : args_yaml_parse(a, path, &text, args, err);
}

int args_yaml_parse(struct arena *a, const char *name, const struct buf *text,
		struct run_args *args, struct fh_error *err)
{
	const struct node *root;
	int r = yaml_parse(a, name, buf_str(text), text->len, &root, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct node *node = args_find(root, table[i].path);

		if (node)
			args_read_value(a, node, table[i].kind, (char *)args + table[i].offset);
	}
	return 0;
}

/* --- comparing -------------------------------------------------------------------------------- */

/* Returns true if both texts are JSON with the same value. False if a text is not JSON, such as
 * NULL or ARGS_HIDDEN. */
static bool args_is_same_json(const char *x, const char *y)
{
	auto_json json_t *one = NULL, *other = NULL;

	return x && y && json_parse("", x, strlen(x), &one, NULL) == 0 &&
			json_parse("", y, strlen(y), &other, NULL) == 0 && json_equal(one, other);
}

/* Returns the part of `path` behind the folder `root` of an MLGym checkout. Returns `path` if it
 * lies elsewhere. `path` has no symbolic links, and may be NULL. */
static const char *args_behind_root(const char *path, const char *root)
{
	auto_free char *real = root && *root ? realpath(root, NULL) : NULL;
	const char *folder = real ? real : root;

	if (!path || !folder || !*folder || !path_is_within(path, folder))
		return path;
	path += strlen(folder);
	return path + strspn(path, "/");
}

static bool args_is_same_path(const char *x, const char *x_root, const char *y, const char *y_root)
{
	x = args_behind_root(x, x_root);
	y = args_behind_root(y, y_root);
	return x && y && str_eq(x, y);
}

/* Compares an option of two runs by its weight, an ARG_ value. With ARG_DECIDES, the texts in
 * args.yaml are compared. */
static bool args_is_same(
		const struct args_field *arg, const struct run_args *x, const struct run_args *y)
{
	const char *a = (const char *)x + arg->offset, *b = (const char *)y + arg->offset;
	auto_buf struct buf one = BUF_INIT(YAML_FILE_BYTES_MAX),
			    other = BUF_INIT(YAML_FILE_BYTES_MAX);

	switch (arg->weight) {
	case ARG_ANY:
		return true;
	case ARG_COUNTS:
		return ((const struct texts *)a)->n == ((const struct texts *)b)->n;
	case ARG_AS_JSON:
		if (args_is_same_json(*(const char *const *)a, *(const char *const *)b))
			return true;
		break;
	case ARG_AS_PATH:
		if (args_is_same_path(*(const char *const *)a, x->mlgym_root,
				    *(const char *const *)b, y->mlgym_root))
			return true;
		break;
	case ARG_DECIDES:
		break;
	}
	args_add_value(&one, arg->kind, a);
	args_add_value(&other, arg->kind, b);
	return str_eq(buf_str(&one), buf_str(&other));
}

bool args_yaml_same(const struct run_args *a, const struct run_args *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!args_is_same(&table[i], a, b))
			return false;
	return true;
}
