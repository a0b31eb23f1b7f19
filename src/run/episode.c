/* SPDX-License-Identifier: Apache-2.0 */
#include "run/episode.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/memory.h"
#include "env/names.h"
#include "env/setup.h"
#include "run/record.h"
#include "trajectory/info.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#define SCORES_BYTES_MAX (16L * 1024 * 1024)
#define METRICS_BYTES_MAX (1024 * 1024)

void episode_init(struct episode *e, const struct episode_plan *plan)
{
	*e = (struct episode){ .plan = *plan };
	e->baseline_value = e->best_value = e->score_value = NAN;
	e->exit_status = xstrdup("");
	episode_log_init(&e->log, plan->env->task);
	buf_init(&e->scores, SCORES_BYTES_MAX);
	buf_init(&e->baseline, METRICS_BYTES_MAX);
	buf_init(&e->best, METRICS_BYTES_MAX);
	buf_add_str(&e->baseline, "null");
	buf_add_str(&e->best, "null");
}

void episode_give_up(struct episode *e, const struct fh_error *why)
{
	e->phase = EPISODE_GIVEN_UP;
	e->failed = true;
	e->error = *why;
}

static void episode_let_go(struct episode *e)
{
	recorder_close(e->recorder);
	agent_close(e->agent);
	chat_model_close(e->chat);
	model_close(e->model);
	e->recorder = NULL;
	e->agent = NULL;
	e->chat = NULL;
	e->model = NULL;
}

static void episode_end(struct episode *e)
{
	e->phase = EPISODE_ENDED;
	fh_env_close(take_ptr(e->env));
}

void episode_release(struct episode *e)
{
	episode_let_go(e);
	fh_env_close(e->env);
	episode_log_release(&e->log);
	free(e->metric);
	free(e->action);
	free(e->trouble);
	free(e->exit_status);
	free(e->traj);
	free(e->variant);
	buf_release(&e->scores);
	buf_release(&e->baseline);
	buf_release(&e->best);
}

/* --- scores ----------------------------------------------------------------------------------- */

static void episode_set_metrics(struct buf *json, const struct fh_metric *metrics, size_t n)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(json, PYJSON_LINE);

	buf_clear(json);
	info_put_metrics(&w, NULL, metrics, n);
}

/* Evaluators don't always write a metric's name in the same case. */
static double episode_value_of(const struct fh_metric *metrics, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcasecmp(metrics[i].name, name) == 0)
			return metrics[i].value;
	}
	return NAN;
}

static void episode_note_scores(struct episode *e, const struct fh_step *step)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(&e->scores, PYJSON_LINE);

	e->score_value = episode_value_of(step->score, step->n_score, e->metric);
	if (step->score) {
		w.filled = e->scores.len > 0;
		info_put_metrics(&w, NULL, step->score, step->n_score);
	}
	if (step->best) {
		episode_set_metrics(&e->best, step->best, step->n_best);
		e->best_value = episode_value_of(step->best, step->n_best, e->metric);
	}
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Whatever happened: what was recorded becomes files, and everything is let go. */
static void episode_finish(struct episode *e, const char *exit_status)
{
	if (e->chat)
		chat_model_stats(e->chat, &e->stats);
	if (exit_status)
		xstrset(&e->exit_status, exit_status);
	run_record_end(e, exit_status);
	e->ended_ns = clock_now_ns();
	if (e->failed)
		episode_log_failed(&e->log, e->error.message);
	episode_log_over(&e->log, e->exit_status);
	episode_log_release(&e->log);
	episode_let_go(e);
	if (e->env && env_leave_begin(e->env))
		e->phase = EPISODE_LEAVING;
	else
		episode_end(e);
}

static void episode_fail(struct episode *e)
{
	/* In the form that MLGym gives to exceptions. */
	auto_free char *status = xasprintf("environment_error, %s, (%s)", e->error.message,
			e->action ? e->action : "");

	e->failed = true;
	episode_finish(e, status);
}

/* --- the beginning ---------------------------------------------------------------------------- */

static void episode_note_env(struct episode *e, const struct fh_env_info *info)
{
	e->max_steps = info->max_steps;
	e->maximize = info->maximize;
	xstrset(&e->metric, info->metric);
	xstrset(&e->variant, info->variant);
	episode_set_metrics(&e->baseline, info->baseline, info->n_baseline);
	e->baseline_value = episode_value_of(info->baseline, info->n_baseline, info->metric);
}

static void episode_complete_name(void *user, const char *start, struct buf *out)
{
	const struct episode *e = user;

	env_names(e->env, start, out);
}

