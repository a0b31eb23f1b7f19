/* SPDX-License-Identifier: Apache-2.0 */
#include "env/env.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/sized.h"
#include "env/aside.h"
#include "env/drive.h"
#include "env/names.h"
#include "env/observe.h"
#include "env/reset.h"
#include "env/step.h"
#include "env/turn.h"
#include "web/fetch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest time until a blocking call notices fh_env_interrupt(), which has no descriptor to wake
 * it. */
#define SLICE_NS (200 * NS_PER_MS)

/* --- the state machine ------------------------------------------------------------------------ */

static struct fh_env *env_of(struct poll_item *item)
{
	return (struct fh_env *)(void *)((char *)item - offsetof(struct fh_env, item));
}

static_assert(SANDBOX_FDS + FETCH_FDS <= WAITS_MAX, "a command waits for too much");

static void env_waits(struct poll_item *item, struct waits *w)
{
	const struct fh_env *env = env_of(item);

	switch (env->work) {
	case WORK_START:
		sandbox_waits(env->sb, w);
		waits_until(w, env->deadline_ns);
		break;
	case WORK_FILES:
		memory_waits(&env->memory, env->sb, w);
		waits_until(w, env->deadline_ns);
		break;
	case WORK_COMMAND:
		session_waits(env->session, w);
		calls_waits(&env->calls, w);
		break;
	case WORK_SETUP:
		session_waits(env->session, w);
		break;
	case WORK_EDITOR:
	case WORK_FILE:
		sandbox_answer_waits(env->sb, w);
		break;
	case WORK_MEMORY:
		memory_waits(&env->memory, env->sb, w);
		break;
	case WORK_GRADE:
		grade_waits(env->grade, w);
		break;
	case WORK_NONE:
	case WORK_DONE:
		break;
	}
}

/* Does work of the reset or step that does not block. True: the reset or step has ended
 * (WORK_DONE). */
static bool env_advance(struct poll_item *item)
{
	struct fh_env *env = env_of(item);

	if (atomic_load_explicit(&env->item.interrupted, memory_order_relaxed)) {
		atomic_store(&env->item.interrupted, false);
		step_cancel(env);
	}
	switch (env->turn) {
	case TURN_RESET:
		reset_advance(env);
		break;
	case TURN_STEP:
		step_advance(env);
		break;
	case TURN_ASIDE:
		aside_advance(env);
		break;
	case TURN_LEAVE:
		if (env->work == WORK_MEMORY && turn_memory_is_kept(env)) {
			env->phase = PHASE_OVER;
			env->work = WORK_DONE;
		}
		break;
	}
	return env->work == WORK_DONE;
}

static int env_take(struct fh_env *env, struct fh_step *out, struct fh_error *err)
{
	env->work = WORK_NONE;
	if (env->failure.code < 0) {
		if (err)
			*err = env->failure;
		return env->failure.code;
	}
	*out = env->step;
	return 0;
}

void fh_env_interrupt(struct fh_env *env)
{
	if (gym_check_process(env->spec.gym, NULL) == 0)
		poller_interrupt(&env->spec.gym->poller, &env->item);
}

/* --- beginnings ------------------------------------------------------------------------------- */

static int env_begin_reset(struct fh_env *env, const struct fh_reset *reset, struct fh_error *err)
{
	struct fh_reset read;
	int r;

	err = error_or(err, &(struct fh_error)FH_ERROR_INIT);
	r = SIZED_READ(fh_reset, &read, reset, err);
	return r < 0 ? r : reset_begin(env, &read, err);
}

static int env_begin_step(struct fh_env *env, const struct fh_action *action, struct fh_error *err)
{
	struct fh_action read;
	int r = SIZED_READ(fh_action, &read, action, err);

	return r < 0 ? r : step_begin(env, &read, err);
}

/* --- the blocking form of the API ------------------------------------------------------------- */

