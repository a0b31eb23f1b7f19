/* SPDX-License-Identifier: Apache-2.0 */
#include "run/episode_inside.h"

#include "agent/agent.h"
#include "base/clock.h"
#include "base/job.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "run/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void episode_init(struct episode *e, const struct episode_plan *plan)
{
	*e = (struct episode){ .plan = *plan };
	e->exit_status = xstrdup("");
	run_scores_init(&e->scores);
}

void episode_give_up(struct episode *e, const struct fh_error *why)
{
	e->phase = EPISODE_GIVEN_UP;
	e->failed = true;
	e->error = *why;
}

/*
 * If a step's observation has more bytes than this, a thread records it, because escaping and
 * writing take long.
 */
#define RECORDED_AT_ONCE_BYTES (64 << 10)

/* Releases all resources of an episode except the environment, which may still have to save the
 * agent's memory file. */
static void episode_let_go(struct episode_inside *in)
{
	foreign_close(take_ptr(in->foreign));
	desk_order_release(&in->by_hand);
	free(take_ptr(in->reply_by_hand));
	run_record_release(&in->record);
	agent_close(in->agent);
	chat_model_close(in->chat);
	model_close(in->model);
	in->agent = NULL;
	in->chat = NULL;
	in->model = NULL;
}

static void episode_free_inside(struct episode *e)
{
	struct episode_inside *in = take_ptr(e->inside);

	if (!in)
		return;
	e->thought = e->response = NULL;
	if (in->recording)
		job_end(in->recording, NULL);
	episode_let_go(in);
	fh_env_close(in->env);
	free(in);
}

static void episode_end(struct episode *e)
{
	e->phase = EPISODE_ENDED;
	episode_free_inside(e);
}

