/* SPDX-License-Identifier: Apache-2.0 */
#include "run/agent.h"

#include "agent/conversation.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "model/prices.h"
#include "run/episode_setup.h"

#include <stdlib.h>
#include <string.h>

#define AGENT_TEXT_BYTES_MAX 65536

static struct chat_options run_agent_make_options(
		const struct run_agent_options *o, const char *model)
{
	return (struct chat_options){
		.spec = model,
		.url = o->url,
		.key = o->key,
		.version = o->version,
		.temperature = o->temperature,
		.top_p = o->top_p,
		.max_tokens = o->max_tokens,
		.stop = o->stop.items,
		.n_stop = o->stop.n,
		.extra = o->extra,
		.stream = o->stream,
		.timeout_ms = (int64_t)(o->timeout_s * 1000),
		.retries = o->retries,
		.context_tokens = o->context,
		.cost_limit = o->cost_limit,
	};
}

/*
 * Loads an agent's configuration. An unknown key is a warning if the run uses an MLGym checkout,
 * else an error.
 */
static int run_agent_load_config(const struct run_agent_options *o, const char *mlgym_root,
		struct warnings *warnings, struct agent_config **out, struct fh_error *err)
{
	return agent_config_load(
			&(struct agent_config_options){
					.spec = o->config,
					.root = mlgym_root,
					.warnings = mlgym_root ? warnings : NULL,
					.recorded = o->recorded,
					.own_root = o->own_root,
					.original_tools = o->tools != 0,
			},
			out, err);
}

static void run_agent_say(const struct warnings *warnings, const struct warner *warner)
{
	for (size_t i = 0; i < warnings->n; i++)
		warner_say(warner, "%s", warnings->items[i]);
}

int run_agent_load(struct run_agent *agent, const struct run_agent_options *o,
		const char *mlgym_root, const struct warner *warner, struct fh_error *err)
{
	struct warnings warnings = { 0 };
	int r = run_agent_load_config(o, mlgym_root, &warnings, &agent->config, err);

	if (r < 0)
		return r;
	run_agent_say(&warnings, warner);
	episode_say_tools(agent->config, warner);
	agent->options = run_agent_make_options(o, agent->model);
	return 0;
}

int run_agent_check_options(const struct run_agent_options *o, const char *mlgym_root,
		const struct warner *warner, struct fh_error *err)
{
	struct chat_options options = run_agent_make_options(o, NULL);
	struct agent_config *config = NULL;
	struct warnings warnings = { 0 };
	struct prices *prices = NULL;
	int r = chat_check_options(&options, err);

	if (r < 0)
		return r;
	r = o->prices ? prices_open(o->prices, &prices, err) : 0;
	prices_close(prices);
	if (r < 0 || !o->config)
		return r;
	r = run_agent_load_config(o, mlgym_root, &warnings, &config, err);
	if (r < 0)
		return r;
	/* Pass on the configuration's warnings before freeing it: their text belongs to it. */
	run_agent_say(&warnings, warner);
	agent_config_free(config);
	return 0;
}

int run_agent_service(const struct run_agent_options *o, double spent, chat_retry_fn *on_retry,
		struct chat_service **out, struct fh_error *err)
{
	return chat_service_open(
			&(struct chat_service_options){
					.prices = o->prices,
					.total_cost_limit = o->total_cost_limit,
					.spent = spent,
					.on_retry = on_retry,
			},
			out, err);
}

int run_agent_open(struct run_agent *agent, const struct run_agent_options *o,
		const char *mlgym_root, const struct warner *warner, struct chat_service *chat,
		struct fh_error *err)
{
	struct chat_model *model;
	bool unlimited;
	int r = run_agent_load(agent, o, mlgym_root, warner, err);

	if (r < 0)
		return r;
	agent->chat = chat;
	agent->prices = o->prices;
	/* Check that the model's price is known, since a cost limit needs it. If not, drop the
	 * default limit, with a warning. */
	unlimited = !o->given.cost_limit && o->cost_limit > 0 &&
			!chat_price_is_known(chat, agent->model);
	if (unlimited)
		agent->options.cost_limit = 0;
	r = chat_model_open(chat, &agent->options, &model, err);
	if (r < 0)
		return r;
	if (unlimited)
		agent->warning = xasprintf(
				"the price of '%s' is not known, so that no limit on costs holds: give it in a "
				"table of prices (--prices FILE), {\"%s\": {\"input\": 0.5, \"output\": 1.5}} "
				"(dollars for a million tokens), or say that none is wanted "
				"(--per-instance-cost-limit 0)",
				agent->model, chat_model_name(model));
	chat_model_close(model);
	return 0;
}

bool run_agent_key_is_in(const struct run_agent *agent, const char *text)
{
	auto_buf struct buf shown = BUF_INIT(AGENT_TEXT_BYTES_MAX);
	struct chat_model *model;

	if (!text || chat_model_open(agent->chat, &agent->options, &model, NULL) < 0)
		return false;
	buf_add_str(&shown, text);
	chat_model_hide(model, &shown);
	chat_model_close(model);
	return !str_eq(buf_str(&shown), text);
}

static const char *run_agent_path_of(const struct agent_config *config)
{
	return config->place ? config->place : config->path;
}

/* Returns the last `folders` folders of a path, and its file name without the suffix, as a heap
 * string. NULL: the path has fewer folders. */
static char *run_agent_tail_of(const char *path, int folders)
{
	const char *at = path + strlen(path);
	const char *dot = strrchr(path_basename(path), '.');

	for (; at > path && folders >= 0; at--)
		folders -= at[-1] == '/';
	return folders < 0 ? xstrndup(at + 1, (size_t)((dot ? dot : path + strlen(path)) - at - 1))
			   : NULL;
}

/*
 * Returns true if no other configuration of the run has the name `name`. A name is the file's name
 * and the last `folders` folders of its path. `path` is the path of the configuration with this
 * name.
 */
static bool run_agent_is_unique(const char *name, const char *path, int folders,
		const struct run_agent *agents, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *other = agents[i].config ? run_agent_path_of(agents[i].config) : path;
		auto_free char *tail = run_agent_tail_of(other, folders);

		if (!str_eq(other, path) && str_eq(tail, name))
			return false;
	}
	return true;
}

static char *run_agent_name_of(const struct run_agent *agents, size_t n, const char *path)
{
	char *name;

	for (int folders = 0; (name = run_agent_tail_of(path, folders)); folders++) {
		if (run_agent_is_unique(name, path, folders, agents, n))
			return name;
		free(name);
	}
	return xstrdup(path);
}

void run_agent_name_all(struct run_agent *agents, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (agents[i].config)
			agents[i].name = run_agent_name_of(
					agents, n, run_agent_path_of(agents[i].config));
}

void run_agent_warn_all(const struct run_agent *agents, size_t n, const struct warner *warner)
{
	for (size_t i = 0; i < n; i++) {
		bool said = false;

		for (size_t k = 0; k < i; k++)
			said = said || str_eq(agents[k].model, agents[i].model);
		if (agents[i].warning && !said)
			warner_say(warner, "%s", agents[i].warning);
	}
}

void run_agent_release(struct run_agent *agent)
{
	free(agent->warning);
	free(agent->name);
	agent_config_free(agent->config);
	*agent = (struct run_agent){ 0 };
}

int run_agent_check(const struct run_agent *agent, const struct task *task, struct fh_error *err)
{
	const struct conversation_request request = { .config = agent->config, .task = task };
	struct conversation *trial;
	int r = conversation_open(&request, &trial, err);

	if (r < 0)
		return r;
	conversation_close(trial);
	return 0;
}
