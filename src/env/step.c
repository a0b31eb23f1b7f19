/* SPDX-License-Identifier: Apache-2.0 */
#include "env/env.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/action.h"
#include "env/words.h"
#include "grade/key.h"
#include "inside/places.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * A step, in this order: it is counted; words that end the episode do so; a malformed edit is told
 * apart; anything else is run by the shell, for what is left of the episode's time at most. Then,
 * once and for the first of these that holds: the episode is scored and over because the command
 * asked to submit; is scored and over because its time is over, because this was its last step, or because
 * its texts are too much for a record; is scored because the command asked to validate.
 */
#define TIMEOUT_MS_MAX (30LL * 24 * 3600 * 1000)
#define KEPT_BYTES                                                                                 \
	(256 << 10) /* of an observation's memory, for the next; a thousand may be alive */

/* What an episode is scored for; the words of exit_* actions beside these. */
#define REASON_SUBMIT "submit"
#define REASON_VALIDATE "validate"
#define REASON_MAX_STEPS "max_steps"
#define REASON_MAX_TIME "max_time"
#define REASON_MAX_TEXT "max_text"

/* --- begin and end ---------------------------------------------------------------------------- */

void step_clear(struct fh_env *env)
{
	if (env->observation.size > KEPT_BYTES) {
		buf_release(&env->observation);
		buf_release(&env->folded);
	}
	buf_clear(&env->observation);
	buf_clear(&env->integrity);
	buf_clear(&env->grade_error);
	grade_free(env->grade);
	env->grade = NULL;
	env->failure.code = 0;
	env->cancelled = false;
	atomic_store_explicit(&env->interrupted, false, memory_order_relaxed);
	env->n_scripts = 0;
	env->started_ns = clock_now_ns();
	env->step = (struct fh_step){ .step = env->n_steps, .exit_code = -1, .open_file = "n/a" };
}

static void add_usage(struct fh_env *env)
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

static const char *text_or_null(const struct buf *b)
{
	return b->len ? b->data : NULL;
}

/* MLGym's observations end without one. */
static void drop_last_newline(struct buf *b)
{
	if (b->len && b->data[b->len - 1] == '\n')
		b->data[--b->len] = '\0';
}

void step_finish(struct fh_env *env)
{
	struct fh_step *step = &env->step;

	add_usage(env);
	if (env->task->task->mlgym)
		drop_last_newline(&env->observation);
	observe_hide(env);
	step->observation = buf_str(&env->observation);
	step->open_file = env->open_file ? env->open_file : "n/a";
	step->working_dir = env->working_dir;
	step->tools_state = env->state;
	step->baseline = env->baseline.metrics;
	step->n_baseline = env->baseline.n;
	step->best = env->best.metrics;
	step->n_best = env->best.n;
	step->integrity = text_or_null(&env->integrity);
	step->grade_error = text_or_null(&env->grade_error);
	step->duration_s = (double)(clock_now_ns() - env->started_ns) / 1e9;
	env->work = WORK_DONE;
}

static void note_integrity(struct fh_env *env, const char *what)
{
	buf_printf(&env->integrity, "%s%s", env->integrity.len ? "; " : "", what);
}

static void is_kept(struct fh_env *env)
{
	const char *reason = env->reason;

	observe_note(env, WORDS_EXITED "%s)", reason);
	env->episode = EPISODE_OVER;
	env->step.exit_status = env->exit_status;
	env->step.truncated = str_starts(reason, "max_");
	env->step.terminated = !env->step.truncated;
	step_finish(env);
}

/* `reason` is what the observation says, `status` what the run's records say. */
static void end_episode(struct fh_env *env, const char *reason, const char *status_format, ...)
{
	va_list ap;

	va_start(ap, status_format);
	vsnprintf(env->exit_status, sizeof(env->exit_status), status_format, ap);
	va_end(ap);
	env->reason = reason;
	/* What came before it was asked for is read at once: no descriptor tells of it again. */
	if (!memory_begin(env, is_kept) || memory_advance(env))
		is_kept(env);
}

/* --- scoring ---------------------------------------------------------------------------------- */

static void end_scored(struct fh_env *env, enum grade_verdict verdict)
{
	const char *reason = env->reason;

	switch (verdict) {
	case GRADE_SCORED:
		if (str_eq(reason, REASON_SUBMIT))
			end_episode(env, reason, "submitted");
		else
			end_episode(env, reason, "autosubmission (%s)", reason);
		break;
	case GRADE_NO_SUBMISSION:
		end_episode(env, reason, "submission_not_found (%s)", reason);
		break;
	case GRADE_REJECTED:
	case GRADE_BROKEN:
		end_episode(env, reason, "evaluation_format_error (%s)", reason);
		break;
	}
}