void episode_release(struct episode *e)
{
	episode_free_inside(e);
	run_scores_release(&e->scores);
	free(e->action);
	free(e->trouble);
	free(e->exit_status);
	free(e->traj);
	free(e->variant);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Ends the record and writes its files. A job runs it in a thread, because syncing files to the
 * disk takes long. */
static int episode_end_record(void *episode, struct fh_error *err)
{
	struct episode *e = episode;
	struct episode_inside *in = e->inside;

	return run_record_end(&in->record, &in->end, in->chat ? &e->stats : NULL, err);
}

static void episode_leave(struct episode *e)
{
	struct episode_inside *in = e->inside;

	e->ended_ns = clock_now_ns();
	if (e->failed)
		episode_log_failed(&in->record.log, e->error.message);
	episode_log_over(&in->record.log, e->exit_status);
	episode_let_go(in);
	if (in->env && env_leave_begin(in->env))
		e->phase = EPISODE_LEAVING;
	else
		episode_end(e);
}

/* Takes the result r of writing the record's files. If that failed, the episode fails. */
static void episode_take_record(struct episode *e, int r, const struct fh_error *err)
{
	e->recorded = r == 0;
	if (r < 0 && !e->failed) {
		e->failed = true;
		e->error = *err;
	}
	episode_leave(e);
}

static void episode_finish(struct episode *e, const char *exit_status)
{
	struct episode_inside *in = e->inside;
	struct fh_error err;

	if (exit_status)
		xstrset(&e->exit_status, exit_status);
	if (in->chat)
		chat_model_stats(in->chat, &e->stats);
	episode_end_orders(e);
	/* Leave the record of a run unchanged if it could not be resumed. */
	if (!in->record.recorder || (e->plan.past && !in->resumed)) {
		episode_leave(e);
		return;
	}
	in->end = (struct recorder_end){
		.exit_status = exit_status ? e->exit_status : NULL,
		.error = e->failed ? e->error.message : NULL,
	};
	e->phase = EPISODE_RECORDING;
	if (job_begin_shared(e->plan.openings->fd, episode_end_record, e, "write a record",
			    &in->recording, &err) < 0)
		episode_take_record(e, episode_end_record(e, &err), &err);
}

void episode_fail(struct episode *e)
{
	/* Write the exit status in MLGym's form for an exception. */
	auto_free char *status = xasprintf("environment_error, %s, (%s)", e->error.message,
			e->action ? e->action : "");

	/* A stop interrupts a reset. */
	e->failed = !(e->inside->stopping && e->error.code == -ECANCELED);
	episode_finish(e, e->failed ? status : "early_exit");
}

/* --- playing an episode step by step ---------------------------------------------------------- */

static int episode_begin_step(struct episode *e, const struct model_turn *turn)
{
	struct fh_action action = FH_ACTION();
	struct episode_inside *in = e->inside;

	xstrset(&e->action, turn->action);
	e->thought = turn->thought;
	e->response = turn->response;
	e->phase = EPISODE_STEPPING;
	desk_show(in->desk, DESK_BUSY, e->steps + 2);
	episode_log_action(&in->record.log, e->action);
	action.text = e->action;
	action.timeout_s = turn->timeout_s;
	action.beside_bytes = (int64_t)(json_text_bytes(turn->response) +
					      json_text_bytes(turn->thought)) +
			in->hint_bytes;
	in->hint_bytes = 0;
	return fh_env_step_start(in->env, &action, &e->error);
}

/* Begins the step of a command that plays as the agent. `task` is the text of the task. */
static int episode_begin_command(struct episode *e, const char *task)
{
	struct episode_inside *in = e->inside;
	const struct foreign_request request = {
		.options = e->plan.foreign,
		.env = in->env,
		.model = in->chat,
		.recorder = in->record.recorder,
		.user = e,
		.on_request = episode_asked,
	};

	xstrset(&e->action, e->plan.foreign->command);
	e->phase = EPISODE_STEPPING;
	episode_log_action(&in->record.log, e->action);
	return foreign_begin(&request, task, &in->foreign, &e->error);
}

/* Begins the step that ends the episode after the command's step, `last`. */
static int episode_end_command(struct episode *e, const struct fh_step *last)
{
	const struct fh_error *why = foreign_failure(e->inside->foreign);
	const struct model_turn turn = { .action = foreign_finish(e->inside->foreign, last) };

	e->failed = why != NULL;
	if (why)
		e->error = *why;
	return episode_begin_step(e, &turn);
}

/* If the agent has chosen an action, begins a step with it. */
static int episode_act(struct episode *e)
{
	struct model_turn turn;
	int r;

	e->phase = EPISODE_THINKING;
	if (!agent_decided(e->inside->agent))
		return 0;
	r = agent_take(e->inside->agent, &turn, &e->error);
	return r < 0 ? r : episode_begin_step(e, &turn);
}

/* Has the model decide on the next action. */
static int episode_think(struct episode *e)
{
	struct episode_inside *in = e->inside;
	struct model_turn turn;
	int r;

	desk_order_release(&in->by_hand);
	desk_show(in->desk, DESK_MODEL, e->steps + 1);
	if (!in->agent) {
		r = model_next(in->model, &in->step, &turn, &e->error);
		return r < 0 ? r : episode_begin_step(e, &turn);
	}
	r = agent_begin(in->agent, &e->error);
	return r < 0 ? r : episode_act(e);
}

/* Takes a step by a person's action, in place of the model. */
static int episode_act_by_hand(struct episode *e)
{
	struct episode_inside *in = e->inside;
	struct model_turn turn = episode_turn_by_hand(e);
	int r = 0;

	if (in->agent) {
		agent_act(in->agent, &turn);
		r = agent_take(in->agent, &turn, &e->error);
	}
	return r < 0 ? r : episode_begin_step(e, &turn);
}

/* Has a person or the model decide on the next action. Waits in the phase EPISODE_HELD if a person
 * wants to decide. */
static int episode_choose(struct episode *e)
{
	struct desk *desk = e->inside->desk;
	int r = desk ? episode_follow_orders(e) : 0;

	if (r < 0)
		return r;
	if (r > 0)
		return episode_act_by_hand(e);
	if (!desk || !desk_is_held(desk))
		return episode_think(e);
	e->phase = EPISODE_HELD;
	desk_show(desk, DESK_PERSON, e->steps + 1);
	return 0;
}

static int episode_decide(struct episode *e, const struct fh_step *last)
{
	const struct run_past *past = e->plan.past;
	struct episode_inside *in = e->inside;
	struct model_turn turn;
	int r;

	if (past && (size_t)e->steps < past->n_steps) {
		turn = run_past_turn(past, (size_t)e->steps);
		return episode_begin_step(e, &turn);
	}
	if (past && !in->resumed) {
		r = episode_end_past(e);
		if (r < 0)
			return r;
	}
	if (e->plan.foreign)
		return in->foreign ? episode_end_command(e, last)
				   : episode_begin_command(e, last->observation);
	r = e->plan.agent && !in->agent ? episode_open_agent(e) : 0;
	return r < 0 ? r : episode_choose(e);
}

static int episode_take_thought(struct episode *e, struct chat_call *call)
{
	struct episode_inside *in = e->inside;
	int64_t calls = e->stats.calls;
	int r = in->foreign ? foreign_take(in->foreign, call, &e->error)
			    : agent_advance(in->agent, &e->error);

	if (r < 0)
		return r;
	chat_model_stats(in->chat, &e->stats);
	if (e->stats.calls != calls)
		r = run_record_spent(&in->record, &e->stats, &e->error);
	return r < 0 || in->foreign ? r : episode_act(e);
}

void episode_thought(struct episode *e, struct chat_call *call)
{
	struct episode_inside *in = e->inside;

	/* Clear the last failure first: the next request may fail at once and set it again. */
	free(take_ptr(e->trouble));
	if (episode_take_thought(e, call) == 0)
		return;
	if (in->foreign) { /* the episode fails when the command has ended */
		in->is_broken = true;
		fh_env_interrupt(in->env);
	} else {
		episode_fail(e);
	}
}

static bool episode_step_ends(const struct fh_step *step)
{
	return (step->terminated || step->truncated) && step->outcome != FH_OUTCOME_INTERRUPTED;
}

/* Ends the episode if the result r of a decision is a failure, or says that there is none. */
static void episode_take_choice(struct episode *e, int r)
{
	if (r == -EINTR)
		episode_finish(e, "early_exit");
	else if (r < 0)
		episode_fail(e);
}

/*
 * Continues the episode once the last result is recorded. Only then do model and callbacks get the
 * result.
 */
static void episode_go_on(struct episode *e)
{
	struct episode_inside *in = e->inside;
	const struct fh_step *step = &in->step;
	int r;

	if (e->plan.idle)
		e->plan.idle(e->plan.idle_user, in->env);
	if (episode_step_ends(step)) {
		xstrset(&e->exit_status, step->exit_status ? step->exit_status : "");
		/* Let the episode fail if the server is unreachable, a key is wrong or a cost limit
		 * is reached. These are not results of the model. */
		if (in->agent && agent_failure(in->agent)) {
			e->failed = true;
			e->error = *agent_failure(in->agent);
		}
		episode_finish(e, NULL);
		return;
	}
	/* After a request to stop, the episode ends here. It can be resumed from its record. */
	r = in->stopping || step->terminated || step->truncated ? -EINTR : episode_decide(e, step);
	episode_take_choice(e, r);
}

void episode_taken_over(struct episode *e)
{
	struct episode_inside *in = e->inside;

	if (!in || !in->desk)
		return;
	if (e->phase == EPISODE_STEPPING && desk_take_interrupt(in->desk))
		fh_env_interrupt(in->env);
	if (e->phase == EPISODE_THINKING && desk_take_interrupt(in->desk)) {
		agent_withdraw(in->agent);
		e->phase = EPISODE_HELD;
	}
	if (e->phase == EPISODE_HELD)
		episode_take_choice(e, episode_choose(e));
}

static void episode_take_recorded_step(struct episode *e, int r)
{
	if (r < 0) {
		episode_fail(e);
		return;
	}
	if (e->plan.played)
		e->plan.played(e->plan.played_user, e, &e->inside->step);
	episode_go_on(e);
}

/*
 * If recording the step takes long, starts a job that does it. Returns false if no job runs, so the
 * caller records the step.
 */
static bool episode_begin_recording(struct episode *e)
{
	struct episode_inside *in = e->inside;
	bool is_long = strlen(in->step.observation) > RECORDED_AT_ONCE_BYTES ||
			recorder_syncs(&in->step);

	return is_long &&
			job_begin_shared(e->plan.openings->fd, episode_record_step, e,
					"record a step", &in->recording, NULL) == 0;
}

static void episode_take_step(struct episode *e)
{
	struct episode_inside *in = e->inside;
	bool is_reset = e->phase == EPISODE_RESETTING;

	if (in->is_broken) {
		episode_fail(e);
		return;
	}
	in->observes = in->agent && !in->stopping && !in->step.terminated && !in->step.truncated;
	if (!episode_note(e)) {
		if (!is_reset && episode_step_ends(&in->step)) {
			error_say(&e->error, EINVAL,
					"the run can't be resumed: when its steps were repeated, it ended "
					"at step %d",
					e->steps);
			episode_fail(e);
		} else {
			episode_go_on(e);
		}
	} else if (is_reset) {
		if (episode_record_reset(e) < 0)
			episode_fail(e);
		else
			episode_go_on(e);
	} else if (episode_begin_recording(e)) {
		e->phase = EPISODE_WRITING;
	} else {
		episode_take_recorded_step(e, episode_record_step(e, &e->error));
	}
}

void episode_advance(struct episode *e)
{
	foreign_stop(e->inside->foreign);
	if (e->phase == EPISODE_LEAVING)
		episode_end(e);
	else if (fh_env_end(e->inside->env, &e->inside->step, &e->error) < 0)
		episode_fail(e);
	else
		episode_take_step(e);
}

void episode_recorded(struct episode *e)
{
	struct fh_error err;
	int r = job_end(take_ptr(e->inside->recording), &err);

	if (e->phase == EPISODE_RECORDING) {
		episode_take_record(e, r, &err);
		return;
	}
	e->phase = EPISODE_STEPPING;
	if (r < 0)
		e->error = err;
	episode_take_recorded_step(e, r);
}

void episode_stop(struct episode *e)
{
	if (e->phase == EPISODE_OPENING)
		/* Leave the opening's data to its thread, which can't be stopped; see opening.h. */
		e->inside->opening = NULL;
	if (e->phase == EPISODE_OPENING || e->phase == EPISODE_THINKING ||
			e->phase == EPISODE_HELD) {
		episode_finish(e, "early_exit");
	} else if (e->phase == EPISODE_RESETTING || e->phase == EPISODE_STEPPING) {
		e->inside->stopping = true;
		fh_env_interrupt(e->inside->env);
	} else if (e->phase == EPISODE_WRITING) {
		e->inside->stopping = true;
	}
}
