/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_TASK_H
#define FUMEHOOD_TASK_H

#include <fumehood/env.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Tasks: those that a gym can open, and what each of them asks for. Only files are read. No sandbox
 * starts, no data is made, and no baseline is played, so a list takes milliseconds.
 *
 *   struct fh_error err = FH_ERROR_INIT;
 *   const struct fh_task_info *task;
 *   struct fh_tasks *tasks;
 *
 *   if (fh_tasks_list(NULL, &tasks, &err) < 0)
 *           return fail(&err);
 *   for (size_t i = 0; (task = fh_tasks_at(tasks, i)); i++)
 *           printf("%s: %s\n", task->id, task->problem ? task->problem : "can be opened");
 *   fh_tasks_free(tasks);
 *
 * No function needs a gym, and any thread may call them. Several threads may read the same list.
 * The list owns all that its items point to.
 */
struct fh_tasks;

/* A variant of a task. fh_env_options.variant takes its name. */
struct fh_task_variant {
	const char *name;    /* "micro"; "full" is the task without a variant */
	const char *problem; /* a sentence why it can't be opened; NULL: it can */
};

/* Limits of an episode's sandbox. 0: no limit. */
struct fh_task_limits {
	int64_t memory_bytes, pids;
	double cpus; /* cores: 1.5 */
	int64_t disk_bytes, disk_files;
	int64_t output_bytes; /* most output of a step that its observation shows */
	double wall_s;        /* most time of an episode by the clock */
};

/* A score that a task's file states. */
struct fh_task_expect {
	bool given;
	double mean, deviation; /* mean and standard deviation over seeds */
};

/*
 * A task, as its file describes it. If the file can't be read, only `id`, `variant` and `problem`
 * are set. If only data is missing, all other members are set too, and `missing` says what to get.
 *
 * The library allocates this struct. Later versions may append members.
 */
struct fh_task_info {
	const char *id;
	const char *variant; /* the variant that is described; "" for the task without a variant */
	/* A sentence why fh_env_open() would fail: missing data, a mistake in the file. NULL: no
	 * reason is known. */
	const char *problem;
	const struct fh_task_variant *variants; /* all variants, the default first */
	size_t n_variants;
	const char *const *warnings; /* sentences for the user, such as unknown keys */
	size_t n_warnings;

	const char *name;        /* name of the task, for people */
	const char *description; /* text for the agent */
	const char *metric;      /* name of the deciding metric */
	bool maximize;
	int max_steps;
	double training_timeout_s; /* timeout of a step that runs Python */
	double short_timeout_s;    /* timeout of other steps */
	struct fh_task_limits limits;
	bool network;       /* episodes have the machine's network */
	const char *folder; /* absolute path of the task; in a checkout of MLGym, of the checkout */

	/* The members from here on are NULL or 0 if the task has another problem than missing
	 * data. */
	const char *grader;         /* kind of the grader: "csv", "script", "duel", "mlgym" */
	const char *submission;     /* graded file, relative to the workspace; "": all of it */
	bool final;                 /* only the score of an episode's end counts */
	const char *const *starter; /* files in the workspace, relative to it */
	size_t n_starter;
	const char *const *data; /* files in the workspace's folder `data`, relative to it */
	size_t n_data;
	const char *baseline_command;      /* shell command that plays the baseline; NULL: none */
	const struct fh_metric *published; /* baseline's scores that the task's file states */
	size_t n_published;
	/* Score of the baseline on this machine, from an earlier fh_env_open(). NULL: it is not
	 * known yet, or the item is from fh_tasks_list(). */
	const struct fh_metric *baseline;
	size_t n_baseline;
	int64_t submission_bytes; /* most bytes of the graded file */
	double grading_timeout_s; /* timeout of a grading */
	int validations;          /* how often an episode may `validate`; 0: no limit */
	/* Python packages that the baseline and the known good solution need, by their names on
	 * PyPI */
	const char *const *packages;
	size_t n_packages;
	/* Scores by `metric` that the task's file states. */
	struct fh_task_expect expect_baseline, expect_solution;
	/* true: `baseline_command` is "true", so the starter's file is the baseline's submission */
	bool baseline_is_starter;
	/* Sentences for the user about missing data, one for a data set: which file, and how to get
	 * it. */
	const char *const *missing;
	size_t n_missing;
	/* Scores of this variant can be compared with published ones, such as `published`. */
	bool comparable;
	/* sentences for the user why they can, or can't; NULL: the task's file does not tell */
	const char *why_comparable;
};

/*
 * Lists all tasks that a gym with these options can open, sorted by id. They are the tasks of
 * `tasks_dir` and the installed ones. With `mlgym_root` it lists the tasks of that checkout alone.
 * Items describe the default variant. options may be NULL; their GPUs are ignored. -ENOENT:
 * tasks_dir or mlgym_root does not exist.
 */
FH_PUBLIC int fh_tasks_list(
		const struct fh_gym_options *options, struct fh_tasks **out, struct fh_error *err);

/*
 * Makes a list with one item: the task that fh_env_open() with the options `env` would open. Beside
 * `task` and `variant`, the options `data_seed`, `binds`, `python` and `n_gpus` select the baseline
 * that is known. Reads the task's files, because the baseline depends on them. -ENOENT: there is no
 * such task or variant. -EINVAL: the task's file is malformed, or no task is given.
 */
FH_PUBLIC int fh_tasks_describe(const struct fh_gym_options *options,
		const struct fh_env_options *env, struct fh_tasks **out, struct fh_error *err);

/* Returns item i of a list; NULL past its end. */
FH_PUBLIC const struct fh_task_info *fh_tasks_at(const struct fh_tasks *tasks, size_t i);

FH_PUBLIC void fh_tasks_free(struct fh_tasks *tasks); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
