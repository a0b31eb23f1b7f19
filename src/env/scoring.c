/* SPDX-License-Identifier: Apache-2.0 */
#include "env/scoring.h"

#include "base/clock.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/observe.h"
#include "env/turn.h"
#include "grade/key.h"

#define TEXT_BYTES_MAX (1 << 20)

int scoring_begin(struct fh_env *env, const char *reason, struct fh_error *err)
{
	const struct env_spec *spec = &env->spec;
	bool final = !str_eq(reason, REASON_VALIDATE);

	env->reason = reason;
	env->grading_ns = clock_now_ns();
	if (final)
		scores_end(&env->scores, spec->task->task);
	judge_key(&spec->gym->secret, spec->task->hash, &env->history, env->judge_key);
	return grade_begin(
			&(struct grade_request){
					.owner = spec->gym->owner,
					.task = spec->task->task,
					.layer = spec->task->layer,
					.binds = spec->binds,
					.n_binds = spec->n_binds,
					.python = spec->python,
					.gpus = spec->gpus,
					.n_gpus = spec->n_gpus,
					.episode = env->sb,
					.judge_key = env->judge_key,
					.final = final,
			},
			&env->grade, err);
}

static void scoring_add_time(struct fh_env *env)
{
	env->step.grading_s += (double)(clock_now_ns() - env->grading_ns) / 1e9;
}

void scoring_take(struct fh_env *env, const struct grade_result *result, struct buf *text)
{
	struct fh_step *step = &env->step;

	scoring_add_time(env);
	if (result->verdict == GRADE_SCORED) {
		step->reward += reward_take(&env->scores, env->spec.task->task, env->terms.reward,
				&env->baseline, result->score);
		step->score = result->score->metrics;
		step->n_score = result->score->n;
	} else {
		buf_add_str(&env->grade_error, result->text);
	}
	if (result->verdict == GRADE_BROKEN && *result->grader_log)
		buf_printf(&env->grade_error, "\n%s", result->grader_log);
	turn_note_integrity(env, result->integrity);
	observe_grade(text, result, env->spec.submission, &env->baseline);
}

const char *scoring_refuse(const struct fh_env *env, struct buf *room)
{
	int most = env->spec.task->task->grader.validations;

	if (!most || env->n_validated < most)
		return NULL;
	buf_printf(room,
			"Not scored: an episode may validate %d times, and this one has. "
			"`submit` still scores.",
			most);
	return buf_str(room);
}

/* --- beside an agent's command ---------------------------------------------------------------- */

/* Tells the owner of the run about a request, with the text that the agent gets. */
static void scoring_tell(struct fh_env *env, int request, struct buf *text)
{
	struct fh_step told;

	turn_put_scores(env);
	told = env->step;
	told.observation = buf_str(text);
	told.observation_bytes = text->len;
	told.duration_s = (double)(clock_now_ns() - env->grade_ns) / 1e9;
	env->on_request(env->on_call_user, request, &told);
}

/* Ends the grading, so that its scores don't count as those of the step's end. */
static void scoring_forget(struct fh_env *env)
{
	grade_free(take_ptr(env->grade));
	buf_clear(&env->grade_error);
	env->step.score = NULL;
	env->step.n_score = 0;
	turn_put_scores(env);
}

static void scoring_answer(struct fh_env *env, const struct grade_result *result)
{
	auto_buf struct buf text = BUF_INIT(TEXT_BYTES_MAX);

	scoring_take(env, result, &text);
	turn_hide(env, &text);
	calls_answer_validate(&env->calls, env->sb, &text, true);
	scoring_tell(env, REQUEST_VALIDATE, &text);
	scoring_forget(env);
}

static void scoring_on_validate(struct fh_env *env)
{
	auto_buf struct buf text = BUF_INIT(TEXT_BYTES_MAX);
	struct fh_error err;

	if (env->grade)
		buf_add_str(&text, "Not scored: an earlier validate is still being scored.");
	else
		scoring_refuse(env, &text);
	if (text.len) {
		calls_answer_validate(&env->calls, env->sb, &text, false);
		return;
	}
	env->n_validated++;
	env->grade_ns = clock_now_ns();
	/* Another validate of the same command gets other random numbers. */
	sha256_add_str(&env->history, REASON_VALIDATE);
	if (scoring_begin(env, REASON_VALIDATE, &err) < 0)
		scoring_answer(env,
				&(struct grade_result){ GRADE_BROKEN, .text = err.message,
						.grader_log = "" });
}

static void scoring_on_submit(struct fh_env *env)
{
	auto_buf struct buf text = BUF_INIT(TEXT_BYTES_MAX);

	buf_add_str(&text, "submit: the submission is scored when the command has ended.");
	env->requests |= REQUEST_SUBMIT;
	env->grade_ns = clock_now_ns();
	scoring_tell(env, REQUEST_SUBMIT, &text);
}

bool scoring_is_copying(const struct fh_env *env)
{
	return env->grade && grade_is_copying(env->grade);
}

void scoring_beside(struct fh_env *env)
{
	if (!env->calls.validates)
		return;
	if (session_take_request(env->session, REQUEST_SUBMIT))
		scoring_on_submit(env);
	if (calls_take_validate(&env->calls))
		scoring_on_validate(env);
	if (env->grade && grade_advance(env->grade))
		scoring_answer(env, grade_result(env->grade));
}

void scoring_waits(const struct fh_env *env, struct waits *w)
{
	if (env->grade)
		grade_waits(env->grade, w);
}

void scoring_end_beside(struct fh_env *env)
{
	env->calls.validates = false;
	if (!env->grade)
		return;
	scoring_add_time(env);
	scoring_forget(env);
	env->n_validated--;
	if (!env->cancelled)
		env->requests |= REQUEST_VALIDATE;
}