static const char *episode_multiline_end_of(void *user, const char *line)
{
	const struct episode *e = user;

	return env_multiline_end(e->env, line);
}

/* None pauses as long as another does, though all were begun alike. */
static int episode_open_chat(struct episode *e)
{
	const struct episode_plan *p = &e->plan;
	struct chat_options options = p->agent->options;

	options.spent = p->past ? &p->past->spent : NULL;
	options.seed = (uint64_t)e->begun_ns;
	return chat_model_open(p->agent->chat, &options, &e->chat, &e->error);
}

static int episode_begin_opening(struct episode *e)
{
	const struct episode_plan *p = &e->plan;
	bool chat = p->agent && p->agent->chat;
	struct model_request model = {
		.spec = p->model,
		.places = p->places,
		.task = p->env->task,
		.variant = p->env->variant,
		.in_fd = p->human_in,
		.out_fd = p->human_out,
		.stop_fd = p->stop_fd,
		.completion = { .names = episode_complete_name, .user = e },
		.multiline_end = episode_multiline_end_of,
		.user = e,
	};
	struct opening_request opening = {
		.gym = p->gym,
		.env = p->env,
		.model = chat ? NULL : &model,
		.agent = p->agent ? p->agent->config : NULL,
		.aliases = p->aliases,
		.edits_at_once = p->edits_at_once,
	};
	int r = chat ? episode_open_chat(e) : 0;

	model.completion.words = native_words(&model.completion.n_words);
	return r < 0 ? r : opening_start(p->openings, &opening, &e->opening, &e->error);
}

void episode_start(struct episode *e)
{
	e->begun_ns = clock_now_ns();
	e->phase = EPISODE_OPENING;
	if (episode_begin_opening(e) < 0)
		episode_fail(e);
}

static int episode_begin_reset(struct episode *e)
{
	struct fh_env_info info;
	int r = opening_take(take_ptr(e->opening), &e->env, &e->model, &e->error);

	if (r < 0)
		return r;
	fh_env_info(e->env, &info);
	episode_note_env(e, &info);
	r = run_record_open(e, &info);
	return r < 0 ? r : fh_env_reset_begin(e->env, e->plan.seed, &e->error);
}

void episode_opened(struct episode *e)
{
	e->phase = EPISODE_RESETTING;
	if (episode_begin_reset(e) < 0)
		episode_fail(e);
}

/* --- step by step ----------------------------------------------------------------------------- */

static int episode_begin_step(struct episode *e, const struct model_turn *said)
{
	struct model_turn turn = *said;
	struct fh_action action = { 0 };

	xstrset(&e->action, turn.action);
	e->turn = (struct recorder_turn){
		.action = e->action, .response = turn.response, .thought = turn.thought
	};
	e->phase = EPISODE_STEPPING;
	episode_log_action(&e->log, e->action);
	action.text = e->action;
	action.beside_bytes =
			(int64_t)(json_text_bytes(turn.response) + json_text_bytes(turn.thought));
	return fh_env_step_begin(e->env, &action, &e->error);
}

/* The conversation begins with the first observation. */
static int episode_open_agent(struct episode *e)
{
	const struct episode_plan *p = &e->plan;
	struct agent_request request = {
		.config = p->agent->config,
		.model = e->chat,
		.recorded = e->model,
		.env = e->env,
		.max_steps = e->max_steps,
		.recorder = e->recorder,
		.user = e,
	};
	struct task *task;
	int r = task_load(p->places, p->env->task, p->env->variant, &task, &e->error);

	if (r < 0)
		return r;
	request.task = task;
	if (p->past)
		request.past = &p->past->messages;
	r = agent_open(&request, &e->agent, &e->error);
	task_free(task);
	return r;
}

/* As soon as it is decided what to do, it is done. */
static int episode_act(struct episode *e)
{
	struct model_turn turn;
	int r;

	e->phase = EPISODE_THINKING;
	if (!agent_decided(e->agent))
		return 0;
	r = agent_take(e->agent, &turn, &e->error);
	return r < 0 ? r : episode_begin_step(e, &turn);
}

/* What was recorded is there again: from here on the model decides. */
static int episode_go_on(struct episode *e)
{
	struct recorder_resumed resumed = {
		.steps = e->steps,
		.messages = (int)e->plan.past->messages.n,
		.different = (int)e->different,
	};
	struct fh_env_info info;

	fh_env_info(e->env, &info);
	resumed.task_hash = info.task_hash;
	resumed.agent_hash = e->plan.agent->config->hash;
	e->resumed = true;
	episode_log_resumed(&e->log, e->different);
	return recorder_resumed(e->recorder, &resumed, &e->error);
}