static void score_over(struct fh_env *env, const struct grade_result *result)
{
	struct fh_step *step = &env->step;

	if (result->verdict == GRADE_SCORED) {
		step->reward = reward_take(env, result->score);
		step->score = result->score->metrics;
		step->n_score = result->score->n;
	} else {
		buf_add_str(&env->grade_error, result->text);
	}
	if (result->verdict == GRADE_BROKEN && *result->grader_log)
		buf_printf(&env->grade_error, "\n%s", result->grader_log);
	if (env->cancelled)
		step->outcome = FH_OUTCOME_INTERRUPTED;
	if (result->integrity)
		note_integrity(env, result->integrity);
	observe_grade(env, result);
	if (!str_eq(env->reason, REASON_VALIDATE)) {
		end_scored(env, result->verdict);
		return;
	}
	/* If the sandbox is gone by now, the next step will say so. */
	(void)sandbox_clear_requests(env->sb, NULL);
	step_finish(env);
}

static void score(struct fh_env *env, const char *reason)
{
	struct grade_result result;
	struct fh_error err;
	int r;

	env->reason = reason;
	judge_key(&env->gym->secret, env->task->hash, &env->history, env->judge_key);
	r = grade_begin(
			&(struct grade_request){
					.owner = env->gym->owner,
					.task = env->task->task,
					.layer = env->task->layer,
					.binds = env->binds,
					.n_binds = env->n_binds,
					.python = env->python,
					.gpus = env->gpus,
					.n_gpus = env->n_gpus,
					.episode = env->sb,
					.judge_key = env->judge_key,
			},
			&env->grade, &err);
	if (r < 0) {
		result = (struct grade_result){ GRADE_BROKEN, .text = err.message,
			.grader_log = "" };
		score_over(env, &result);
		return;
	}
	env->work = WORK_GRADE;
	/* It is over at once when there is nothing to score. */
	if (grade_advance(env->grade))
		score_over(env, grade_result(env->grade));
}

/* What a task has a limit for tells of its hidden answers: one more number each time. */
static void validate(struct fh_env *env)
{
	int most = env->task->task->grader.validations;

	if (most && env->n_validated >= most) {
		observe_note(env,
				"Not scored: an episode may validate %d times, and this one has. "
				"`submit` still scores.",
				most);
		(void)sandbox_clear_requests(env->sb, NULL);
		step_finish(env);
		return;
	}
	env->n_validated++;
	score(env, REASON_VALIDATE);
}

/* The action is done: what comes of it. */
static void conclude_action(struct fh_env *env, int requests)
{
	if (requests && !(requests & (REQUEST_SUBMIT | REQUEST_VALIDATE)))
		(void)sandbox_clear_requests(env->sb, NULL);
	if (requests & REQUEST_SUBMIT)
		score(env, REASON_SUBMIT);
	else if (limits_time_is_over(env))
		score(env, REASON_MAX_TIME);
	else if (env->n_steps >= env->max_steps)
		score(env, REASON_MAX_STEPS);
	else if (limits_text_is_full(env))
		score(env, REASON_MAX_TEXT);
	else if (requests & REQUEST_VALIDATE)
		validate(env);
	else
		step_finish(env);
}

static void after_action(struct fh_env *env, int requests)
{
	env->requests = requests;
	if (requests & REQUEST_STATE && !env->setup.state && editor_begin(env) == 0)
		env->work = WORK_EDITOR;
	else
		conclude_action(env, requests);
}

/* --- the command ------------------------------------------------------------------------------ */

static enum fh_outcome outcome_of(enum session_outcome outcome)
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

static void gone(struct fh_env *env)
{
	env->step.outcome = FH_OUTCOME_SANDBOX_GONE;
	observe_note(env, "The sandbox has ended, with all that was in it; nothing can be scored.");
	end_episode(env, "early_exit", "early_exit");
}

static void set_working_dir(struct fh_env *env, const char *dir)
{
	if (str_eq(dir, env->working_dir))
		return;
	xstrset(&env->working_dir, dir);
}

/* A new shell is in the workspace again, and has new descriptors, maybe with old numbers. */
void step_note_shell(struct fh_env *env, const struct session_result *result)
{
	set_working_dir(env, result->restarted ? GUEST_WORKSPACE : result->cwd);
	if (!result->restarted)
		return;
	env->step.restarted = true;
	env->slot.registered = false;
}

static void settled(struct fh_env *env, bool alive)
{
	alive ? after_action(env, env->requests) : gone(env);
}

static void command_over(struct fh_env *env)
{
	const struct session_result *result = session_result(env->session);

	calls_drop(env);
	env->step.outcome = outcome_of(result->outcome);
	if (env->cancelled && result->outcome != SESSION_GONE)
		env->step.outcome = FH_OUTCOME_INTERRUPTED;
	env->step.exit_code = result->exit_code;
	observe_command(env, result);
	if (result->integrity)
		note_integrity(env, result->integrity);
	step_note_shell(env, result);
	env->requests = result->requests;
	env->settled = settled;
	if (result->outcome == SESSION_GONE)
		gone(env);
	else
		setup_begin(env, result->restarted);
}

/* How long the command may run. What is left of the episode is rounded up: when it has been used,
 * the episode's time is over. */
