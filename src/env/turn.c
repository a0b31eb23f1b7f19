/* SPDX-License-Identifier: Apache-2.0 */
#include "env/turn.h"

#include "base/clock.h"
#include "base/hide.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/observe.h"
#include "env/state.h"
#include "inside/places.h"
#include "web/papers.h"

#include <errno.h>
#include <sys/mman.h>

/* --- begin and end ---------------------------------------------------------------------------- */

int turn_check_idle(const struct fh_env *env, struct fh_error *err)
{
	int r = gym_check_process(env->spec.gym, err);

	if (r < 0)
		return r;
	if (env->turn.work != WORK_NONE)
		return error_say(err, EBUSY,
				"the call that was started in this environment has not ended yet");
	if (!env->is_open)
		return error_say(err, EPROTO, "the environment is not open");
	return 0;
}

int turn_check_reset(const struct fh_env *env, struct fh_error *err)
{
	int r = turn_check_idle(env, err);

	if (r < 0)
		return r;
	if (env->episode.phase == PHASE_NONE)
		return error_say(err, EPROTO, "there is no episode: reset comes first");
	return 0;
}

void turn_set_polled(struct fh_env *env, bool polled)
{
	if (!polled)
		turn_forget(env);
	env->polled = polled;
	atomic_store(&env->interrupter->polled, polled);
}

bool turn_is_interrupted(const struct fh_env *env)
{
	return cancel_is_asked(&env->interrupter->cancel);
}

bool turn_take_interrupt(struct fh_env *env)
{
	return cancel_take(&env->interrupter->cancel);
}

bool turn_was_interrupted(struct fh_env *env)
{
	if (!turn_take_interrupt(env))
		return false;
	env->turn.cancelled = true;
	env->result.step.outcome = FH_OUTCOME_INTERRUPTED;
	observe_note(&env->result.observation,
			"(Nothing was run: the step was interrupted before.)");
	return true;
}

static void turn_drop_file(struct fh_env *env)
{
	if (env->file.n)
		munmap(env->file.data, env->file.n);
	env->file.data = NULL;
	env->file.n = 0;
}

void turn_begin(struct fh_env *env, enum turn kind)
{
	turn_drop_file(env);
	env_result_begin(&env->result, env->episode.n_steps);
	grade_free(take_ptr(env->scoring.grade));
	env->turn.failure.code = 0;
	env->turn.cancelled = false;
	if (kind == TURN_RESET && !env->interrupter_is_lent)
		turn_take_interrupt(env);
	setup_begin_turn(&env->setup, kind == TURN_RESET);
	env->turn.kind = kind;
	env->turn.requests = 0;
	env->turn.started_ns = clock_now_ns();
}

/*
 * Returns the API key of the search for papers, which must not be shown. NULL: no key, or the tools
 * have no web access.
 */
static const char *turn_papers_key(const struct fh_env *env)
{
	return env->spec.web_hosts ? papers_key() : NULL;
}

void turn_hide(const struct fh_env *env, struct buf *text)
{
	hide_secret(text, env->hidden);
	hide_secret(text, turn_papers_key(env));
}

static void turn_hide_secrets(struct fh_env *env)
{
	char *const texts[] = { env->setup.state, env->setup.open_file, env->episode.working_dir };

	turn_hide(env, &env->result.observation);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		hide_in_text(texts[i], env->hidden);
		hide_in_text(texts[i], turn_papers_key(env));
	}
}

void turn_finish(struct fh_env *env)
{
	struct buf *text = &env->result.observation;
	struct fh_step *step = &env->result.step;

	env_episode_add_usage(&env->episode, env->turn.started_ns, step);
	/* Drop the last newline: MLGym's observations end without one. */
	if (env->spec.task->task->mlgym && env->turn.kind != TURN_ASIDE && text->len &&
			text->data[text->len - 1] == '\n')
		text->data[--text->len] = '\0';
	turn_hide_secrets(env);
	step->observation = buf_str(text);
	step->observation_bytes = text->len;
	step->open_file = env->setup.open_file ? env->setup.open_file : "n/a";
	step->working_dir = env->episode.working_dir;
	step->tools_state = env->setup.state;
	step->state_error = env->setup.state_error;
	scoring_put(&env->scoring);
	step->integrity = env->result.integrity.len ? env->result.integrity.data : NULL;
	step->duration_s = (double)(clock_now_ns() - env->turn.started_ns) / 1e9;
	env->turn.work = WORK_DONE;
}

