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

/* A task as it was loaded: its files, grader, limits and scores. */

#define GRADER_PLAYERS_MAX 2
#define GRADER_SHARED_MAX (256LL << 20)

enum grader_kind { GRADER_CSV, GRADER_SCRIPT, GRADER_DUEL, GRADER_MLGYM };

/* Ways to call the evaluator of an MLGym task: one for each of MLGym's task classes. */
enum mlgym_call { MLGYM_CSV, MLGYM_PYTHON, MLGYM_MODEL, MLGYM_LM };

/* Names of the values of enum mlgym_call, for imports.py and mlgym.py of src/grade/python. */
extern const char *const mlgym_call_names[];

struct node;
struct dataset;

struct task_file {
	const char *source; /* absolute path of the file on this machine */
	/*
	 * Path where the file is put, relative to the workspace. For a file of the grader, relative
	 * to the grader's folder.
	 */
	const char *target;
	bool read_only; /* true: the agent can't write to the file */
};

struct task_grader {
	enum grader_kind kind;
	const char *submission;   /* path of the graded file in the workspace: "strategy.py" */
	int64_t submission_bytes; /* most bytes of the graded file */
	int64_t timeout_ms;
	/* how often the agent may request a `validate` in an episode; 0: unlimited */
	int validations;
	/* True: a `validate` is scored by a part of the hidden answers, the end of the episode by
	 * the others. Only the score of the end counts. */
	bool final;
	/* The members from here to `most` are for graders of the kind csv only. */
	const char *answers; /* absolute path of the hidden file with the answers */
	/* column with the ids that match predictions and answers; NULL: their order matches
	 * them */
	const char *id_column;
	const char *target_column;
	/* name of the metric that the grader computes: accuracy f1 rmse r2 mae log_loss auc bleu */
	const char *csv_metric;
	/* smallest and largest prediction, as text; NULL: any */
	const char *least, *most;
	/* For graders of the kinds script and duel: absolute path of the judge's program. The
	 * grader's sandbox runs `python3 PROGRAM ARGS`. The file may also be in task.hidden. */
	const char *program;
	const char *const *args; /* arguments of the judge, NULL-terminated */
	/* Only for kind duel: absolute path of the program that runs the submission. The player's
	 * sandbox runs `python3 PLAYER SUBMISSION FUNCTION...`. NULL: src/grade/python/player.py,
	 * which a task's own program can import too. */
	const char *player;
	/* functions of the submission that the judge may call; NULL-terminated */
	const char *const *functions;
	/* Only for kind duel: number of players. They run one after another, each in a sandbox of
	 * its own. */
	int players;
	/* Only for kind duel: bytes of memory that the judge shares with each player; 0: none. */
	int64_t shared_bytes;
	/* Only for kind duel: name of a metric to which the CPU time of the players is added,
	 * in seconds. NULL: none. */
	const char *cpu_metric;
	/* Only for kind mlgym: way to call the evaluator's program, the first of `evaluators`. If
	 * `submission` is "", the whole workspace is scored. */
	enum mlgym_call call;
	/* only for kind mlgym: all files of the evaluator; their targets are in the workspace */
	const struct task_file *evaluators;
	size_t n_evaluators;
};

/* Score that task.yaml expects of the baseline or solution, in the task's metric. The seed changes
 * the score, so it is a mean and a deviation. */
struct task_expect {
	bool given;
	double mean, sd; /* mean and standard deviation of the score over seeds */
};

/*
 * A task: its task.yaml, checked, with the variant's keys merged over it and all paths absolute. A
 * task lives in an arena and does not change after loading, so that threads may share it.
 */
struct task {
	/* id: name of the task; variant: name of the variant, "" for none */
	const char *id, *variant;
	const char *name;
	/* task's description for the agent, with {dataset_docs} and {training_timeout} filled in */
	const char *description;
	/* absolute path of the task's folder; for an MLGym task, of the checkout */
	const char *dir;
	const char *file; /* absolute path of the task's YAML file */
	/* True: the task is from an MLGym checkout, and its observations have MLGym's format. */
	bool mlgym;
	/* Warnings for the user about unknown keys, and about data that is downloaded. */
	const char *const *warnings;
	size_t n_warnings;
	const char *metric;
	bool maximize;
	int max_steps;
	int64_t training_timeout_ms;
	int64_t short_timeout_ms;
	struct sandbox_limits limits;
	int64_t output_bytes; /* most bytes of output that an observation has */
	int64_t wall_ms;      /* milliseconds that an episode may take; 0: unlimited */
	enum sandbox_network network;
	/* Files and folders of this machine that each episode sees, besides the task's data. */
	const struct sandbox_bind *binds;
	size_t n_binds;
	/* sandboxes of the agent and the grader have the Python module `simulators` */
	bool simulators;
	struct task_file *starter; /* files to put into the workspace */
	size_t n_starter;
	const struct task_file *data; /* files to put into the workspace's data folder */
	size_t n_data;
	const struct task_file *hidden; /* files to put into the grader's sandbox only */
	size_t n_hidden;
	/* Shell command that makes the baseline's submission in a new episode. NULL: `published`
	 * is the baseline. */
	const char *baseline_command;
	bool baseline_is_published; /* `published` is the baseline, although a command is given */
	/* Files that baseline_command needs in the workspace. Agents don't get them. */
	const struct task_file *baseline_files;
	size_t n_baseline_files;
	/*
	 * Published scores of the baseline. If there is no baseline_command, they include the
	 * task's metric.
	 */
	const struct fh_metric *published;
	size_t n_published;
	bool comparable;            /* the task's scores can be compared with published ones */
	const char *why_comparable; /* sentences why they can, or can't; NULL: not told */
	/* Shell command that makes a submission known to be good; NULL: none. */
	const char *solution_command;
	const struct task_file *solution; /* files that solution_command needs in the workspace */
	size_t n_solution;
	struct task_expect expect_baseline, expect_solution;
	/* absolute path of demo.jsonl, a demonstration for the agent; NULL: none */
	const char *demo;
	/* absolute path of an MLGym task's requirements.txt; NULL: none */
	const char *requirements;
	/* Python packages that the baseline and the solution need, by their names on PyPI;
	 * NULL-terminated */
	const char *const *packages;
	/*
	 * Path of the agent's memory file (its notes), relative to `dir`. The file need not exist.
	 * NULL: the task has none.
	 */
	const char *memory;
	struct task_grader grader;
	/* task.yaml as a YAML tree, with the variant's keys merged over it */
	const struct node *keys;
	const struct dataset *datasets; /* data sets that the task names */
	size_t n_datasets;
	/* Seed of the program that generates data sets: each seed gives different files. 0 if no
	 * data set is generated. */
	uint64_t data_seed;
	struct arena arena;
};

void task_free(struct task *task); /* `task` may be NULL */

static inline void scope_task(struct task *const *task)
{
	task_free(*task);
}

#define auto_task __attribute__((cleanup(scope_task)))

/*
 * Computes a hash of all that decides the baseline's score. This is task.yaml, the variant, and the
 * files of starter, data, grader and the task's own binds. Files above 16 MiB count only with their
 * size and time.
 */
int task_hash(const struct task *task, char hex[SHA256_HEX_BYTES], struct fh_error *err);

/* Checks a path of this machine that the user wants to show to agents. `source` has no symbolic
 * links. `state_dir` is as in struct task_places. -EPERM: the path has hidden files in it, of
 * grader, solution, baseline, data, demo or state. */
int task_check_bind(const struct task *task, const char *state_dir, const char *source,
		struct fh_error *err);

#endif