static int episode_decide(struct episode *e, const struct fh_step *last)
{
	const struct run_past *past = e->plan.past;
	struct model_turn turn;
	int r = 0;

	if (past && (size_t)e->steps < past->n_steps) {
		turn = run_past_turn(past, (size_t)e->steps);
		return episode_begin_step(e, &turn);
	}
	if (past && !e->resumed)
		r = episode_go_on(e);
	if (r < 0)
		return r;
	if (!e->plan.agent) {
		r = model_next(e->model, last, &turn, &e->error);
		return r < 0 ? r : episode_begin_step(e, &turn);
	}
	if (!e->agent)
		r = episode_open_agent(e);
	if (r == 0)
		r = agent_begin(e->agent, last, &e->error);
	return r < 0 ? r : episode_act(e);
}

void episode_retried(void *episode, const struct chat_retry *retry)
{
	struct episode *e = episode;

	free(e->trouble);
	e->trouble = xasprintf("retrying, %d of %d: %s", retry->tries, retry->most, retry->why);
	episode_log_retry(&e->log, retry);
}

void episode_thought(struct episode *e)
{
	int r;

	free(e->trouble);
	e->trouble = NULL; /* before the agent asks once more, which may fail at once */
	r = agent_advance(e->agent, &e->error);
	if (r == 0)
		r = run_record_spent(e);
	if (r == 0)
		r = episode_act(e);
	if (r < 0)
		episode_fail(e);
}

static bool episode_step_ends(const struct fh_step *step)
{
	return step->terminated || step->truncated;
}

static int episode_check_goes_on(struct episode *e, const struct fh_step *step)
{
	if (!episode_step_ends(step) || step->outcome == FH_OUTCOME_INTERRUPTED)
		return 0;
	return error_say(&e->error, EINVAL,
			"the run can't go on: played again, it ended with step %d", step->step);
}

/* What reset or a step gave, before anybody else sees it. */
static int episode_record(struct episode *e, const struct fh_step *step)
{
	bool again = e->plan.past && !e->resumed;
	int r;

	if (again)
		e->different += run_past_differs(e->plan.past, step);
	if (e->phase == EPISODE_RESETTING) {
		episode_log_reset(&e->log, step);
		if (again)
			return 0;
		r = run_record_memory(e);
		return r < 0 ? r : recorder_reset(e->recorder, e->plan.seed, step, &e->error);
	}
	episode_log_step(&e->log, step);
	e->steps = step->step;
	episode_note_scores(e, step);
	if (again)
		return episode_check_goes_on(e, step);
	r = recorder_step(e->recorder, &e->turn, step, &e->error);
	if (r == 0 && e->plan.played)
		e->plan.played(e->plan.played_user, e, step);
	return r;
}

static int episode_take_result(struct episode *e, struct fh_step *step)
{
	int r = fh_env_end(e->env, step, &e->error);

	return r < 0 ? r : episode_record(e, step);
}

void episode_advance(struct episode *e)
{
	struct fh_step step;
	int r;

	if (e->phase == EPISODE_LEAVING) {
		episode_end(e);
		return;
	}
	if (episode_take_result(e, &step) < 0) {
		episode_fail(e);
		return;
	}
	if (episode_step_ends(&step) && step.outcome != FH_OUTCOME_INTERRUPTED) {
		xstrset(&e->exit_status, step.exit_status ? step.exit_status : "");
		/* It was scored, but an outage, a wrong key or an empty purse is no result of the model's. */
		e->failed = e->agent && agent_failure(e->agent);
		if (e->failed)
			e->error = *agent_failure(e->agent);
		episode_finish(e, NULL);
		return;
	}
	/* A step that was cut ends nothing but the run. */
	r = e->stopping || episode_step_ends(&step) ? -EINTR : episode_decide(e, &step);
	if (r == -EINTR)
		episode_finish(e, "early_exit");
	else if (r < 0)
		episode_fail(e);
}

void episode_stop(struct episode *e)
{
	if (e->phase == EPISODE_OPENING)
		e->opening = NULL; /* nobody waits for its thread: opening.h */
	if (e->phase == EPISODE_OPENING || e->phase == EPISODE_THINKING)
		episode_finish(e, "early_exit");
	if (e->phase != EPISODE_RESETTING && e->phase != EPISODE_STEPPING)
		return;
	e->stopping = true;
	fh_env_interrupt(e->env);
}
