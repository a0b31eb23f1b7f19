/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cmd/config.h"

#include "agent/config.h"
#include "base/scope.h"
#include "base/str.h"
#include "run/sweep.h"
#include "task/config.h"
#include "python/pyjson.h"

#include <errno.h>
#include <stdio.h>

/* fumehood config: the keys of YAML files. */

#define CONFIG_TEXT_BYTES_MAX (1024 * 1024)

/* Schemas of all kinds of YAML files. */
static const struct schema *const files[] = { &task_schema, &dataset_schema, &agent_schema,
	&sweep_schema };

static void config_put_key(struct pyjson_writer *w, const struct field *f)
{
	auto_buf struct buf takes = BUF_INIT(4096);

	field_describe(&takes, f);
	pyjson_put_object(w, NULL);
	pyjson_put_text(w, "name", f->name);
	pyjson_put_text(w, "takes", buf_str(&takes));
	pyjson_put_text(w, "default", f->preset);
	pyjson_put_bool(w, "required", f->required);
	pyjson_put_text(w, "help", f->help);
	pyjson_end_object(w);
}

static void config_add_json(struct buf *out, const struct schema *schema)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(out, PYJSON_LINE);

	pyjson_put_object(&w, NULL);
	pyjson_put_text(&w, "name", schema->name);
	pyjson_put_text(&w, "help", schema->help);
	pyjson_put_array(&w, "keys");
	for (const struct field *f = schema->fields; f->name; f++)
		config_put_key(&w, f);
	pyjson_end_array(&w);
	pyjson_end_object(&w);
	buf_add_char(out, '\n');
}

static size_t config_structs(const struct schema **out)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		n = schema_all(files[i], out, n);
	return n;
}

const char *const *config_struct_names(struct arena *arena)
{
	const struct schema *all[SCHEMAS_MAX];
	size_t n = config_structs(all);
	const char **names = arena_array(arena, n + 1, sizeof(*names));

	for (size_t i = 0; i < n; i++)
		names[i] = all[i]->name;
	return names;
}

static int config_docs_main(struct command_context *ctx)
{
	const struct schema *all[SCHEMAS_MAX];
	auto_buf struct buf text = BUF_INIT(CONFIG_TEXT_BYTES_MAX), names = BUF_INIT(4096);
	size_t n = config_structs(all);
	struct fh_error err;

	for (size_t i = 0; i < n; i++) {
		buf_printf(&names, "%s%s", i ? ", " : "", all[i]->name);
		if (ctx->n_args && !str_eq(ctx->args[0], all[i]->name))
			continue;
		if (ctx->json) {
			config_add_json(&text, all[i]);
			continue;
		}
		buf_add_str(&text, text.len ? "\n" : "");
		schema_document(&text, all[i]);
	}
	if (!text.len) {
		error_say(&err, EINVAL, "no struct '%s'; there are: %s", ctx->args[0],
				buf_str(&names));
		return cmd_refuse_subject(ctx, "name", ctx->args[0], &err);
	}
	fputs(buf_str(&text), stdout);
	return CMD_OK;
}

static const struct command command_config_docs = {
	.name = "docs",
	.summary = "print the keys of YAML files, as Markdown",
	.arguments = "[STRUCT]",
	.max_args = 1,
	.about = "With --json a line for each struct: name, help, and keys with name, takes, default, "
		 "required and help.",
	.examples = "fumehood config docs limits",
	.run = config_docs_main,
};

static const struct command *const commands[] = { &command_config_docs, NULL };

const struct command command_config = {
	.name = "config",
	.summary = "explain YAML files",
	.commands = commands,
};
