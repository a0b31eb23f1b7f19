/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_AGENT_H
#define RUN_AGENT_H

#include "agent/config.h"
#include "base/str.h"
#include "model/chat.h"
#include "run/warner.h"
#include "task/task.h"

/* Language models: from what was asked for to what every episode is led by. */
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

/* What all language models share; they have spent so many US dollars before. */
int run_agent_service(const struct run_agent_options *options, double spent,
		chat_retry_fn *on_retry, struct chat_service **out, struct fh_error *err);

/* mlgym_root: a checkout that configurations are looked for in, or NULL. -EINVAL, -ENOENT: what was asked for
 * can't be, and why. */
int run_agent_open(struct run_agent *agent, const struct run_agent_options *options,
		const char *mlgym_root, const struct warner *warner, struct chat_service *chat,
		struct fh_error *err);
/* Its configuration alone, for recorded replies. */
int run_agent_load(struct run_agent *agent, const struct run_agent_options *options,
		const char *mlgym_root, const struct warner *warner, struct fh_error *err);
/* The same for what is led by none: a file that was named is read all the same. */
int run_agent_check_config(const struct run_agent_options *options, const char *mlgym_root,
		struct fh_error *err);
/* Options of requests, for what sends none: -EINVAL, -ENOENT as if it did. */
int run_agent_check_options(const struct run_agent_options *options, struct fh_error *err);
/* Whether a text holds the model's key, as its replies are looked through for it. */
bool run_agent_key_is_in(const struct run_agent *agent, const char *text);
/* Two whose files are called alike are told apart by their folders: "a/mine", "b/mine". */
void run_agent_name_all(struct run_agent *agents, size_t n);
/* Each model once, whatever it is led by. */
void run_agent_warn_all(const struct run_agent *agents, size_t n, const struct warner *warner);
void run_agent_release(struct run_agent *agent);

/* Before anything runs: whether the prompts fit the task. */
int run_agent_check(const struct run_agent *agent, const struct task *task, struct fh_error *err);

#endif
