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

/* args.yaml of a run: the options of the run, so that it can be played again. Names are MLGym's
 * where it has them. The caller leaves secrets out: ARGS_HIDDEN replaces them. */
#define ARGS_FILE "args.yaml"
#define ARGS_HIDDEN "[hidden]"

/* NULL, "": none, or not given. */
struct run_args {
	/* agent */
	const char *agent_config;      /* stem of its file */
	const char *agent_config_path; /* as in recorder_options */
	bool original_tools;           /* MLGym's own commands instead of our equal ones */
	const char *model;             /* as given: "actions:FILE" */
	const char *url, *api_version, *completion_kwargs, *prices;
	double cost_limit, temperature, top_p;
	int max_tokens, context_tokens; /* 0: none */
	struct texts stop;
	bool stream;

	/* environment */
	const char *task;             /* "titanic:micro" */
	const char *task_config_path; /* path of a checkout's task, for MLGym's loader */
	uint64_t seed;
	int max_steps;
	const char *reward;
	const char *aliases; /* a file that the shells source */
	const char *python;  /* a Python environment */
	struct texts bind;   /* "SRC:DST" */
	struct texts gpus;   /* "2" is /dev/nvidia2 */
	bool memory;
	const char *mlgym_root, *tasks_dir;
	const char *web_hosts; /* "none": no web */

	const char *suffix;
};

void args_yaml_add(struct buf *out, const struct run_args *args);

/* True if both ask for the same run. Seed, suffix, and the places of files and servers may
 * differ. */
bool args_yaml_same(const struct run_args *a, const struct run_args *b);

/* Reads the file in the run's folder into `args`. Fields that it leaves out stay; null replaces,
 * too. Texts live in the arena. -ENOENT, -EINVAL; -ELOOP for a symbolic link. */
int args_yaml_read(struct arena *a, const char *dir, struct run_args *args, struct fh_error *err);

/* The same for a text; `name` is for errors. */
int args_yaml_parse(struct arena *a, const char *name, const struct buf *text,
		struct run_args *args, struct fh_error *err);

#endif
