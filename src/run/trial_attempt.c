/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pytext.h"
#include "base/str.h"
#include "env/baseline.h"
#include "env/put.h"
#include "grade/score.h"
#include "run/trial_inside.h"

#include <errno.h>
#include <math.h>

/* Functions that play and score baseline or solution, and grade the same submission twice. */

#define ATTEMPT_SHOWN_BYTES_MAX 65536 /* most bytes of the output of sha256sum to read */

int attempt_step(struct attempt *a, const char *command, double timeout_s)
{
	int r = fh_env_step(a->env, &FH_ACTION(.text = command, .timeout_s = timeout_s), &a->step,
			&a->err);

	if (r < 0)
		return r;
	if (a->step.outcome != FH_OUTCOME_OK || a->step.exit_code != 0)
		return baseline_say_failed(
				&(struct baseline_failure){ command, &a->step, "" }, &a->err);
	return 0;
}

/* Plays the baseline or solution in an episode, up to the submission. */
static int attempt_make(struct attempt *a, const struct task_file *files, size_t n_files,
		const char *command)
{
	int r = fh_env_reset(a->env, NULL, &a->step, &a->err);

	if (r < 0)
		return r;
	r = env_put_files(a->env, files, n_files, &a->err);
	if (r < 0)
		return r;
	return attempt_step(a, command, (double)a->task->training_timeout_ms / 1000);
}

static int attempt_make_solution(struct attempt *a)
{
	const struct task *task = a->task;

	return attempt_make(a, task->solution, task->n_solution, task->solution_command);
}

static int attempt_submit(struct attempt *a)
{
	int r = fh_env_submit(a->env, &a->step, &a->err);

	if (r < 0)
		return r;
	if (!a->step.score)
		return error_say(&a->err, EINVAL, "it can't be scored: %s",
				a->step.grade_error ? a->step.grade_error
						    : "nothing was submitted");
	return 0;
}

int attempt_baseline(struct attempt *a)
{
	const struct task *task = a->task;
	int r = attempt_make(
			a, task->baseline_files, task->n_baseline_files, task->baseline_command);

	if (r < 0)
		return r;
	return attempt_submit(a);
}

int attempt_solution(struct attempt *a)
{
	int r = attempt_make_solution(a);

	if (r < 0)
		return r;
	return attempt_submit(a);
}

/* Compares the last step's score with an earlier one, except for the metric of CPU time. -EDOM:
 * they differ. */
static int attempt_compare(struct attempt *a, const struct score *before)
{
	for (size_t i = 0; i < a->step.n_score; i++) {
		const struct fh_metric *now = &a->step.score[i];
		const double *then = score_find(before, now->name);

		if (a->task->grader.cpu_metric && str_eq(now->name, a->task->grader.cpu_metric))
			continue;
		if (!then || *then != now->value)
			return error_say(&a->err, EDOM,
					"two gradings of the same submission differ: %s was %.9g, then %.9g",
					now->name, then ? *then : NAN, now->value);
	}
	return 0;
}

/* Makes the solution's submission, and appends its hash as the agent's sandbox prints it. */
static int attempt_hash_solution(struct attempt *a, struct buf *out)
{
	auto_buf struct buf command = BUF_INIT(FH_ACTION_BYTES_MAX);
	int r = attempt_make_solution(a);

	if (r < 0)
		return r;
	buf_add_str(&command, "sha256sum -- ");
	pytext_add_quoted(&command, a->task->grader.submission);
	r = attempt_step(a, buf_str(&command), 0);
	if (r < 0)
		return r;
	buf_add_str(out, a->step.observation);
	return 0;
}

int attempt_grade_twice(struct attempt *a, bool *out_same)
{
	auto_buf struct buf first = BUF_INIT(ATTEMPT_SHOWN_BYTES_MAX),
			    second = BUF_INIT(ATTEMPT_SHOWN_BYTES_MAX);
	auto_score struct score before = { .n = 0 };
	int r = attempt_hash_solution(a, &first);

	if (r < 0)
		return r;
	r = attempt_submit(a);
	if (r < 0)
		return r;
	score_copy(&before, a->step.score, a->step.n_score);
	r = attempt_hash_solution(a, &second);
	if (r < 0)
		return r;
	r = attempt_submit(a);
	if (r < 0)
		return r;
	*out_same = buf_equal(&first, &second);
	return *out_same ? attempt_compare(a, &before) : 0;
}

/* Validates the submission again, if the task allows that, and compares the score with `before`. */
static int attempt_validate_again(struct attempt *a, const struct score *before)
{
	int r;

	if (a->task->grader.validations == 1)
		return 0;
	r = fh_env_validate(a->env, &a->step, &a->err);
	if (r < 0)
		return r;
	return attempt_compare(a, before);
}

int attempt_validate_twice(struct attempt *a)
{
	auto_score struct score before = { .n = 0 };
	bool final = a->task->grader.final;
	int r = attempt_make_solution(a);

	if (r < 0)
		return r;
	r = fh_env_validate(a->env, &a->step, &a->err);
	if (r < 0)
		return r;
	score_copy(&before, a->step.score, a->step.n_score);
	r = final ? attempt_validate_again(a, &before) : 0;
	if (r < 0)
		return r;
	r = attempt_submit(a);
	if (r < 0)
		return r;
	return final ? 0 : attempt_compare(a, &before);
}
