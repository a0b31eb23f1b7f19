/* SPDX-License-Identifier: Apache-2.0 */
#include "env/drive.h"

#include "base/clock.h"
#include "base/job.h"
#include "base/scope.h"
#include "env/aside.h"
#include "env/reset.h"
#include "env/state.h"
#include "env/step.h"
#include "web/fetch.h"

#include <errno.h>
#include <limits.h>

/* Longest time until an interrupt is noticed if there is no descriptor left for it. */
#define SLICE_NS (200 * NS_PER_MS)

/* --- the state machine ------------------------------------------------------------------------ */

static struct fh_env *drive_of(struct poll_item *item)
{
	return (struct fh_env *)(void *)((char *)item - offsetof(struct fh_env, item));
}

static_assert(SANDBOX_FDS + FETCH_FDS + GRADE_FDS < WAITS_MAX, "a command waits for too much");

static void drive_waits(struct poll_item *item, struct waits *w)
{
	const struct fh_env *env = drive_of(item);

	switch (env->turn.work) {
	case WORK_OPEN:
		waits_add(w, job_fd(env->opening), POLLIN);
		break;
	case WORK_START:
	case WORK_GATEWAY:
		sandbox_waits(env->episode.sb, w);
		waits_until(w, env->turn.deadline_ns);
		break;
	case WORK_FILES:
		memory_waits(&env->memory, env->episode.sb, w);
		waits_until(w, env->turn.deadline_ns);
		break;
	case WORK_COMMAND:
		session_waits(env->episode.session, w);
		calls_waits(&env->calls, w);
		if (env->scoring.grade) /* beside an agent's command */
			grade_waits(env->scoring.grade, w);
		break;
	case WORK_SETUP:
		session_waits(env->episode.session, w);
		break;
	case WORK_EDITOR:
	case WORK_FILE:
		sandbox_answer_waits(env->episode.sb, w);
		break;
	case WORK_MEMORY:
		memory_waits(&env->memory, env->episode.sb, w);
		break;
	case WORK_GRADE:
		grade_waits(env->scoring.grade, w);
		break;
	case WORK_NONE:
	case WORK_DONE:
		break;
	}
}

/* Takes the result of the thread that opened the environment. */
static void drive_opened(struct fh_env *env)
{
	if (env->item.polled)
		poller_unwatch(&env->spec.gym->poller, job_fd(env->opening));
	env->turn.failure.code = 0;
	env->is_open = job_end(take_ptr(env->opening), &env->turn.failure) == 0;
	env->turn.work = WORK_DONE;
}

static void drive_cancel(struct fh_env *env)
{
	switch (env->turn.kind) {
	case TURN_RESET:
		reset_cancel(env);
		break;
	case TURN_STEP:
	case TURN_ASIDE:
		step_cancel(env);
		break;
	case TURN_OPEN:
	case TURN_LEAVE:
		break;
	}
}

/* Ends a turn because the environment that lent its interrupter was interrupted. */
static bool drive_give_up(struct fh_env *env)
{
	struct fh_error err;

	cancel_refuse(&err);
	turn_fail(env, &err);
	return true;
}

/* Does work of the turn that does not block. True: the turn has ended (WORK_DONE). */
static bool drive_advance(struct poll_item *item)
{
	struct fh_env *env = drive_of(item);

	if (env->interrupter_is_lent && turn_is_interrupted(env))
		return drive_give_up(env);
	/* The thread that opens an environment looks for interrupts itself. */
	if (env->turn.kind != TURN_OPEN && turn_take_interrupt(env))
		drive_cancel(env);
	switch (env->turn.kind) {
	case TURN_OPEN:
		if (job_is_over(env->opening))
			drive_opened(env);
		break;
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
		if (env->turn.work == WORK_MEMORY && turn_memory_is_kept(env)) {
			env->episode.phase = PHASE_OVER;
			env->turn.work = WORK_DONE;
		}
		break;
	}
	return env->turn.work == WORK_DONE;
}

static int drive_take(struct fh_env *env, struct fh_step *out, struct fh_error *err)
{
	env->turn.work = WORK_NONE;
	if (!env->interrupter_is_lent)
		turn_take_interrupt(env);
	if (env->turn.failure.code < 0) {
		if (err)
			*err = env->turn.failure;
		return env->turn.failure.code;
	}
	if (env->turn.kind != TURN_OPEN && out)
		*out = env->result.step;
	return 0;
}

/* --- one environment -------------------------------------------------------------------------- */

/*
 * Sleeps until the turn may go on. An opening is not woken by an interrupt: the thread that opens
 * the environment is, and ends. Returns false if a signal arrived.
 */
static bool drive_sleep(struct fh_env *env, int64_t deadline_ns)
{
	struct cancel *cancel = &env->interrupter->cancel;
	bool wakes = env->turn.kind != TURN_OPEN, quiet;
	struct waits w = WAITS_INIT;

	drive_waits(&env->item, &w);
	waits_until(&w, deadline_ns);
	if (wakes) {
		waits_add(&w, cancel_fd(cancel), POLLIN);
		if (cancel_fd(cancel) < 0)
			waits_until(&w, clock_now_ns() + SLICE_NS);
		if (turn_is_interrupted(env))
			return true;
	}
	quiet = waits_poll(&w);
	/* Read the descriptor before the next look for an interrupt. The request of an opening
	 * stays, so its descriptor does, too. */
	if (wakes && !env->interrupter_is_lent && w.fds[w.n - 1].revents)
		cancel_drain(cancel);
	return quiet;
}

