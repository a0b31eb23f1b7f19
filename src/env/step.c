/* SPDX-License-Identifier: Apache-2.0 */
#include "env/step.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/action.h"
#include "env/beside.h"
#include "env/editor.h"
#include "env/observe.h"
#include "env/state.h"
#include "env/words.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reasons why an episode is scored, besides the words of exit_* actions. */
#define REASON_MAX_STEPS "max_steps"
#define REASON_MAX_TIME "max_time"
#define REASON_MAX_TEXT "max_text"

/* Most time for the gateway of an agent's command to start. */
#define GATEWAY_START_NS (30 * NS_PER_S)
/* most bytes of the lines before an agent's command, with the text of its task */
#define STEP_SCRIPT_BYTES_MAX (4 << 20)

/* --- the end of the episode ------------------------------------------------------------------- */

static void step_end(struct fh_env *env)
{
	const char *reason = env->scoring.reason;

	observe_note(&env->result.observation, WORDS_EXITED "%s)", reason);
	env->episode.phase = PHASE_OVER;
	env->result.step.exit_status = env->episode.exit_status;
	env->result.step.truncated = str_starts(reason, "max_");
	env->result.step.terminated = !env->result.step.truncated;
	turn_finish(env);
}

/* Ends the episode. The observation shows `reason`; the exit status goes into the run's records. */
static void step_end_episode(struct fh_env *env, const char *reason, const char *status_format, ...)
{
	va_list ap;

	va_start(ap, status_format);
	vsnprintf(env->episode.exit_status, sizeof(env->episode.exit_status), status_format, ap);
	va_end(ap);
	env->scoring.reason = reason;
	scores_end(&env->episode.scores, env->spec.task->task);
	/*
	 * Check for the sandbox' answer now: it may have come before, and no descriptor reports it
	 * again.
	 */
	if (!turn_keep_memory(env) || turn_memory_is_kept(env))
		step_end(env);
}

static void step_sandbox_gone(struct fh_env *env)
{
	env->result.step.outcome = FH_OUTCOME_SANDBOX_GONE;
	observe_note(&env->result.observation,
			"The sandbox has ended, with all that was in it; nothing can be scored.");
	step_end_episode(env, "early_exit", "early_exit");
}

/* --- scoring ---------------------------------------------------------------------------------- */

static void step_end_scored(struct fh_env *env, enum grade_verdict verdict)
{
	const char *reason = env->scoring.reason;

	switch (verdict) {
	case GRADE_SCORED:
		if (str_eq(reason, REASON_SUBMIT))
			step_end_episode(env, reason, "submitted");
		else
			step_end_episode(env, reason, "autosubmission (%s)", reason);
		break;
	case GRADE_NO_SUBMISSION:
		step_end_episode(env, reason, "submission_not_found (%s)", reason);
		break;
	case GRADE_REJECTED:
	case GRADE_BROKEN:
		step_end_episode(env, reason, "evaluation_format_error (%s)", reason);
		break;
	}
}

static void step_take_grade(struct fh_env *env, const struct grade_result *result)
{
	scoring_take(&env->scoring, result, &env->result.observation);
	if (env->turn.cancelled)
		env->result.step.outcome = FH_OUTCOME_INTERRUPTED;
	if (!str_eq(env->scoring.reason, REASON_VALIDATE)) {
		step_end_scored(env, result->verdict);
		return;
	}
	/* Ignore a failure: if the sandbox is gone, the next step reports it. */
	(void)sandbox_clear_requests(env->episode.sb, NULL);
	turn_finish(env);
}

static void step_grade(struct fh_env *env, const char *reason)
{
	struct fh_error err;

	if (scoring_begin(&env->scoring, reason, &err) < 0) {
		step_take_grade(env,
				&(struct grade_result){ GRADE_BROKEN, .text = err.message,
						.grader_log = "" });
		return;
	}
	env->turn.work = WORK_GRADE;
	/* Advance once: without a submission, grading ends at once. */
	if (grade_advance(env->scoring.grade))
		step_take_grade(env, grade_result(env->scoring.grade));
}

