/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/command_doc.h"

#include "base/scope.h"
#include "config/yaml.h"

#include <string.h>
#include <strings.h>

#define SIGNATURE_BYTES_MAX 65536

/*
 * Appends the YAML that documents a command, from the comment lines of a command file. Each line
 * keeps its number and columns, so that errors name the right place.
 */
static void command_doc_add_lines(struct buf *yaml, const struct command_doc *doc)
{
	const char *at = doc->text, *end = at + doc->n;

	for (int i = 1; i < doc->line; i++)
		buf_add_char(yaml, '\n');
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		if (at < stop && (doc->script || (at + 1 < stop && at[1] == ' '))) {
			buf_add_char(yaml, ' ');
			buf_add(yaml, at + 1, (size_t)(stop - at - 1));
		}
		buf_add_char(yaml, '\n');
		at = stop + 1;
	}
}

static int command_doc_read_yaml(struct arena *a, const struct command_doc *doc,
		const struct node **out, struct fh_error *err)
{
	auto_buf struct buf yaml = BUF_INIT((size_t)doc->line + doc->n + 1);
	int r;

	command_doc_add_lines(&yaml, doc);
	r = yaml_parse(a, doc->file, buf_str(&yaml), yaml.len, out, err);
	if (r < 0 || (*out)->kind == NODE_MAP)
		return r;
	return node_complain(*out, err, "'@yaml': expected a mapping with 'docstring'");
}

/* Sets *out to the string of a key; NULL if the key is missing or null. */
static int command_doc_text(
		const struct node *map, const char *key, const char **out, struct fh_error *err)
{
	const struct node *node = node_get(map, key);

	if (!node || node_is_null(node)) {
		*out = NULL;
		return 0;
	}
	if (node->kind != NODE_SCALAR)
		return node_complain(node, err, "'%s': expected text", key);
	*out = node->text;
	return 0;
}

/* True if Python would count this YAML value as true, as bool(yaml.safe_load(...)) does. */
static bool command_doc_means_yes(const struct node *node)
{
	static const char *const no[] = { "false", "no", "off", "0", "0.0" };

	if (node->kind != NODE_SCALAR)
		return node->n > 0;
	if (!node->plain)
		return *node->text;
	if (node_is_null(node))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (strcasecmp(node->text, no[i]) == 0)
			return false;
	return true;
}

static int command_doc_read_argument(
		const struct node_pair *pair, struct command_argument *out, struct fh_error *err)
{
	const struct node *required = node_get(pair->value, "required");
	int r;

	if (pair->value->kind != NODE_MAP)
		return node_complain(pair->value, err,
				"'%s': expected 'type', 'description' and 'required'",
				pair->key->text);
	if (!required)
		return node_complain(pair->value, err, "'%s' wants 'required', true or false",
				pair->key->text);
	*out = (struct command_argument){ .name = pair->key->text,
		.required = command_doc_means_yes(required) };
	r = command_doc_text(pair->value, "type", &out->type, err);
	if (r < 0)
		return r;
	out->type = out->type ? out->type : "";
	r = command_doc_text(pair->value, "description", &out->description, err);
	if (r < 0)
		return r;
	out->description = out->description ? out->description : "";
	return 0;
}

static int command_doc_read_arguments(struct arena *a, const struct node *node,
		struct agent_command *command, struct fh_error *err)
{
	struct command_argument *arguments;

	if (!node || node_is_null(node))
		return 0;
	if (node->kind != NODE_MAP)
		return node_complain(node, err, "'arguments': expected a mapping of their names");
	arguments = arena_array(a, node->n, sizeof(*arguments));
	for (size_t i = 0; i < node->n; i++) {
		int r = command_doc_read_argument(&node->pairs[i], &arguments[i], err);

		if (r < 0)
			return r;
	}
	command->arguments = arguments;
	command->n_arguments = node->n;
	command->has_arguments = true;
	return 0;
}

int command_doc_read(struct arena *a, const struct command_doc *doc, struct agent_command *command,
		struct fh_error *err)
{
	auto_buf struct buf signature = BUF_INIT(SIGNATURE_BYTES_MAX);
	const struct node *root = NULL;
	int r;

	if (!doc->script)
		command->signature = command->name;
	if (!doc->n)
		return 0;
	r = command_doc_read_yaml(a, doc, &root, err);
	if (r < 0)
		return r;
	command->at = node_get(root, "docstring");
	if (!command->at || node_is_null(command->at))
		return node_complain(
				root, err, "the command '%s' wants a 'docstring'", command->name);
	r = command_doc_text(root, "docstring", &command->docstring, err);
	if (r < 0)
		return r;
	r = command_doc_text(root, "end_name", &command->end_name, err);
	if (r < 0)
		return r;
	r = command_doc_read_arguments(a, node_get(root, "arguments"), command, err);
	if (r < 0)
		return r;
	r = command_doc_text(root, "signature", &command->signature, err);
	if (r < 0)
		return r;
	if (command->signature || (!command->has_arguments && doc->script))
		return 0;
	/* Make the missing signature of a command: "name <required> [<optional>]". */
	buf_add_str(&signature, command->name);
	for (size_t i = 0; i < command->n_arguments; i++)
		buf_printf(&signature, command->arguments[i].required ? " <%s>" : " [<%s>]",
				command->arguments[i].name);
	command->signature = arena_strdup(a, buf_str(&signature));
	return 0;
}