/*
 * Drives the turn until its end. Returns false if the deadline has passed before, or a signal has
 * arrived.
 */
static bool drive_drive(struct fh_env *env, int64_t deadline_ns)
{
	bool quiet = true;

	while (env->turn.work != WORK_DONE) {
		if (!deadline_ns || !turn_is_in_shell(&env->turn) ||
				!session_await_quick(env->episode.session))
			quiet = drive_sleep(env, deadline_ns);
		if (drive_advance(&env->item))
			break;
		if (!quiet || (deadline_ns != INT64_MAX && clock_now_ns() >= deadline_ns))
			return false;
	}
	return true;
}

int env_block(struct fh_env *env, int r, struct fh_step *out, struct fh_error *err)
{
	if (r < 0)
		return r;
	while (!drive_drive(env, INT64_MAX))
		;
	return drive_take(env, out, err);
}

int fh_env_wait(struct fh_env *env, int timeout_ms, struct fh_error *err)
{
	int64_t deadline_ns = INT64_MAX;
	int r = gym_check_process(env->spec.gym, err);

	if (r < 0)
		return r;
	if (env->turn.work == WORK_NONE)
		return error_say(err, EPROTO, "nothing was started");
	if (env->polled)
		return error_say_kind(err, FH_ERROR_STATE, EPROTO,
				"this environment is polled: wait for it by fh_gym_wait()");
	if (timeout_ms >= 0)
		deadline_ns = timeout_ms ? clock_now_ns() + timeout_ms * NS_PER_MS : 0;
	return drive_drive(env, deadline_ns);
}

int fh_env_end(struct fh_env *env, struct fh_step *out, struct fh_error *err)
{
	int r = gym_check_process(env->spec.gym, err);

	if (r < 0)
		return r;
	if (env->turn.work == WORK_NONE)
		return error_say(err, EPROTO, "nothing was started");
	if (env->turn.work != WORK_DONE)
		return error_say(err, EBUSY, "the call that was started has not ended yet");
	poller_untake(&env->item);
	return drive_take(env, out, err);
}

/* --- many environments ------------------------------------------------------------------------ */

static void drive_item_fail(struct poll_item *item, const struct fh_error *err)
{
	struct fh_env *env = drive_of(item);

	if (env->turn.kind != TURN_OPEN) {
		turn_fail(env, err);
		return;
	}
	/* Leave the episode alone: the thread that opens the environment uses it. */
	env->turn.failure = *err;
	env->turn.work = WORK_DONE;
}

static bool drive_item_is_quick(struct poll_item *item)
{
	return drive_of(item)->turn.work == WORK_COMMAND;
}

static void drive_item_waits_awake(struct poll_item *item, struct waits *w)
{
	session_waits_awake(drive_of(item)->episode.session, w);
}

static bool drive_item_answered(struct poll_item *item)
{
	return session_answered(drive_of(item)->episode.session);
}

static void drive_item_await_answer(struct poll_item *item)
{
	session_await_quick(drive_of(item)->episode.session);
}

static bool drive_item_is_interrupted(struct poll_item *item)
{
	return turn_is_interrupted(drive_of(item));
}

static const struct poll_ops env_poll_ops = {
	.waits = drive_waits,
	.advance = drive_advance,
	.fail = drive_item_fail,
	.is_quick = drive_item_is_quick,
	.waits_awake = drive_item_waits_awake,
	.answered = drive_item_answered,
	.await_answer = drive_item_await_answer,
	.is_interrupted = drive_item_is_interrupted,
};

int env_start(struct fh_env *env, int r)
{
	struct poller *p = &env->spec.gym->poller;

	if (r < 0 || !env->polled)
		return r;
	env->item.ops = &env_poll_ops;
	if (env->turn.work == WORK_DONE)
		poller_add_done(p, &env->item);
	else
		poller_add(p, &env->item);
	return 0;
}

int fh_env_set_polled(struct fh_env *env, bool polled, struct fh_error *err)
{
	bool leaves = !polled && env->turn.kind != TURN_OPEN;
	int r = leaves ? gym_check_process(env->spec.gym, err) : turn_check_idle(env, err);

	if (r < 0)
		return r;
	turn_set_polled(env, polled);
	return 0;
}

int fh_gym_fd(struct fh_gym *gym)
{
	int r = gym_check_process(gym, NULL);

	return r < 0 ? r : poller_fd(&gym->poller, false);
}

int fh_gym_lazy_fd(struct fh_gym *gym)
{
	int r = gym_check_process(gym, NULL);

	return r < 0 ? r : poller_fd(&gym->poller, true);
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
		out_done[n++] = drive_of(item);
	poller_end_wait(&gym->poller);
	return (int)n;
}
