/* SPDX-License-Identifier: Apache-2.0 */
#include "env/turn.h"

#include "base/clock.h"
#include "base/hide.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/observe.h"
#include "inside/places.h"
#include "web/papers.h"

#include <errno.h>
#include <sys/mman.h>

/* If more bytes than this are allocated for an observation, they are freed before the next reset or
 * step. */
#define KEPT_BYTES (256 << 10)

/* --- begin and end ---------------------------------------------------------------------------- */

int turn_check_idle(const struct fh_env *env, struct fh_error *err)
{
	int r = gym_check_process(env->spec.gym, err);

	if (r < 0)
		return r;
	if (env->work != WORK_NONE)
		return error_say(err, EBUSY,
				"what was started in this environment has not ended yet");
	if (!env->is_open)
		return error_say(err, EPROTO, "the environment is not open");
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
	env->cancelled = true;
	env->step.outcome = FH_OUTCOME_INTERRUPTED;
	observe_note(&env->observation, "(Nothing was run: the step was interrupted before.)");
	return true;
}

static void turn_drop_file(struct fh_env *env)
{
	if (env->n_file)
		munmap((void *)(uintptr_t)env->file, env->n_file);
	env->file = NULL;
	env->n_file = 0;
}

void turn_begin(struct fh_env *env, enum turn turn)
{
	turn_drop_file(env);
	if (env->observation.size > KEPT_BYTES) {
		buf_release(&env->observation);
		buf_release(&env->folded);
	}
	buf_clear(&env->observation);
	buf_clear(&env->integrity);
	buf_clear(&env->grade_error);
	grade_free(take_ptr(env->grade));
	env->failure.code = 0;
	env->cancelled = false;
	if (turn == TURN_RESET && !env->for_baseline)
		turn_take_interrupt(env);
	setup_begin_turn(&env->setup, turn == TURN_RESET);
	env->turn = turn;
	env->started_ns = clock_now_ns();
	env->step = (struct fh_step){ .step = env->n_steps, .exit_code = -1, .open_file = "n/a" };
}

static void turn_add_usage(struct fh_env *env)
{
	int64_t cpu_ns = sandbox_count(env->sb, SANDBOX_CPU_NS);
	bool quick = clock_now_ns() - env->started_ns < SESSION_QUICK_NS;

	if (cpu_ns >= 0 && cpu_ns - env->memory_cpu_ns < SESSION_QUICK_NS)
		quick = true;
	env->step.cpu_s = -1;
	if (cpu_ns >= 0 && env->cpu_ns >= 0)
		env->step.cpu_s = (double)(cpu_ns - env->cpu_ns) / 1e9;
	env->cpu_ns = cpu_ns;
	if (!quick || env->memory_peak_bytes < 0) {
		env->memory_peak_bytes = sandbox_count(env->sb, SANDBOX_MEMORY_PEAK);
		env->memory_cpu_ns = cpu_ns;
	}
	env->step.memory_peak_bytes = env->memory_peak_bytes;
	env->step.written_bytes = sandbox_count(env->sb, SANDBOX_WRITTEN_BYTES);
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
	char *const texts[] = { env->setup.state, env->setup.open_file, env->working_dir };

	turn_hide(env, &env->observation);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		hide_in_text(texts[i], env->hidden);
		hide_in_text(texts[i], turn_papers_key(env));
	}
}

void turn_put_scores(struct fh_env *env)
{
	struct fh_step *step = &env->step;

	step->baseline = env->baseline.metrics;
	step->n_baseline = env->baseline.n;
	step->best = env->scores.best.metrics;
	step->n_best = env->scores.best.n;
	step->final = env->scores.ended;
	step->validated = env->scores.validated.metrics;
	step->n_validated = env->scores.validated.n;
	step->gap = scores_gap(&env->scores, env->spec.task->task);
	step->grade_error = env->grade_error.len ? env->grade_error.data : NULL;
}

void turn_finish(struct fh_env *env)
{
	struct buf *text = &env->observation;
	struct fh_step *step = &env->step;

	turn_add_usage(env);
	/* Drop the last newline: MLGym's observations end without one. */
	if (env->spec.task->task->mlgym && env->turn != TURN_ASIDE && text->len &&
			text->data[text->len - 1] == '\n')
		text->data[--text->len] = '\0';
	turn_hide_secrets(env);
	step->observation = buf_str(text);
	step->observation_bytes = text->len;
	step->open_file = env->setup.open_file ? env->setup.open_file : "n/a";
	step->working_dir = env->working_dir;
	step->tools_state = env->setup.state;
	step->state_error = env->setup.state_error;
	turn_put_scores(env);
	step->integrity = env->integrity.len ? env->integrity.data : NULL;
	step->duration_s = (double)(clock_now_ns() - env->started_ns) / 1e9;
	env->work = WORK_DONE;
}

