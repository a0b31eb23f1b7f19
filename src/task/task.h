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
 * A task: its task.yaml, checked, with the variant's keys merged over it and all paths absolute. A
 * task lives in an arena and does not change after loading, so that threads may share it.
 */
enum grader_kind { GRADER_CSV, GRADER_SCRIPT, GRADER_DUEL, GRADER_MLGYM };

/* The ways in which MLGym's task classes call an evaluator. */
enum mlgym_call { MLGYM_CSV, MLGYM_PYTHON, MLGYM_MODEL, MLGYM_LM };

struct node;
struct dataset;

struct task_file {
	const char *source; /* absolute path of the file on this machine */
	/* path relative to the workspace, or for a grader's file to the grader's folder */
	const char *target;
	bool read_only; /* the agent can't write to the file */
};

struct task_grader {
	enum grader_kind kind;
	const char *submission;   /* path of the graded file in the workspace: "strategy.py" */
	int64_t submission_bytes; /* upper limit of the graded file's size */
	int64_t timeout_ms;
	/* most validations that the agent may request in an episode; 0: unlimited */
	int validations;
	/* only for kind csv */
	const char *answers;   /* absolute path of the hidden file with the answers */
	const char *id_column; /* NULL: rows match by their order */
	const char *target_column;
	const char *csv_metric; /* a metric's name: accuracy f1 rmse r2 mae log_loss auc bleu */
	/* only for kinds script and duel: absolute path of the judge. The judge is run as `python3
	 * PROGRAM ARGS` in the grader's sandbox. The path may also be among task.hidden. */
	const char *program;
	const char *const *args; /* arguments of the judge, NULL-terminated */
	/* only for kind duel: the program that runs the submission. It is called as `python3 PLAYER
	 * SUBMISSION FUNCTION...` in the player's sandbox. NULL: src/grade/python/player.py, which
	 * it can import */
	const char *player;
	/* functions of the submission that the judge may call; NULL-terminated */
	const char *const *functions;
	const char *cpu_metric; /* metric that the CPU time is added as; NULL: none */
	/* only for kind mlgym: how to call the first evaluator, and all files of the evaluator. A
	 * file's target is its path in the workspace. `submission` may be "" for the whole
	 * workspace. */
	enum mlgym_call call;
	const struct task_file *evaluators;
	size_t n_evaluators;
};

struct task {
	const char *id, *variant; /* name of the task; name of the variant, or "" for none */
	const char *name;
	/* text for the agent, with {dataset_docs} and {training_timeout} filled in */
	const char *description;
	/* absolute path of the task's folder; for an MLGym task, of the checkout */
	const char *dir;
	const char *file; /* absolute path of the task's YAML file */
	/* the task is from an MLGym checkout, and has MLGym's observations */
	bool mlgym;
	/* warnings about unknown keys, and about data from the network */
	const char *const *warnings;
	size_t n_warnings;
	const char *metric;
	bool maximize;
	int max_steps;
	int64_t training_timeout_ms;
	int64_t short_timeout_ms;
	struct sandbox_limits limits;
	int64_t output_bytes; /* most bytes of a step's output that are kept */
	int64_t wall_ms;      /* timeout of an episode; 0: unlimited */
	enum sandbox_network network;
	/* paths of this machine that each episode sees, besides the data */
	const struct sandbox_bind *binds;
	size_t n_binds;
	bool simulators;           /* episodes and the grader have the Python module `simulators` */
	struct task_file *starter; /* files to put into the workspace */
	size_t n_starter;
	const struct task_file *data; /* files to put into the workspace's data folder */
	size_t n_data;
	const struct task_file *hidden; /* files to put into the grader's sandbox only */
	size_t n_hidden;
	/* The shell command that makes the baseline's submission in a fresh episode. If the command
	 * is NULL, or if baseline_is_published, the baseline is `published` instead. */
	const char *baseline_command;
	bool baseline_is_published;
	/* files that baseline_command needs in the workspace, and no agent gets */
	const struct task_file *baseline_files;
	size_t n_baseline_files;
	/* published scores; includes `metric` if there is no command */
	const struct fh_metric *published;
	size_t n_published;
	/* shell command that makes the known good answer; NULL: none */
	const char *solution_command;
	const struct task_file *solution; /* files that solution_command needs in the workspace */
	size_t n_solution;
	/* absolute path of demo.jsonl, a demonstration for the agent; NULL: none */
	const char *demo;
	/* absolute path of an MLGym task's requirements.txt; NULL: none */
	const char *requirements;
	/* path of the agent's notes in `dir`, a file that need not exist; NULL: none */
	const char *memory;
	struct task_grader grader;
	/* task.yaml as a YAML tree, with the variant's keys merged over it */
	const struct node *keys;
	const struct dataset *datasets; /* data sets that the task names */
	size_t n_datasets;
	/* Selects one of the many data sets that a generator can make. Not 0 only if a data set is
	 * generated. */
	uint64_t data_seed;
	struct arena arena;
};

void task_free(struct task *task); /* `task` may be NULL */

/*
 * Computes a hash of all inputs of a baseline's score: task.yaml, the variant, and files. The files
 * are the starter's, the data's, the grader's, and those of the task's own binds. For files above
 * 16 MiB only size and time are hashed.
 */
int task_hash(const struct task *task, char hex[SHA256_HEX_BYTES], struct fh_error *err);

/* Checks a user's bind. -EPERM: a bind of `source`, a real path, would show the agent the grader's
 * files or the solution. `state_dir` is as in struct task_places. */
int task_check_bind(const struct task *task, const char *state_dir, const char *source,
		struct fh_error *err);

#endif
