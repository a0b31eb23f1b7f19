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
 * A task: what task.yaml says, checked, with the variant's own values put over it and every path
 * made absolute. Loaded whole into an arena; nothing in it changes afterwards, so threads may share
 * it.
 */
enum grader_kind { GRADER_CSV, GRADER_SCRIPT, GRADER_DUEL, GRADER_MLGYM };

/* The ways in which MLGym's task classes call an evaluator. */
enum mlgym_call { MLGYM_CSV, MLGYM_PYTHON, MLGYM_MODEL, MLGYM_LM };

struct node;
struct dataset;

struct task_file {
	const char *source; /* absolute path here */
	const char *target; /* relative to its place inside (workspace, or the grader's folder) */
	bool read_only;     /* not writable inside */
};

struct task_grader {
	enum grader_kind kind;
	const char *submission; /* file of the workspace that is graded: "submission.csv", "strategy.py" */
	int64_t submission_bytes; /* most that it may have */
	int64_t timeout_ms;
	int validations; /* most of an episode; 0: no limit */
	/* csv: how rows are matched and what is scored */
	const char *answers; /* absolute path of the hidden file */
	const char *id_column, *target_column;
	const char *csv_metric; /* accuracy f1 rmse r2 mae log_loss auc bleu */
	/* script and duel: the program that judges, an absolute path, run as `python3 PROGRAM ARGS`
	 * in the grader's sandbox. It may be one of `hidden` as well. */
	const char *program;
	const char *const *args; /* NULL-terminated */
	/* duel: what answers for the agent in the player's sandbox, run as `python3 PLAYER
	 * SUBMISSION FUNCTION...`. NULL: ours, src/grade/python/player.py */
	const char *player;
	const char *const *
			functions; /* the judge may ask the submission for these; NULL-terminated */
	/* mlgym: how the first of the evaluators is called, and all files that are the evaluator's
	 * own, from the checkout, at their places in the workspace. `submission` may be "": the
	 * whole workspace. */
	enum mlgym_call call;
	const struct task_file *evaluators;
	size_t n_evaluators;
};

struct task {
	const char *id, *variant; /* variant "" when there is none */
	const char *name;
	const char *description;     /* {dataset_docs} and {training_timeout} filled in */
	const char *dir;             /* absolute; of an MLGym task: the checkout */
	const char *file;            /* absolute: its YAML */
	bool mlgym;                  /* of a checkout of MLGym: observations follow its rules */
	const char *const *warnings; /* about keys that nobody knows, and data from elsewhere */
	size_t n_warnings;
	const char *metric;
	bool maximize;
	int max_steps;
	int64_t training_timeout_ms;
	int64_t short_timeout_ms;
	struct sandbox_limits limits;
	int64_t output_bytes; /* kept of a step's output */
	int64_t wall_ms;      /* most time of an episode; 0: any */
	enum sandbox_network network;
	const struct sandbox_bind *binds; /* of every episode, beside the data */
	size_t n_binds;
	const struct task_file *starter; /* into the workspace */
	size_t n_starter;
	const struct task_file *data; /* into the workspace's data folder */
	size_t n_data;
	const struct task_file *hidden; /* into the grader's sandbox only */
	size_t n_hidden;
	/* A shell command run in a fresh episode, then graded. NULL, or if so said: `published` is
	 * the baseline. */
	const char *baseline_command;
	bool baseline_is_published;
	const struct fh_metric
			*published; /* baseline_scores; it holds `metric` if there is no command */
	size_t n_published;
	const char *solution_command; /* as baseline_command, for the known good answer; NULL: none */
	const struct task_file *solution; /* copied into the workspace for solution_command */
	size_t n_solution;
	const char *demo;         /* absolute path of demo.jsonl, NULL: none */
	const char *requirements; /* of a checkout of MLGym: of an environment of its own. NULL: none */
	const char *memory;       /* memory_path, of dir; it need not be there. NULL: none */
	struct task_grader grader;
	const struct node *keys; /* task.yaml with the variant's keys over it: config/node.h */
	const struct dataset *datasets; /* task/dataset.h */
	size_t n_datasets;
	struct arena arena;
};

/* The name of a task without a variant. */
#define TASK_FULL "full"

struct task_places {
	const char *tasks_dir; /* looked up first; NULL: none */
	const char *mlgym_root; /* a checkout of MLGym, whose tasks come before all others; NULL: none */
	const char *state_dir; /* holds data/<dataset>/; NULL: $FUMEHOOD_STATE or the user's own */
};

/*
 * `spec` is "T" or "T:VARIANT", or the same with the path of the task's folder ("./T"); variant
 * (may be NULL) wins over the spec's. Without either it is the task's default variant; "full" is
 * the task without one. places may be NULL. -EINVAL for a bad file (the error names line and key);
 * -ENOENT for an unknown task or variant (it names the closest, or what there is); -ENODATA when
 * data is missing (it says how to get it).
 */
int task_load(const struct task_places *places, const char *spec, const char *variant,
		struct task **out, struct fh_error *err);
void task_free(struct task *task); /* NULL is fine */

/* The same without looking at any file but task.yaml: no members that are paths, and the
 * description as it is written. For telling what there is, data or not. */
int task_read(const struct task_places *places, const char *spec, const char *variant,
		struct task **out, struct fh_error *err);

/*
 * A hash of all that a baseline's score depends on: task.yaml, the variant, and the starter, data,
 * hidden, bound and grader's files of its own (of files above 16 MiB the size and time).
 */
int task_hash(const struct task *task, char hex[SHA256_HEX_BYTES], struct fh_error *err);

/* -EPERM if a bind of `source`, a real path, would show an agent what scores it, or the solution:
 * it lies there, beneath or above. state_dir as in struct task_places. */
int task_check_bind(const struct task *task, const char *state_dir, const char *source,
		struct fh_error *err);

/* The names of a task's variants, as task_list() gives ids; "full" is not among them. */
int task_variants(const struct task_places *places, const char *spec, char ***out,
		struct fh_error *err);

/* Names of all tasks (of the checkout of MLGym alone, if there is one), sorted; heap array of heap
 * strings, NULL-terminated; free with task_list_free. */
int task_list(const struct task_places *places, char ***out, struct fh_error *err);
void task_list_free(char **ids);

#endif