static int64_t time_limit(const struct fh_env *env, const struct fh_action *action)
{
	const struct task *task = env->task->task;
	int64_t ms = action_trains(action->text) ? task->training_timeout_ms
						 : task->short_timeout_ms;

	if (action->timeout_s > 0)
		ms = action->timeout_s < TIMEOUT_MS_MAX / 1e3
				? (int64_t)ceil(action->timeout_s * 1000)
				: TIMEOUT_MS_MAX;
	if (env->wall_end_ns != INT64_MAX) {
		int64_t left_ms = (env->wall_end_ns - env->started_ns) / NS_PER_MS + 1;

		ms = left_ms < ms ? left_ms : ms;
	}
	return ms;
}

/* The episode's time ran out between two steps. */
static void too_late(struct fh_env *env)
{
	env->step.outcome = FH_OUTCOME_TIMEOUT;
	observe_note(env, "(Nothing was run: the time of the episode is over.)");
	after_action(env, 0);
}

static void run(struct fh_env *env, const struct fh_action *action)
{
	auto_free char *quoted = NULL;
	struct fh_error err;

	if (limits_time_is_over(env)) {
		too_late(env);
		return;
	}
	env->timeout_ms = time_limit(env, action);
	quoted = setup_quote(env, action->text);
	/* The text's length is checked, so that only a sandbox that is gone can refuse it. */
	if (session_begin(env->session, quoted ? quoted : action->text, env->timeout_ms, true,
			    &err) < 0)
		gone(env);
	else
		env->work = WORK_COMMAND;
}

static void malformed(struct fh_env *env)
{
	env->step.outcome = FH_OUTCOME_MALFORMED_EDIT;
	observe_note(env,
			WORDS_NO_EDIT
			"edit N:M` takes its new text from the lines after it, "
			"up to a line that holds only `end_of_edit`, and there is none.");
	after_action(env, 0);
}

/* --- what env.c drives ------------------------------------------------------------------------ */

static int check(const struct fh_env *env, struct fh_error *err)
{
	if (env->work != WORK_NONE)
		return error_say(err, EBUSY, "a reset or step of this environment is under way");
	if (env->episode == EPISODE_NONE)
		return error_say(err, EPROTO, "there is no episode: reset comes first");
	if (env->episode == EPISODE_OVER)
		return error_say(err, EPROTO, "the episode is over (%s): reset starts a new one",
				env->exit_status);
	return 0;
}

static int check_action(const struct fh_action *action, struct fh_error *err)
{
	if (!action->text)
		return error_say(err, EINVAL, "an action needs a text");
	if (strnlen(action->text, FH_ACTION_BYTES_MAX + 1) > FH_ACTION_BYTES_MAX)
		return error_say(err, E2BIG, "the action is longer than %d bytes",
				FH_ACTION_BYTES_MAX);
	if (action->timeout_s != 0 &&
			(!(action->timeout_s >= FH_TIMEOUT_S_MIN) || isinf(action->timeout_s)))
		return error_say(err, EINVAL,
				"the timeout must be a number of seconds, %g or more, or 0 for the task's own",
				FH_TIMEOUT_S_MIN);
	if (action->beside_bytes < 0)
		return error_say(err, EINVAL, "beside_bytes is 0 or more");
	return 0;
}

int step_begin(struct fh_env *env, const struct fh_action *action, struct fh_error *err)
{
	const char *word = NULL;
	int r;

	r = check(env, err);
	if (r == 0)
		r = check_action(action, err);
	if (r < 0)
		return r;
	env->n_steps++;
	sha256_add_str(&env->history, action->text);
	step_clear(env);
	if (env->max_text_bytes)
		env->text_bytes += (int64_t)json_text_bytes(action->text) + action->beside_bytes;
	switch (action_kind(action->text, &word)) {
	case ACTION_COMMAND:
		run(env, action);
		break;
	case ACTION_SKIP:
		end_episode(env, word, "skipped");
		break;
	case ACTION_FORFEIT:
		end_episode(env, word, "exit_forfeit");
		break;
	case ACTION_EXIT:
		score(env, word);
		break;
	case ACTION_MALFORMED_EDIT:
		malformed(env);
		break;
	}
	return 0;
}

int step_begin_request(struct fh_env *env, int request, struct fh_error *err)
{
	int r = check(env, err);

	if (r < 0)
		return r;
	env->n_steps++;
	sha256_add_str(&env->history, NULL);
	step_clear(env);
	after_action(env, request);
	return 0;
}

void step_advance(struct fh_env *env)
{
	if (env->work == WORK_COMMAND && session_advance(env->session))
		command_over(env);
	else if (env->work == WORK_COMMAND)
		calls_advance(env, session_take_request(env->session, REQUEST_CALL));
	else if (env->work == WORK_EDITOR && editor_advance(env))
		conclude_action(env, env->requests);
	else if (env->work == WORK_GRADE && grade_advance(env->grade))
		score_over(env, grade_result(env->grade));
}

void step_cancel(struct fh_env *env)
{
	env->cancelled = true;
	if (env_is_in_shell(env))
		session_cancel(env->session);
	else if (env->work == WORK_GRADE)
		grade_cancel(env->grade, "Scoring was interrupted.");
}
