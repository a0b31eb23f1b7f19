/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_TRIAL_INSIDE_H
#define RUN_TRIAL_INSIDE_H

#include "base/json.h"
#include "base/moments.h"
#include "task/task.h"

#include <fumehood/env.h>

/* Internals of the trial of a task (trial.h). */

/* An environment that plays a task's baseline or solution. `step` is the last step, and `err` the
 * last error. */
struct attempt {
	struct fh_env *env;
	const struct task *task;
	struct fh_step step;
	struct fh_error err;
};

/* Runs a command in the environment as a step. timeout_s 0: the task's own timeout. -EINVAL: the
 * command failed. */
int attempt_step(struct attempt *a, const char *command, double timeout_s);

/* Functions that play the task's baseline or solution in an episode, and score it at the end. */
int attempt_baseline(struct attempt *a);
int attempt_solution(struct attempt *a);

/*
 * Plays the solution of a task with the grader csv. A validate and the episode's end grade the same
 * submission. With grader.final the end is scored by other answers. Then the scores of two
 * validates are compared, if the task allows two. -EDOM: the scores differ.
 */
int attempt_validate_twice(struct attempt *a);

/*
 * Plays the solution in two episodes, and grades it at the end of both. Seed, salt and actions are
 * equal, and so is the judge's key if the submissions are. -EDOM: the scores differ. *out_same: the
 * submissions are equal; else scores are not compared.
 */
int attempt_grade_twice(struct attempt *a, bool *out_same);

/*
 * Hidden files of a task, to look for in an episode that has just begun. These are the grader's
 * programs and answers, task.hidden, the solution, the demonstration and `baseline_files`. Their
 * paths are compared, and size and hash of all files that the agent can read.
 */
struct trial_hidden;

/* Finds the task's hidden files. Appends the shell command that looks for them to `command`. */
struct trial_hidden *trial_hidden_new(const struct task *task, struct buf *command);

/* Compares the hidden files with the command's output. -EPERM: the agent sees one; the error names
 * it. */
int trial_hidden_compare(
		const struct trial_hidden *hidden, const char *output, struct fh_error *err);

void trial_hidden_free(struct trial_hidden *hidden);

static inline void scope_trial_hidden(struct trial_hidden *const *hidden)
{
	trial_hidden_free(*hidden);
}

#define auto_trial_hidden __attribute__((cleanup(scope_trial_hidden)))

/* Scores of the baseline or the solution with different seeds. */
struct trial_side {
	const char *name;
	const struct task_expect *expect;
	struct moments scores;
	/* largest distance of a score from the mean that the task expects, in standard deviations
	 * that it expects */
	double moved;
};

/* Adds a score of the baseline or solution, and compares it with the expected one. -ERANGE: it
 * differs too much. */
int trial_side_add(struct trial_side *side, const char *metric, double score, struct fh_error *err);

/* Compares the solution's score with the baseline's. -ERANGE: the solution is no better, or the
 * means that the task expects are too close. */
int trial_sides_compare(
		const struct task *task, double baseline, double solution, struct fh_error *err);

/* Makes a JSON object with the mean and deviation of baseline's and solution's scores, and the
 * distance between them. */
json_t *trial_sides_json(const struct trial_side *baseline, const struct trial_side *solution);

#endif