void turn_fail(struct fh_env *env, const struct fh_error *err)
{
	env->failure = *err;
	turn_drop(env);
	env->work = WORK_DONE;
}

/* --- the shell -------------------------------------------------------------------------------- */

void turn_note_integrity(struct fh_env *env, const char *text)
{
	if (text)
		buf_printf(&env->integrity, "%s%s", env->integrity.len ? "; " : "", text);
}

bool turn_is_in_shell(const struct fh_env *env)
{
	return env->work == WORK_COMMAND || env->work == WORK_SETUP;
}

static enum fh_outcome turn_outcome(enum session_outcome outcome)
{
	static const enum fh_outcome outcomes[] = {
		[SESSION_OK] = FH_OUTCOME_OK,
		[SESSION_TIMEOUT] = FH_OUTCOME_TIMEOUT,
		[SESSION_OUTPUT_LIMIT] = FH_OUTCOME_OUTPUT_LIMIT,
		[SESSION_RESTARTED] = FH_OUTCOME_SHELL_RESTARTED,
		[SESSION_MEMORY_LIMIT] = FH_OUTCOME_MEMORY_LIMIT,
		[SESSION_SYNTAX] = FH_OUTCOME_SYNTAX_ERROR,
		[SESSION_GONE] = FH_OUTCOME_SANDBOX_GONE,
	};

	return outcomes[outcome];
}

void turn_take_outcome(struct fh_env *env, const struct session_result *result)
{
	struct fh_step *step = &env->step;

	step->outcome = turn_outcome(result->outcome);
	if (env->cancelled && result->outcome != SESSION_GONE)
		step->outcome = FH_OUTCOME_INTERRUPTED;
	step->exit_code = result->exit_code;
	turn_note_integrity(env, result->integrity);
}

void turn_note_shell(struct fh_env *env, const struct session_result *result)
{
	const char *dir = result->restarted ? GUEST_WORKSPACE : result->cwd;

	if (!str_eq(dir, env->working_dir))
		xstrset(&env->working_dir, dir);
	if (result->restarted) {
		env->step.restarted = true;
		/*
		 * Have the poller add the session's descriptors again: a new shell may have others.
		 */
		env->item.registered = false;
	}
}

int turn_set_up(struct fh_env *env, bool new_shell, struct fh_error *err)
{
	int r = setup_begin(&env->setup, env->session, new_shell, err);

	if (r > 0)
		env->work = WORK_SETUP;
	return r;
}

int turn_set_up_advance(struct fh_env *env, struct fh_error *err)
{
	const struct session_result *result;

	if (!session_advance(env->session))
		return 1;
	result = session_result(env->session);
	env->requests |= result->requests;
	turn_note_shell(env, result);
	return setup_take(&env->setup, env->session, env->cancelled, err);
}

/* --- the memory ------------------------------------------------------------------------------- */

static void turn_note_not_kept(struct fh_env *env, const struct fh_error *err)
{
	observe_note(&env->observation, "(The memory was not kept: %s)", err->message);
}

bool turn_keep_memory(struct fh_env *env)
{
	struct fh_error err;

	if (!env->memory.is_kept || env->phase != PHASE_ON)
		return false;
	if (memory_keep_begin(&env->memory, env->sb, &err) < 0) {
		turn_note_not_kept(env, &err);
		return false;
	}
	env->work = WORK_MEMORY;
	return true;
}

bool turn_memory_is_kept(struct fh_env *env)
{
	struct fh_error err;
	int r = memory_keep_advance(&env->memory, env->sb, &err);

	if (r < 0)
		turn_note_not_kept(env, &err);
	return r <= 0;
}

/* --- dropping --------------------------------------------------------------------------------- */

static void turn_unwatch_sandbox(struct fh_env *env)
{
	int fds[SANDBOX_FDS] = { -1, -1 };

	if (env->item.polled && env->sb)
		sandbox_fds(env->sb, fds);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		poller_unwatch(&env->spec.gym->poller, fds[i]);
}

void turn_close_sandbox(struct fh_env *env)
{
	turn_unwatch_sandbox(env);
	sandbox_close(take_ptr(env->sb));
}

void turn_forget(struct fh_env *env)
{
	turn_unwatch_sandbox(env);
	poller_forget(&env->spec.gym->poller, &env->item);
}

void turn_end_episode(struct fh_env *env)
{
	turn_drop_file(env);
	grade_free(take_ptr(env->grade));
	calls_drop(&env->calls, env->sb);
	gateway_forget(&env->gateway);
	session_free(take_ptr(env->session));
	turn_close_sandbox(env);
	env->phase = PHASE_NONE;
	env->work = WORK_NONE;
}

void turn_drop(struct fh_env *env)
{
	turn_forget(env);
	turn_end_episode(env);
}
