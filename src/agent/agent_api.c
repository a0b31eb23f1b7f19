/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent_api.h"

#include "agent/command_setup.h"
#include "agent/native.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/sized.h"
#include "env/env.h"
#include "model/dialect.h"

#include <errno.h>
#include <stdlib.h>

#define TOOLS_BYTES_MAX (16L * 1024 * 1024)

/* --- what a configuration has ----------------------------------------------------------------- */

static void agent_api_fill_lists(struct fh_agent *a)
{
	const struct text_map *variables = &a->config->keys.tools.env_variables;
	struct fh_pair *pairs = arena_array(&a->arena, variables->n + 1, sizeof(*pairs));
	const char **files = arena_array(&a->arena, a->config->n_files + 1, sizeof(*files));

	for (size_t i = 0; i < variables->n; i++)
		pairs[i] = (struct fh_pair){ variables->pairs[i].key, variables->pairs[i].value };
	for (size_t i = 0; i < a->config->n_files; i++)
		files[i] = a->config->files[i].path;
	a->info.env_variables = pairs;
	a->info.n_env_variables = variables->n;
	a->info.command_files = files;
	a->info.n_command_files = a->config->n_files;
}

static int agent_api_fill_tools(struct fh_agent *a, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(TOOLS_BYTES_MAX);
	auto_json json_t *body = json_object();
	struct chat_request request = { 0 };
	int r;

	if (!a->config->parser->wants_tools)
		return 0;
	request.tools = command_tools(&a->arena, &a->config->commands, &request.n_tools);
	r = dialect_write_tools(body, &request, "parameters", true, err);
	if (r < 0)
		return r;
	json_add(&text, json_object_get(body, "tools"), false);
	a->info.tools = arena_strdup(&a->arena, buf_str(&text));
	return 0;
}

static int agent_api_fill(struct fh_agent *a, struct fh_error *err)
{
	const struct agent_config *c = a->config;
	const struct agent_keys *keys = &c->keys;

	a->info = (struct fh_agent_info){
		.name = c->stem,
		.path = c->place,
		.hash = c->hash,
		.warnings = (const char *const *)a->warnings.items,
		.n_warnings = a->warnings.n,
		.system_template = keys->system_template,
		.task_template = keys->task_template,
		.strategy_template = keys->strategy_template,
		.next_step_template = c->next_step.text,
		.next_step_no_output_template = c->no_output.text,
		.format_error_template = c->format_error.text,
		.output_parser = c->parser->name,
		.history_processor = c->processor->name,
		.history_n = c->processor->takes_n ? c->args.n : c->processor->n,
		.command_docs = c->command_docs,
		.submit_command = keys->tools.submit_command,
		.state_command = keys->tools.state_command.name,
		.state_code = keys->tools.state_command.code,
	};
	agent_api_fill_lists(a);
	return agent_api_fill_tools(a, err);
}

/* --- the interface ---------------------------------------------------------------------------- */

static int agent_api_load(
		struct fh_agent *a, const struct fh_agent_options *options, struct fh_error *err)
{
	const struct agent_config_options own = {
		.spec = options->config,
		.root = options->mlgym_root,
		.warnings = options->mlgym_root ? &a->warnings : NULL,
		.original_tools = options->original_tools,
	};
	int r = agent_config_load(&own, &a->config, err);

	if (r < 0)
		return r;
	a->aliases = options->aliases ? xstrdup(options->aliases) : NULL;
	return agent_api_fill(a, err);
}

int fh_agent_open(
		const struct fh_agent_options *options, struct fh_agent **out, struct fh_error *err)
{
	struct fh_agent_options read;
	struct fh_agent *a;
	int r;

	err = error_or(err, &(struct fh_error)FH_ERROR_INIT);
	r = SIZED_READ(fh_agent_options, &read, options, err);
	if (r < 0)
		return r;
	a = xcalloc(1, sizeof(*a));
	r = agent_api_load(a, &read, err);
	if (r < 0) {
		fh_agent_close(a);
		return r;
	}
	*out = a;
	return 0;
}

void fh_agent_close(struct fh_agent *a)
{
	if (!a)
		return;
	agent_config_free(a->config);
	arena_release(&a->arena);
	free(a->aliases);
	free(a);
}

const struct fh_agent_info *fh_agent_info(const struct fh_agent *a)
{
	return &a->info;
}

int fh_agent_set_up(const struct fh_agent *a, struct fh_env *env, struct fh_error *err)
{
	struct command_setup commands = command_setup_of(a ? a->config : NULL);
	auto_arena struct arena arena = ARENA_INIT;
	struct env_setup setup;
	int r;

	if (!a)
		return env_set_setup(env, NULL, err);
	commands.aliases = a->aliases;
	r = command_setup_make(&arena, &commands, &setup, err);
	return r < 0 ? r : env_set_setup(env, &setup, err);
}
