/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_AGENT_H
#define RUN_AGENT_H

#include "agent/config.h"
#include "base/str.h"
#include "model/chat.h"
#include "run/warner.h"
#include "task/task.h"

/* A language model and the agent's configuration that leads it, made from the options of a run. */
struct run_agent_options {
	const char *config;
	bool recorded;        /* a record chose the configuration, and not the command line */
	const char *own_root; /* the checkout that was chosen then; NULL: none */
	const char *url, *key, *version, *extra, *prices;
	double temperature, top_p;
	struct texts stop;
	int max_tokens, context, retries;
	double timeout_s;
	double cost_limit, total_cost_limit;
	bool stream;
	int tools; /* index into episode_tools */
	struct {
		bool config, temperature, top_p, cost_limit, stream, tools;
	} given; /* what was asked for, and is no default */
};

#define RUN_AGENT_COST_LIMIT "3"
#define RUN_AGENT_TOP_P "0.95"

struct run_agent {
	const char *model;           /* as it was given */
	struct agent_config *config; /* NULL: no language model plays */
	char *name; /* what lines call that: as much of its file's path as tells it from others */
	struct chat_service *chat; /* of all models; not its own */
	char *warning;             /* of what does not hold for it; NULL: nothing */
	const char *prices;        /* the file of a table of one's own; NULL: none */
	struct chat_options options;
};

/* Opens the service that all language models share. `spent`: US dollars that count against the limit already. */
int run_agent_service(const struct run_agent_options *options, double spent,
		chat_retry_fn *on_retry, struct chat_service **out, struct fh_error *err);

/* mlgym_root: a checkout that configurations are looked for in, or NULL. -EINVAL, -ENOENT: what was asked for
 * can't be, and why. */
int run_agent_open(struct run_agent *agent, const struct run_agent_options *options,
		const char *mlgym_root, const struct warner *warner, struct chat_service *chat,
		struct fh_error *err);
/* Loads only the configuration: recorded replies need no model. */
int run_agent_load(struct run_agent *agent, const struct run_agent_options *options,
		const char *mlgym_root, const struct warner *warner, struct fh_error *err);
/* Checks a configuration that was named, although no language model plays. */
int run_agent_check_config(const struct run_agent_options *options, const char *mlgym_root,
		struct fh_error *err);
/* Options of requests, for what sends none: -EINVAL, -ENOENT as if it did. */
int run_agent_check_options(const struct run_agent_options *options, struct fh_error *err);
/* Whether a text contains the model's API key. */
bool run_agent_key_is_in(const struct run_agent *agent, const char *text);
/* Names all agents. Files with the same name get as many folders as tell them apart: "a/mine", "b/mine". */
void run_agent_name_all(struct run_agent *agents, size_t n);
/* Warns once for each model. */
void run_agent_warn_all(const struct run_agent *agents, size_t n, const struct warner *warner);
void run_agent_release(struct run_agent *agent);

/* Checks, before anything runs, that the prompts fit the task. */
int run_agent_check(const struct run_agent *agent, const struct task *task, struct fh_error *err);

#endif