/*
 * Scores the submission, unless the episode has used up the task's number of validations. A task
 * limits validations because each one tells a little about its hidden answers.
 */
static void step_validate(struct fh_env *env)
{
	auto_buf struct buf why = BUF_INIT(256);

	if (!scoring_refuse(&env->scoring, &why)) {
		env->episode.n_validated++;
		step_grade(env, REASON_VALIDATE);
		return;
	}
	observe_note(&env->result.observation, "%s", buf_str(&why));
	(void)sandbox_clear_requests(env->episode.sb, NULL);
	turn_finish(env);
}

/* --- after the action ------------------------------------------------------------------------- */

/*
 * Counts the bytes of the observation and of the tools' state. True: the episode has more text than
 * its record may have. A larger record could not be written or read back.
 */
static bool step_text_is_full(struct fh_env *env)
{
	if (!env->terms.max_text_bytes)
		return false;
	env->episode.text_bytes += (int64_t)json_text_bytes(buf_str(&env->result.observation));
	if (env->setup.state)
		env->episode.text_bytes += (int64_t)json_text_bytes(env->setup.state);
	return env->episode.text_bytes > env->terms.max_text_bytes;
}

static void step_conclude(struct fh_env *env)
{
	int requests = env->turn.requests;

	if (requests && !(requests & (REQUEST_SUBMIT | REQUEST_VALIDATE)))
		(void)sandbox_clear_requests(env->episode.sb, NULL);
	if (requests & REQUEST_SUBMIT)
		step_grade(env, REASON_SUBMIT);
	else if (env_episode_time_is_over(&env->episode))
		step_grade(env, REASON_MAX_TIME);
	else if (env->episode.n_steps >= env->terms.max_steps)
		step_grade(env, REASON_MAX_STEPS);
	else if (step_text_is_full(env))
		step_grade(env, REASON_MAX_TEXT);
	else if (requests & REQUEST_VALIDATE)
		step_validate(env);
	else
		turn_finish(env);
}

static void step_after_action(struct fh_env *env)
{
	if (env->turn.requests & REQUEST_STATE && !env->setup.given.state &&
			editor_begin(env->episode.sb, &env->editor_request, NULL) == 0)
		env->turn.work = WORK_EDITOR;
	else
		step_conclude(env);
}

/* Continues a step after turn_set_up(), which sets up the agent's tools in the shell. `r` is its
 * result. */
static void step_after_setup(struct fh_env *env, int r)
{
	if (r < 0)
		step_sandbox_gone(env);
	else if (r == 0)
		step_after_action(env);
}

/* --- the command ------------------------------------------------------------------------------ */

static void step_command_over(struct fh_env *env)
{
	const struct session_result *result = session_result(env->episode.session);
	const struct task *task = env->spec.task->task;
	struct fh_step *step = &env->result.step;

	calls_drop(&env->calls, env->episode.sb);
	if (env->gateway.sb) {
		session_on_streams(env->episode.session, NULL, NULL);
		gateway_stop(&env->gateway);
	}
	beside_end(env);
	env_result_take_outcome(&env->result, result, env->turn.cancelled);
	if (!observe_output(&env->result.observation, &env->result.folded, task, result->output) &&
			step->outcome == FH_OUTCOME_OK) {
		step->outcome = FH_OUTCOME_OUTPUT_LIMIT;
		observe_note(&env->result.observation,
				"(There was more output, but no memory was left for it.)");
	}
	observe_end(&env->result.observation,
			&(struct observe_end){ task, result, env->turn.timeout_ms,
					env->output_bytes, env->turn.cancelled });
	turn_note_shell(env, result);
	env->turn.requests |= result->requests;
	if (result->outcome == SESSION_GONE)
		step_sandbox_gone(env);
	else
		step_after_setup(env, turn_set_up(env, result->restarted, NULL));
}

/*
 * Decides the command's timeout: the action's or the task's, at most the rest of the episode's
 * time. The rest is rounded up, so that the episode's time has ended when the command has used it.
 */
