/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_AGENT_H
#define RUN_AGENT_H

#include "agent/config.h"
#include "base/str.h"
#include "model/chat.h"
#include "run/warner.h"
#include "task/task.h"

/* Options of a run's language model, and of the agent's configuration that it follows. */
struct run_agent_options {
	const char *config;
	/*
	 * true: the name of the agent's configuration comes from a recorded run, not from the
	 * command line
	 */
	bool recorded;
	/* the MLGym checkout named on this command line, if the configuration is a recorded run's;
	 * NULL: none */
	const char *own_root;
	const char *url, *key, *version, *extra, *prices;
	double temperature, top_p;
	struct texts stop;
	int max_tokens, context, retries;
	double timeout_s;
	double cost_limit, total_cost_limit;
	bool stream;
	int tools; /* value of the option --tools, as an index into episode_tools */
	struct {
		bool config, temperature, top_p, cost_limit, stream, tools;
	} given; /* true for each option that the user set; other options have their defaults */
};

#define RUN_AGENT_COST_LIMIT "3"
#define RUN_AGENT_TOP_P "0.95"

struct run_agent {
	const char *model;           /* spec of the model, as the user wrote it */
	struct agent_config *config; /* the agent's configuration; NULL: the model follows none */
	/* agent's configuration as the user named it; NULL: the default */
	const char *spec;
	char *name;                /* name of the agent's configuration in messages to the user */
	struct chat_service *chat; /* chat service that all models of the run share; not owned */
	char *warning;             /* warning for the user about this model; NULL: none */
	const char *prices;        /* path of the user's own price table; NULL: none */
	struct chat_options options;
};

/* Opens the chat service that all language models of a run share. `spent` is the cost in US
 * dollars of an earlier part of the run. It counts towards the total cost limit. */
int run_agent_service(const struct run_agent_options *options, double spent,
		chat_retry_fn *on_retry, struct chat_service **out, struct fh_error *err);

/* Checks the options of a language model, and loads its agent's configuration. mlgym_root: MLGym
 * checkout to look for the configuration in; NULL: none. -EINVAL, -ENOENT: an option is wrong, or
 * names a missing file. */
int run_agent_open(struct run_agent *agent, const struct run_agent_options *options,
		const char *mlgym_root, const struct warner *warner, struct chat_service *chat,
		struct fh_error *err);
/* Loads only the agent's configuration, for replays of recorded replies: they need no model. */
int run_agent_load(struct run_agent *agent, const struct run_agent_options *options,
		const char *mlgym_root, const struct warner *warner, struct fh_error *err);
/* Checks a run's options if no language model plays: those for requests to models, and the named
 * configuration. */
int run_agent_check_options(const struct run_agent_options *options, const char *mlgym_root,
		const struct warner *warner, struct fh_error *err);
/* Returns true if a text contains the API key of the agent's language model. */
bool run_agent_key_is_in(const struct run_agent *agent, const char *text);
/*
 * Names the agents of a run by their configurations. Configurations with equal file names are told
 * apart by folders: "a/mine", "b/mine". Agents with the same configuration have the same name.
 */
void run_agent_name_all(struct run_agent *agents, size_t n);
/* Passes the warning of each model to the user, once for each model. */
void run_agent_warn_all(const struct run_agent *agents, size_t n, const struct warner *warner);
void run_agent_release(struct run_agent *agent);

/* Checks, before a run starts, that the task has all fields that the agent's prompts use. */
int run_agent_check(const struct run_agent *agent, const struct task *task, struct fh_error *err);

#endif
