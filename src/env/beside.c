/* SPDX-License-Identifier: Apache-2.0 */
#include "env/beside.h"

#include "base/clock.h"
#include "env/state.h"

#define BESIDE_TEXT_BYTES_MAX (1 << 20)

/* Tells the owner of the run about a request, with the text that the agent gets. */
static void beside_tell(struct fh_env *env, int request, struct buf *text)
{
	struct fh_step told;

	scoring_put(&env->scoring);
	told = env->result.step;
	told.observation = buf_str(text);
	told.observation_bytes = text->len;
	told.duration_s = (double)(clock_now_ns() - env->agent.asked_ns) / 1e9;
	env->agent.on_request(env->agent.user, request, &told);
}

static void beside_answer(struct fh_env *env, const struct grade_result *result)
{
	auto_buf struct buf text = BUF_INIT(BESIDE_TEXT_BYTES_MAX);

	scoring_take(&env->scoring, result, &text);
	turn_hide(env, &text);
	calls_answer_validate(&env->calls, env->episode.sb, &text, true);
	beside_tell(env, REQUEST_VALIDATE, &text);
	scoring_forget(&env->scoring);
}

static void beside_on_validate(struct fh_env *env)
{
	auto_buf struct buf text = BUF_INIT(BESIDE_TEXT_BYTES_MAX);
	struct fh_error err;

	if (env->scoring.grade)
		buf_add_str(&text, "Not scored: an earlier validate is still being scored.");
	else
		scoring_refuse(&env->scoring, &text);
	if (text.len) {
		calls_answer_validate(&env->calls, env->episode.sb, &text, false);
		return;
	}
	env->episode.n_validated++;
	env->agent.asked_ns = clock_now_ns();
	/* Give each validate of a command different random numbers. */
	sha256_add_str(&env->episode.history, REASON_VALIDATE);
	if (scoring_begin(&env->scoring, REASON_VALIDATE, &err) < 0)
		beside_answer(env,
				&(struct grade_result){ GRADE_BROKEN, .text = err.message,
						.grader_log = "" });
}

static void beside_on_submit(struct fh_env *env)
{
	auto_buf struct buf text = BUF_INIT(BESIDE_TEXT_BYTES_MAX);

	buf_add_str(&text, "submit: the submission is scored when the command has ended.");
	env->turn.requests |= REQUEST_SUBMIT;
	env->agent.asked_ns = clock_now_ns();
	beside_tell(env, REQUEST_SUBMIT, &text);
}

void beside_advance(struct fh_env *env)
{
	if (!env->calls.validates)
		return;
	if (session_take_request(env->episode.session, REQUEST_SUBMIT))
		beside_on_submit(env);
	if (calls_take_validate(&env->calls))
		beside_on_validate(env);
	if (env->scoring.grade && grade_advance(env->scoring.grade))
		beside_answer(env, grade_result(env->scoring.grade));
}

void beside_end(struct fh_env *env)
{
	env->calls.validates = false;
	if (!env->scoring.grade)
		return;
	scoring_abandon(&env->scoring);
	if (!env->turn.cancelled)
		env->turn.requests |= REQUEST_VALIDATE;
}