static int64_t step_timeout_ms(const struct fh_env *env, const struct fh_action *action)
{
	const struct task *task = env->spec.task->task;
	int64_t ms = action_trains(action->text) ? task->training_timeout_ms
						 : task->short_timeout_ms;

	ms = action_timeout_ms(action, ms);
	if (env->episode.wall_end_ns != INT64_MAX) {
		int64_t left_ms = (env->episode.wall_end_ns - env->turn.started_ns) / NS_PER_MS + 1;

		ms = left_ms < ms ? left_ms : ms;
	}
	return ms;
}

static void step_run(struct fh_env *env, const struct fh_action *action)
{
	auto_free char *quoted = NULL;

	if (turn_was_interrupted(env)) {
		step_after_action(env);
		return;
	}
	if (env_episode_time_is_over(&env->episode)) {
		env->result.step.outcome = FH_OUTCOME_TIMEOUT;
		observe_note(&env->result.observation,
				"(Nothing was run: the time of the episode has ended.)");
		step_after_action(env);
		return;
	}
	env->turn.timeout_ms = step_timeout_ms(env, action);
	env->turn.n_watched = 0;
	quoted = setup_quote(&env->setup, action->text);
	/* The text's length was checked, so a failure means that the sandbox is gone. */
	if (session_begin(env->episode.session, quoted ? quoted : action->text,
			    env->turn.timeout_ms, true, NULL) < 0)
		step_sandbox_gone(env);
	else
		env->turn.work = WORK_COMMAND;
}

/* --- an agent that is a command --------------------------------------------------------------- */

/* Runs the agent's command once its gateway listens. */
static void step_run_agent(struct fh_env *env)
{
	auto_buf struct buf script = BUF_INIT(FH_ACTION_BYTES_MAX + STEP_SCRIPT_BYTES_MAX);
	struct fh_action action = FH_ACTION(.timeout_s = env->agent.timeout_s);

	env->calls.validates = true;
	gateway_add_address(&env->gateway, &script);
	buf_add_str(&script, env->agent.script);
	action.text = buf_str(&script);
	session_on_streams(env->episode.session, gateway_take_output, &env->gateway);
	step_run(env, &action);
	if (env->turn.cancelled && env->turn.work == WORK_COMMAND)
		session_cancel(env->episode.session);
}

/* Hands on the calls of the agent that have come. */
static void step_take_calls(struct fh_env *env, bool hungry)
{
	struct env_call call;

	if (!env->gateway.sb)
		return;
	gateway_feed(&env->gateway, hungry);
	while (gateway_next(&env->gateway, &call))
		env->agent.on_call(env->agent.user, &call);
}

static void step_await_gateway(struct fh_env *env)
{
	struct fh_error err;
	int r = gateway_await(&env->gateway, env->turn.deadline_ns, &err);

	if (r > 0)
		step_run_agent(env);
	else if (r == -EPIPE)
		step_sandbox_gone(env);
	else if (r < 0)
		turn_fail(env, &err);
}

/* --- the interface ---------------------------------------------------------------------------- */

static int step_check(const struct fh_env *env, struct fh_error *err)
{
	int r = turn_check_reset(env, err);

	if (r < 0)
		return r;
	if (env->episode.phase == PHASE_OVER)
		return error_say(err, EPROTO, "the episode has ended (%s): reset starts a new one",
				env->episode.exit_status);
	return 0;
}

static void step_count(struct fh_env *env, const char *text, int requests)
{
	env->episode.n_steps++;
	sha256_add_str(&env->episode.history, text);
	turn_begin(env, TURN_STEP);
	env->turn.requests = requests | env->episode.late_requests;
	env->episode.late_requests = 0;
}

int step_check_action(
		const struct fh_env *env, const struct fh_action *action, struct fh_error *err)
{
	int r = step_check(env, err);

	return r < 0 ? r : action_check(action, err);
}

