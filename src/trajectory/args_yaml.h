/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_ARGS_YAML_H
#define TRAJECTORY_ARGS_YAML_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * args.yaml of a run's folder: how it was asked for, under MLGym's names where it has them, so that it can be
 * played again. Whoever fills it in leaves secrets out: what no file is to tell is ARGS_HIDDEN.
 */
#define ARGS_FILE "args.yaml"
#define ARGS_HIDDEN "[hidden]"

/* NULL, "": none, or nobody said. */
struct run_args {
	/* agent */
	const char *agent_config;      /* stem of its file */
	const char *agent_config_path; /* as in recorder_options */
	bool original_tools;           /* MLGym's own commands, where ours are equal */
	const char *model;             /* as it was given: "actions:FILE" */
	const char *url, *api_version, *completion_kwargs, *prices;
	double cost_limit, temperature, top_p;
	int max_tokens, context_tokens; /* 0: none */
	struct texts stop;
	bool stream;

	/* environment */
	const char *task;             /* "titanic:micro" */
	const char *task_config_path; /* of a checkout's: where MLGym's own loader finds it */
	uint64_t seed;
	int max_steps;
	const char *reward;
	const char *aliases; /* a file that its shells sourced */
	const char *python;  /* an environment */
	struct texts bind;   /* "SRC:DST" */
	struct texts gpus;   /* that it had: "2" is /dev/nvidia2 */
	bool memory;
	const char *mlgym_root, *tasks_dir;
	const char *web_hosts; /* "none": it might ask nothing */

	const char *suffix;
};

void args_yaml_add(struct buf *out, const struct run_args *args);

/* Whether what was asked for is the same. Where things were found or served, which is no part of it, may differ, and so
 * may the seed and the suffix. */
bool args_yaml_same(const struct run_args *a, const struct run_args *b);

/* What the file in the run's folder says takes the place of what `args` held, null too; what it leaves out stays. It
 * lives in the arena. -ENOENT, -EINVAL; -ELOOP for a link. */
int args_yaml_read(struct arena *a, const char *dir, struct run_args *args, struct fh_error *err);

/* The same of a text; `name` is for messages. */
int args_yaml_parse(struct arena *a, const char *name, const struct buf *text,
		struct run_args *args, struct fh_error *err);

#endif