int env_block(struct fh_env *env, int r, struct fh_step *out, struct fh_error *err)
{
	if (r < 0)
		return r;
	while (env->work != WORK_DONE) {
		struct waits w = WAITS_INIT;

		if (!turn_is_in_shell(env) || !session_await_quick(env->session)) {
			env_waits(&env->item, &w);
			waits_until(&w, clock_now_ns() + SLICE_NS);
			waits_poll(&w);
		}
		env_advance(&env->item);
	}
	return env_take(env, out, err);
}

int fh_env_reset(struct fh_env *env, const struct fh_reset *reset, struct fh_step *out,
		struct fh_error *err)
{
	return env_block(env, env_begin_reset(env, reset, err), out, err);
}

int fh_env_step(struct fh_env *env, const struct fh_action *action, struct fh_step *out,
		struct fh_error *err)
{
	return env_block(env, env_begin_step(env, action, err), out, err);
}

int fh_env_validate(struct fh_env *env, struct fh_step *out, struct fh_error *err)
{
	return env_block(env, step_begin_request(env, REQUEST_VALIDATE, err), out, err);
}

int fh_env_submit(struct fh_env *env, struct fh_step *out, struct fh_error *err)
{
	return env_block(env, step_begin_request(env, REQUEST_SUBMIT, err), out, err);
}

/* --- the pollable form of the API ------------------------------------------------------------- */

static void env_item_fail(struct poll_item *item, const struct fh_error *err)
{
	turn_fail(env_of(item), err);
}

static bool env_item_is_quick(struct poll_item *item)
{
	return env_of(item)->work == WORK_COMMAND;
}

static void env_item_waits_awake(struct poll_item *item, struct waits *w)
{
	session_waits_awake(env_of(item)->session, w);
}

static bool env_item_answered(struct poll_item *item)
{
	return session_answered(env_of(item)->session);
}

static void env_item_await_answer(struct poll_item *item)
{
	session_await_quick(env_of(item)->session);
}

static const struct poll_ops env_poll_ops = {
	.waits = env_waits,
	.advance = env_advance,
	.fail = env_item_fail,
	.is_quick = env_item_is_quick,
	.waits_awake = env_item_waits_awake,
	.answered = env_item_answered,
	.await_answer = env_item_await_answer,
};

/* Adds the environment to the poller, which drives its reset or step. `r`: result of the function
 * that began it. */
int env_poll(struct fh_env *env, int r)
{
	struct poller *p = &env->spec.gym->poller;

	if (r < 0)
		return r;
	env->item.ops = &env_poll_ops;
	if (env->work == WORK_DONE)
		poller_add_done(p, &env->item);
	else
		poller_add(p, &env->item);
	return 0;
}

int fh_env_reset_start(struct fh_env *env, const struct fh_reset *reset, struct fh_error *err)
{
	return env_poll(env, env_begin_reset(env, reset, err));
}

int fh_env_step_start(struct fh_env *env, const struct fh_action *action, struct fh_error *err)
{
	return env_poll(env, env_begin_step(env, action, err));
}

int fh_env_validate_start(struct fh_env *env, struct fh_error *err)
{
	return env_poll(env, step_begin_request(env, REQUEST_VALIDATE, err));
}

int fh_env_submit_start(struct fh_env *env, struct fh_error *err)
{
	return env_poll(env, step_begin_request(env, REQUEST_SUBMIT, err));
}

int fh_gym_fd(struct fh_gym *gym)
{
	int r = gym_check_process(gym, NULL);

	return r < 0 ? r : poller_fd(&gym->poller);
}

int fh_gym_wait(struct fh_gym *gym, int timeout_ms, struct fh_env **out_done, size_t max,
		struct fh_error *err)
{
	struct poll_item *item;
	size_t n = 0;
	int r = gym_check_process(gym, err);

	if (r < 0)
		return r;
	if (max == 0 || max > INT_MAX)
		return error_say(
				err, EINVAL, "fh_gym_wait needs room for at least one environment");
	r = poller_wait(&gym->poller, timeout_ms, err);
	if (r < 0)
		return r;
	while (n < max && (item = poller_take(&gym->poller)))
		out_done[n++] = env_of(item);
	poller_end_wait(&gym->poller);
	return (int)n;
}