int step_begin(struct fh_env *env, const struct fh_action *action, struct fh_error *err)
{
	const char *word = NULL;
	int r = step_check_action(env, action, err);

	if (r < 0)
		return r;
	step_count(env, action->text, 0);
	env->result.step.timeout_s = action->timeout_s;
	if (env->terms.max_text_bytes)
		env->episode.text_bytes +=
				(int64_t)json_text_bytes(action->text) + action->beside_bytes;
	switch (action_kind(action->text, &word)) {
	case ACTION_COMMAND:
		step_run(env, action);
		break;
	case ACTION_SKIP:
		step_end_episode(env, word, "skipped");
		break;
	case ACTION_FORFEIT:
		step_end_episode(env, word, "exit_forfeit");
		break;
	case ACTION_EXIT:
		step_grade(env, word);
		break;
	case ACTION_MALFORMED_EDIT:
		env->result.step.outcome = FH_OUTCOME_MALFORMED_EDIT;
		observe_note(&env->result.observation,
				WORDS_NO_EDIT
				"edit N:M` takes its new text from the lines after it, "
				"up to a line that holds only `end_of_edit`, and there is none.");
		step_after_action(env);
		break;
	}
	return 0;
}

int step_begin_agent(struct fh_env *env, const struct env_agent *agent, struct fh_error *err)
{
	const struct fh_action action =
			FH_ACTION(.text = agent->command, .timeout_s = agent->timeout_s);
	auto_buf struct buf script = BUF_INIT(FH_ACTION_BYTES_MAX + STEP_SCRIPT_BYTES_MAX);
	int r = step_check(env, err);

	if (r < 0)
		return r;
	r = action_check(&action, err);
	if (r < 0)
		return r;
	gateway_add_script(agent, &script);
	if (script.truncated)
		return error_say(err, E2BIG, "the task's text is too long for an agent's command");
	r = gateway_start(&env->gateway, env->episode.sb, err);
	if (r < 0)
		return r;
	step_count(env, agent->command, 0);
	xstrset(&env->agent.script, buf_str(&script));
	env->agent.timeout_s = agent->timeout_s;
	env->agent.on_call = agent->on_call;
	env->agent.on_request = agent->on_request;
	env->agent.user = agent->user;
	env->turn.deadline_ns = clock_now_ns() + GATEWAY_START_NS;
	env->turn.work = WORK_GATEWAY;
	return 0;
}

int step_begin_request(struct fh_env *env, int request, struct fh_error *err)
{
	int r = step_check(env, err);

	if (r < 0)
		return r;
	step_count(env, NULL, request);
	step_after_action(env);
	return 0;
}

void step_advance(struct fh_env *env)
{
	if (env->turn.work == WORK_COMMAND && session_advance(env->episode.session)) {
		step_command_over(env);
	} else if (env->turn.work == WORK_GATEWAY) {
		step_await_gateway(env);
	} else if (env->turn.work == WORK_COMMAND) {
		step_take_calls(env, session_take_hungry(env->episode.session));
		/* While the sandbox copies a submission, nothing else may be asked of it. */
		if (!env->scoring.grade || !grade_is_copying(env->scoring.grade))
			calls_advance(&env->calls, env->episode.sb,
					session_take_request(env->episode.session, REQUEST_CALL));
		beside_advance(env);
	} else if (env->turn.work == WORK_SETUP) {
		step_after_setup(env, turn_set_up_advance(env, NULL));
	} else if (env->turn.work == WORK_EDITOR &&
			sandbox_answered(env->episode.sb, env->editor_request)) {
		free(env->setup.open_file);
		env->setup.open_file = editor_take(env->episode.sb);
		step_conclude(env);
	} else if (env->turn.work == WORK_GRADE && grade_advance(env->scoring.grade)) {
		step_take_grade(env, grade_result(env->scoring.grade));
	} else if (env->turn.work == WORK_MEMORY && turn_memory_is_kept(env)) {
		step_end(env);
	}
}

void step_cancel(struct fh_env *env)
{
	env->turn.cancelled = true;
	if (turn_is_in_shell(&env->turn))
		session_cancel(env->episode.session);
	else if (env->turn.work == WORK_GRADE)
		grade_cancel(env->scoring.grade, "Scoring was interrupted.");
}
