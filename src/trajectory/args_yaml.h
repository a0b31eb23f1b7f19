/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_ARGS_YAML_H
#define TRAJECTORY_ARGS_YAML_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* args.yaml in a run's folder: the options of the run, so that it can be played again. Names are
 * MLGym's for options that MLGym has. Callers replace secrets by ARGS_HIDDEN. */

#define ARGS_FILE "args.yaml"
#define ARGS_HIDDEN "[hidden]"

/* Options of a run, for args.yaml. If an option was not given, its text is NULL or "". */
struct run_args {
	/* options of the agent that plays */
	/* name of the agent's configuration: its file's name without ".yaml" */
	const char *agent_config;
	/* path of the agent's configuration; NULL: an installed one */
	const char *agent_config_path;
	const char *agent_command; /* command that plays as the agent */
	/* the agent uses MLGym's own commands, not Fumehood's equivalents */
	bool original_tools;
	const char *model; /* model as given on the command line: "actions:FILE" */
	const char *url, *api_version, *completion_kwargs, *prices;
	double cost_limit, temperature, top_p;
	int max_tokens, context_tokens; /* limits in tokens; 0: unlimited */
	struct texts stop;
	bool stream;

	/* options of the environment in which the agent plays */
	const char *task; /* task and variant: "titanic:micro" */
	/* Path of the task's file in the MLGym checkout, so that MLGym can load the task. NULL: the
	 * task is not from a checkout. */
	const char *task_config_path;
	uint64_t seed, data_seed;
	int max_steps;
	const char *reward;
	const char *aliases; /* path of a script that the sandbox's shells source */
	const char *python;  /* path of the agent's Python environment */
	struct texts bind;   /* paths that the sandbox sees: "SRC:DST" */
	struct texts gpus;   /* numbers of GPUs: "2" is /dev/nvidia2 */
	bool memory;
	const char *mlgym_root, *tasks_dir;
	const char *web_hosts; /* web hosts that the agent's tools may connect to; "none": none */

	const char *suffix;
};

void args_yaml_add(struct buf *out, const struct run_args *args);

/* Returns true if two runs have equal options. Options of weight ARG_ANY (args_yaml.c) may differ,
 * such as the seed, the suffix and the server's URL. */
bool args_yaml_same(const struct run_args *a, const struct run_args *b);

/* Reads args.yaml in the run's folder into `args`. A missing key leaves its field unchanged, and
 * null clears it. Texts live in the arena. -ENOENT: there is no file. -EINVAL: the file is
 * malformed. -ELOOP: it is a symbolic link. */
int args_yaml_read(struct arena *a, const char *dir, struct run_args *args, struct fh_error *err);

/* Parses the text of an args.yaml, and does otherwise the same as args_yaml_read(). `name` stands
 * for the file in error messages. */
int args_yaml_parse(struct arena *a, const char *name, const struct buf *text,
		struct run_args *args, struct fh_error *err);

#endif