void turn_fail(struct fh_env *env, const struct fh_error *err)
{
	env->turn.failure = *err;
	turn_drop(env);
	env->turn.work = WORK_DONE;
}

/* --- the shell -------------------------------------------------------------------------------- */

bool turn_is_in_shell(const struct env_turn *turn)
{
	return turn->work == WORK_COMMAND || turn->work == WORK_SETUP;
}

void turn_note_shell(struct fh_env *env, const struct session_result *result)
{
	const char *dir = result->restarted ? GUEST_WORKSPACE : result->cwd;

	if (!str_eq(dir, env->episode.working_dir))
		xstrset(&env->episode.working_dir, dir);
	if (result->restarted) {
		env->result.step.restarted = true;
		/*
		 * Have the poller add the session's descriptors again: a new shell may have others.
		 */
		env->item.registered = false;
	}
}

int turn_set_up(struct fh_env *env, bool new_shell, struct fh_error *err)
{
	int r = setup_begin(&env->setup, env->episode.session, new_shell, err);

	if (r > 0)
		env->turn.work = WORK_SETUP;
	return r;
}

int turn_set_up_advance(struct fh_env *env, struct fh_error *err)
{
	const struct session_result *result;

	if (!session_advance(env->episode.session))
		return 1;
	result = session_result(env->episode.session);
	env->turn.requests |= result->requests;
	turn_note_shell(env, result);
	return setup_take(&env->setup, env->episode.session, env->turn.cancelled, err);
}

/* --- the memory ------------------------------------------------------------------------------- */

static void turn_note_not_kept(struct fh_env *env, const struct fh_error *err)
{
	observe_note(&env->result.observation, "(The memory was not kept: %s)", err->message);
}

bool turn_keep_memory(struct fh_env *env)
{
	struct fh_error err;

	if (!env->memory.is_kept || env->episode.phase != PHASE_ON)
		return false;
	if (memory_keep_begin(&env->memory, env->episode.sb, &err) < 0) {
		turn_note_not_kept(env, &err);
		return false;
	}
	env->turn.work = WORK_MEMORY;
	return true;
}

bool turn_memory_is_kept(struct fh_env *env)
{
	struct fh_error err;
	int r = memory_keep_advance(&env->memory, env->episode.sb, &err);

	if (r < 0)
		turn_note_not_kept(env, &err);
	return r <= 0;
}

/* --- dropping --------------------------------------------------------------------------------- */

static void turn_unwatch_sandbox(struct fh_env *env)
{
	int fds[SANDBOX_FDS] = { -1, -1 };

	if (env->item.polled && env->episode.sb)
		sandbox_fds(env->episode.sb, fds);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		poller_unwatch(&env->spec.gym->poller, fds[i]);
}

void turn_close_sandbox(struct fh_env *env)
{
	turn_unwatch_sandbox(env);
	sandbox_close(take_ptr(env->episode.sb));
}

void turn_forget(struct fh_env *env)
{
	turn_unwatch_sandbox(env);
	poller_forget(&env->spec.gym->poller, &env->item);
}

void turn_end_episode(struct fh_env *env)
{
	turn_drop_file(env);
	grade_free(take_ptr(env->scoring.grade));
	calls_drop(&env->calls, env->episode.sb);
	gateway_forget(&env->gateway);
	session_free(take_ptr(env->episode.session));
	turn_close_sandbox(env);
	env->episode.phase = PHASE_NONE;
	env->turn.work = WORK_NONE;
}

void turn_drop(struct fh_env *env)
{
	turn_forget(env);
	turn_end_episode(env);
}