int fh_env_end(struct fh_env *env, struct fh_step *out, struct fh_error *err)
{
	int r = gym_check_process(env->spec.gym, err);

	if (r < 0)
		return r;
	if (env->work == WORK_NONE)
		return error_say(err, EPROTO, "nothing was started");
	if (env->work != WORK_DONE)
		return error_say(err, EBUSY, "the reset or step has not ended yet");
	poller_untake(&env->item);
	return env_take(env, out, err);
}

bool env_leave_begin(struct fh_env *env)
{
	if (env->work != WORK_NONE || !turn_keep_memory(env))
		return false;
	env->turn = TURN_LEAVE;
	env->failure.code = 0;
	snprintf(env->exit_status, sizeof(env->exit_status), "early_exit");
	return env_poll(env, 0) == 0;
}

/* --- functions that run no turn --------------------------------------------------------------- */

int env_set_setup(struct fh_env *env, const struct env_setup *setup, struct fh_error *err)
{
	int r = turn_check_idle(env, err);

	return r < 0 ? r : setup_set(&env->setup, setup, err);
}

const char *env_multiline_end(const struct fh_env *env, const char *line)
{
	return setup_multiline_end(&env->setup, line);
}

void env_hide(struct fh_env *env, const char *secret)
{
	if (env->hidden)
		explicit_bzero(env->hidden, strlen(env->hidden));
	free(env->hidden);
	env->hidden = secret ? xstrdup(secret) : NULL;
}

struct fh_gym *env_gym(const struct fh_env *env)
{
	return env->spec.gym;
}

enum fh_reward_kind env_reward(const struct fh_env *env)
{
	return env->terms.reward;
}

const struct task *env_task(const struct fh_env *env)
{
	return env->spec.task->task;
}

const struct buf *env_memory(const struct fh_env *env)
{
	return memory_began(&env->memory);
}

void env_output(struct fh_env *env, struct buf *out)
{
	const struct buf *output;
	struct buf lines = BUF_INIT(0);
	const char *last;

	if (env->work != WORK_COMMAND)
		return;
	output = session_output(env->session);
	if (output->len == env->n_watched)
		return;
	lines.data = output->data + env->n_watched;
	last = memrchr(lines.data, '\n', output->len - env->n_watched);
	if (!last)
		return;
	lines.len = (size_t)(last + 1 - lines.data);
	env->n_watched += lines.len;
	observe_output(out, &env->folded, env->spec.task->task, &lines);
	/* Add the newline: MLGym's observations drop the last one. */
	if (out->len && out->data[out->len - 1] != '\n')
		buf_add_char(out, '\n');
	turn_hide(env, out);
}

void env_names(struct fh_env *env, const char *start, struct buf *out)
{
	if (env && env->work == WORK_NONE && env->phase == PHASE_ON)
		names_complete(env->sb, env->working_dir, start, out);
}

const char *fh_outcome_name(enum fh_outcome outcome)
{
	static const char *const names[] = {
		[FH_OUTCOME_OK] = "ok",
		[FH_OUTCOME_TIMEOUT] = "timeout",
		[FH_OUTCOME_OUTPUT_LIMIT] = "output_limit",
		[FH_OUTCOME_SHELL_RESTARTED] = "shell_restarted",
		[FH_OUTCOME_MEMORY_LIMIT] = "memory_limit",
		[FH_OUTCOME_MALFORMED_EDIT] = "malformed_edit",
		[FH_OUTCOME_SYNTAX_ERROR] = "syntax_error",
		[FH_OUTCOME_SANDBOX_GONE] = "sandbox_gone",
		[FH_OUTCOME_INTERRUPTED] = "interrupted",
	};

	return (size_t)outcome < ARRAY_SIZE(names) ? names[outcome] : "unknown";
}
