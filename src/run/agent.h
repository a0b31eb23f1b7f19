/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_AGENT_H
#define RUN_AGENT_H

#include "agent/config.h"
#include "base/str.h"
#include "model/chat.h"
#include "run/warner.h"
#include "task/task.h"

/* Options of a language model and of the agent's configuration that leads it. */
struct run_agent_options {
	const char *config;
	bool recorded;        /* a record chose the configuration, not the command line */
	const char *own_root; /* the checkout that the user chose then; NULL: none */
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
	} given; /* the user set these: they are no defaults */
};

#define RUN_AGENT_COST_LIMIT "3"
#define RUN_AGENT_TOP_P "0.95"

struct run_agent {
	const char *model;           /* as the user named it */
	struct agent_config *config; /* NULL: no language model plays */
	char *name;                  /* the configuration's, in lines for the user */
	struct chat_service *chat;   /* shared by all models, which don't own it */
	char *warning;               /* for the user; NULL: none */
	const char *prices;          /* file with the user's own prices; NULL: none */
	struct chat_options options;
};

/* Opens the service that all language models share. `spent`: US dollars that count against the
 * limit already. */
int run_agent_service(const struct run_agent_options *options, double spent,
		chat_retry_fn *on_retry, struct chat_service **out, struct fh_error *err);

/* mlgym_root: a checkout that configurations are looked for in, or NULL. -EINVAL, -ENOENT: the
 * options can't be honoured. */
int run_agent_open(struct run_agent *agent, const struct run_agent_options *options,
		const char *mlgym_root, const struct warner *warner, struct chat_service *chat,
		struct fh_error *err);
/* Loads only the configuration: recorded replies need no model. */
int run_agent_load(struct run_agent *agent, const struct run_agent_options *options,
		const char *mlgym_root, const struct warner *warner, struct fh_error *err);
/* Checks the options if no language model plays: those of requests, and a configuration that is
 * named. */
int run_agent_check_options(const struct run_agent_options *options, const char *mlgym_root,
		struct fh_error *err);
/* Whether a text contains the model's API key. */
bool run_agent_key_is_in(const struct run_agent *agent, const char *text);
/* Names all agents. Files with the same name get as many folders as tell them apart: "a/mine",
 * "b/mine". */
void run_agent_name_all(struct run_agent *agents, size_t n);
/* Warns once for each model. */
void run_agent_warn_all(const struct run_agent *agents, size_t n, const struct warner *warner);
void run_agent_release(struct run_agent *agent);

/* Checks, before anything runs, that the prompts fit the task. */
int run_agent_check(const struct run_agent *agent, const struct task *task, struct fh_error *err);

#endif
