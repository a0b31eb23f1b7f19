/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_TASK_H
#define TASK_TASK_H

#include "base/arena.h"
#include "base/error.h"
#include "base/sha256.h"
#include "sandbox/bind.h"
#include "sandbox/limits.h"

#include <fumehood/metric.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A task: its task.yaml, checked, with the variant's keys over it and all paths absolute. It is
 * loaded into an arena and does not change afterwards, so that threads may share it.
 */
enum grader_kind { GRADER_CSV, GRADER_SCRIPT, GRADER_DUEL, GRADER_MLGYM };

/* The ways in which MLGym's task classes call an evaluator. */
enum mlgym_call { MLGYM_CSV, MLGYM_PYTHON, MLGYM_MODEL, MLGYM_LM };

struct node;
struct dataset;

struct task_file {
	const char *source; /* absolute path on this machine */
	const char *target; /* relative to the workspace, or to the grader's folder */
	bool read_only;     /* the agent can't write it */
};

struct task_grader {
	enum grader_kind kind;
	const char *submission;   /* the graded file of the workspace, as in "strategy.py" */
	int64_t submission_bytes; /* limit of its size */
	int64_t timeout_ms;
	int validations; /* limit per episode; 0: none */
	/* for csv */
	const char *answers; /* absolute path of the hidden file */
	const char *id_column, *target_column;
	const char *csv_metric; /* accuracy f1 rmse r2 mae log_loss auc bleu */
	/* for script and duel: absolute path of the judge, run as `python3 PROGRAM ARGS` in the
	 * grader's sandbox. It may also be among `hidden`. */
	const char *program;
	const char *const *args; /* NULL-terminated */
	/* for duel: runs the submission, as `python3 PLAYER SUBMISSION FUNCTION...` in the player's
	 * sandbox. NULL: src/grade/python/player.py */
	const char *player;
	const char *const *functions; /* functions that the judge may call; NULL-terminated */
	/* for mlgym: the call of the first evaluator, and all files of the evaluator, with their
	 * places in the workspace. `submission` may be "" for the whole workspace. */
	enum mlgym_call call;
	const struct task_file *evaluators;
	size_t n_evaluators;
};

struct task {
	const char *id, *variant; /* variant: "" for none */
	const char *name;
	const char *description; /* {dataset_docs} and {training_timeout} filled in */
	const char *dir;         /* absolute; the checkout for an MLGym task */
	const char *file;        /* absolute path of the YAML */
	bool mlgym;              /* the task is of an MLGym checkout, with MLGym's observations */
	const char *const *warnings; /* about unknown keys, and data from the network */
	size_t n_warnings;
	const char *metric;
	bool maximize;
	int max_steps;
	int64_t training_timeout_ms;
	int64_t short_timeout_ms;
	struct sandbox_limits limits;
	int64_t output_bytes; /* kept of a step's output */
	int64_t wall_ms;      /* timeout of an episode; 0: none */
	enum sandbox_network network;
	const struct sandbox_bind *binds; /* for each episode, beside the data */
	size_t n_binds;
	const struct task_file *starter; /* into the workspace */
	size_t n_starter;
	const struct task_file *data; /* into the workspace's data folder */
	size_t n_data;
	const struct task_file *hidden; /* into the grader's sandbox only */
	size_t n_hidden;
	/* A shell command for a fresh episode, which is then graded. `published` is the baseline
	 * instead if the command is NULL, or if baseline_is_published. */
	const char *baseline_command;
	bool baseline_is_published;
	const struct fh_metric *published; /* has `metric` if there is no command */
	size_t n_published;
	const char *solution_command;     /* makes the known good answer; NULL: none */
	const struct task_file *solution; /* put into the workspace for solution_command */
	size_t n_solution;
	const char *demo;         /* absolute path of demo.jsonl; NULL: none */
	const char *requirements; /* requirements.txt of an MLGym task; NULL: none */
	const char *memory;       /* path in `dir` that need not exist; NULL: none */
	struct task_grader grader;
	const struct node *keys; /* task.yaml with the variant's keys over it: config/node.h */
	const struct dataset *datasets; /* task/dataset.h */
	size_t n_datasets;
	struct arena arena;
};

/* The name of a task without a variant. */
#define TASK_FULL "full"

struct task_places {
	const char *tasks_dir;  /* searched before the installed tasks; NULL: none */
	const char *mlgym_root; /* an MLGym checkout, which is searched first; NULL: none */
	const char *state_dir;  /* has data/<dataset>/; NULL: $FUMEHOOD_STATE or the user's own */
};

/*
 * Loads a task. `spec` is "T" or "T:VARIANT", where T is a name or the path of the task's folder,
 * as in "./T". A `variant` that isn't NULL replaces the spec's. Without either, the default
 * variant is loaded; "full" is the task without a variant. places may be NULL.
 *
 * -EINVAL: the file is bad; the message names line and key. -ENOENT: there is no such task or
 * variant; the message names the closest, or all. -ENODATA: data is missing; the message says how
 * to get it.
 */
int task_load(const struct task_places *places, const char *spec, const char *variant,
		struct task **out, struct fh_error *err);
void task_free(struct task *task); /* NULL is fine */

/* Reads task.yaml alone, for lists of tasks: paths are NULL, and the description is unfilled. */
int task_read(const struct task_places *places, const char *spec, const char *variant,
		struct task **out, struct fh_error *err);

/*
 * Hashes all that a baseline's score depends on: task.yaml, the variant, and files. Those are the
 * starter's, the data's, the grader's and the task's own binds. Files above 16 MiB count by size
 * and time.
 */
int task_hash(const struct task *task, char hex[SHA256_HEX_BYTES], struct fh_error *err);

/* -EPERM: a bind of `source`, a real path, would show an agent the grader's files or the solution.
 * state_dir is as in struct task_places. */
int task_check_bind(const struct task *task, const char *state_dir, const char *source,
		struct fh_error *err);

/* Lists the names of a task's variants, as task_list() lists ids, without "full". */
int task_variants(const struct task_places *places, const char *spec, char ***out,
		struct fh_error *err);

/* Lists the names of all tasks, sorted; with an MLGym checkout, of its tasks alone. It is a heap
 * array of heap strings, NULL-terminated, for task_list_free(). */
int task_list(const struct task_places *places, char ***out, struct fh_error *err);
void task_list_free(char **ids);

#endif
