/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/recorder.h"

#include "base/fork_mark.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/secret.h"
#include "trajectory/event_log.h"
#include "trajectory/export_files.h"
#include "trajectory/info.h"
#include "trajectory/live.h"
#include "trajectory/run_dir.h"

#include "fumehood-build.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Most bytes of an event in events.jsonl. Output has 1 MiB at most, and a byte of it takes at most
 * six bytes in JSON.
 */
#define RECORDER_EVENT_BYTES_MAX (64L * 1024 * 1024)

struct recorder {
	struct event_log *log;
	struct live *live; /* NULL: the record has ended */
	/* text of events that are not written yet; the buffer is kept for later events */
	struct buf line;
	char *dir;
	char *traj;
	/* name of the agent in MLGym's files: "primary_<run>", with the run's number */
	char *agent;
	/* exit status that the last step reported; NULL: the episode has not ended */
	char *exit_status;
	int steps;
	bool over; /* true: the last step ended the episode by itself, not by a stop or an error */
};

/* --- one event -------------------------------------------------------------------------------- */

/* Begins an event of the log with its kind and the current time. */
static struct pyjson_writer recorder_begin_at(
		struct recorder *r, const char *event, const char *time)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(&r->line, PYJSON_LINE);

	pyjson_put_object(&w, NULL);
	pyjson_put_text(&w, "event", event);
	pyjson_put_text(&w, "time", time);
	return w;
}

static struct pyjson_writer recorder_begin(struct recorder *r, const char *event)
{
	char time[LOG_TIME_BYTES];

	log_time(time, sizeof(time));
	return recorder_begin_at(r, event, time);
}

static void recorder_end_line(struct pyjson_writer *w)
{
	pyjson_end_object(w);
	buf_add_char(w->out, '\n');
}

/* Writes all events that are not written yet to the log in one write(2). */
static int recorder_commit(struct recorder *r, struct fh_error *err)
{
	int n = event_log_add(r->log, &r->line, err);

	buf_clear(&r->line);
	return n;
}

/* --- the events ------------------------------------------------------------------------------- */

static void recorder_put_open(
		struct recorder *r, const struct recorder_options *o, const char *time)
{
	struct pyjson_writer w = recorder_begin_at(r, "open", time);

	pyjson_put_i64(&w, "format", 1);
	pyjson_put_text(&w, "version", FUMEHOOD_VERSION);
	pyjson_put_i64(&w, "keys", SECRET_KEYS_VERSION);
	pyjson_put_text(&w, "task", o->env->task);
	pyjson_put_text(&w, "variant", o->env->variant);
	pyjson_put_u64(&w, "data_seed", o->env->data_seed);
	pyjson_put_text(&w, "task_hash", o->env->task_hash);
	pyjson_put_text(&w, "fingerprint", o->env->fingerprint);
	pyjson_put_text(&w, "metric", o->env->metric);
	pyjson_put_bool(&w, "maximize", o->env->maximize);
	pyjson_put_text(&w, "submission", o->env->submission);
	pyjson_put_i64(&w, "max_steps", o->env->max_steps);
	if (o->output_bytes)
		pyjson_put_i64(&w, "output_bytes", o->output_bytes);
	info_put_metrics(&w, "baseline", o->env->baseline, o->env->n_baseline);
	if (o->env->final)
		pyjson_put_bool(&w, "final", true);
	pyjson_put_text(&w, "model", o->model);
	pyjson_put_text(&w, "agent_config", o->agent_config);
	pyjson_put_text(&w, "agent_config_path", o->agent_config_path);
	pyjson_put_text(&w, "agent_hash", o->agent_hash);
	if (o->history) {
		pyjson_put_text(&w, "history_processor", o->history);
		pyjson_put_i64(&w, "history_n", o->history_n);
	}
	pyjson_put_i64(&w, "run", o->run);
	pyjson_put_text(&w, "reward", o->reward);
	if (o->policy_step)
		pyjson_put_i64(&w, "policy_step", *o->policy_step);
	recorder_end_line(&w);
}

static void scope_recorder(struct recorder **r)
{
	recorder_close(*r);
}

int recorder_open(const struct recorder_options *o, struct recorder **out, struct fh_error *err)
{
	__attribute__((cleanup(scope_recorder))) struct recorder *r = xcalloc(1, sizeof(*r));
	auto_free char *path = xasprintf("%s/" EXPORT_EVENTS, o->dir);
	const char *task = o->env->task, *variant = o->env->variant;
	auto_free char *name = NULL;
	char time[LOG_TIME_BYTES];
	int n;

	log_time(time, sizeof(time));
	name = o->policy_step ? run_dir_policy_traj_name(task, variant, *o->policy_step, time)
			      : run_dir_traj_name(task, variant);
	buf_init(&r->line, RECORDER_EVENT_BYTES_MAX);
	r->dir = xstrdup(o->dir);
	r->traj = xasprintf("%s/%s", o->dir, name);
	r->agent = xasprintf("primary_%d", o->run);
	n = o->resume ? event_log_resume(path, &r->log, err) : event_log_open(path, &r->log, err);
	if (n < 0)
		return n;
	if (o->resume)
		live_forget(o->dir);
	else
		recorder_put_open(r, o, time);
	r->live = live_new(o->dir);
	n = recorder_commit(r, err);
	if (n < 0)
		return n;
	*out = take_ptr(r);
	return 0;
}

static void recorder_put_state_error(struct recorder *r, const struct fh_step *step)
{
	struct pyjson_writer w;

	if (!step->state_error)
		return;
	w = recorder_begin(r, "state");
	pyjson_put_i64(&w, "step", step->step);
	pyjson_put_text(&w, "what", step->state_error);
	recorder_end_line(&w);
}

int recorder_reset(
		struct recorder *r, uint64_t seed, const struct fh_step *step, struct fh_error *err)
{
	struct pyjson_writer w = recorder_begin(r, "reset");

	pyjson_put_u64(&w, "seed", seed);
	info_put_reset(&w, step);
	recorder_end_line(&w);
	recorder_put_state_error(r, step);
	return recorder_commit(r, err);
}

int recorder_resumed(
		struct recorder *r, const struct recorder_resumed *resumed, struct fh_error *err)
{
	struct pyjson_writer w = recorder_begin(r, "resumed");

	pyjson_put_text(&w, "version", FUMEHOOD_VERSION);
	pyjson_put_i64(&w, "steps", resumed->steps);
	pyjson_put_i64(&w, "messages", resumed->messages);
	pyjson_put_i64(&w, "different", resumed->different);
	pyjson_put_text(&w, "task_hash", resumed->task_hash);
	pyjson_put_text(&w, "agent_hash", resumed->agent_hash);
	recorder_end_line(&w);
	r->steps = resumed->steps;
	return recorder_commit(r, err);
}

static void recorder_put_score(struct recorder *r, const struct fh_step *step)
{
	struct pyjson_writer w = recorder_begin(r, "score");

	pyjson_put_i64(&w, "step", step->step);
	info_put_metrics(&w, "score", step->score, step->n_score);
	if (step->grade_error)
		pyjson_put_text(&w, "error", step->grade_error);
	info_put_metrics(&w, "best", step->best, step->n_best);
	recorder_end_line(&w);
}

static bool recorder_is_graded(const struct fh_step *step)
{
	return step->score || step->grade_error;
}

bool recorder_syncs(const struct fh_step *step)
{
	return recorder_is_graded(step) || step->terminated || step->truncated;
}

int recorder_step(struct recorder *r, const struct recorder_turn *turn, const struct fh_step *step,
		struct fh_error *err)
{
	struct pyjson_writer w = recorder_begin(r, "step");
	int n;

	pyjson_put_text(&w, "action", turn->action);
	if (turn->response)
		pyjson_put_text(&w, "response", turn->response);
	if (turn->thought)
		pyjson_put_text(&w, "thought", turn->thought);
	if (turn->by_person)
		pyjson_put_text(&w, "by", "person");
	info_put_step(&w, step);
	if (turn->numbers)
		pyjson_put_value(&w, "numbers", turn->numbers);
	recorder_end_line(&w);
	if (recorder_is_graded(step))
		recorder_put_score(r, step);
	if (step->integrity) {
		w = recorder_begin(r, "integrity");
		pyjson_put_i64(&w, "step", step->step);
		pyjson_put_text(&w, "what", step->integrity);
		recorder_end_line(&w);
	}
	recorder_put_state_error(r, step);
	r->steps = step->step;
	/* Record no final score if the episode was interrupted, or if its sandbox was lost. */
	r->over = (step->terminated || step->truncated) &&
			step->outcome != FH_OUTCOME_SANDBOX_GONE &&
			step->outcome != FH_OUTCOME_INTERRUPTED;
	if (step->exit_status)
		xstrset(&r->exit_status, step->exit_status);
	n = recorder_commit(r, err);
	if (n < 0)
		return n;
	return recorder_syncs(step) ? event_log_sync(r->log, err) : 0;
}

/* Writes tool calls in the form of OpenAI's messages. */
static void recorder_put_uses(
		struct pyjson_writer *w, const struct recorder_use *uses, size_t n_uses)
{
	if (!n_uses)
		return;
	pyjson_put_array(w, "tool_calls");
	for (size_t i = 0; i < n_uses; i++) {
		pyjson_put_object(w, NULL);
		pyjson_put_text(w, "id", uses[i].id);
		pyjson_put_text(w, "type", "function");
		pyjson_put_object(w, "function");
		pyjson_put_text(w, "name", uses[i].name);
		pyjson_put_text(w, "arguments", uses[i].arguments);
		pyjson_end_object(w);
		pyjson_end_object(w);
	}
	pyjson_end_array(w);
}

int recorder_message(struct recorder *r, const struct recorder_message *m, struct fh_error *err)
{
	struct pyjson_writer w = recorder_begin(r, "message");

	pyjson_put_text(&w, "role", m->role);
	pyjson_put_text(&w, "content", m->content);
	if (m->thought)
		pyjson_put_text(&w, "thought", m->thought);
	if (m->action)
		pyjson_put_text(&w, "action", m->action);
	pyjson_put_text(&w, "agent", r->agent);
	if (m->is_demo)
		pyjson_put_bool(&w, "is_demo", true);
	if (m->is_hint)
		pyjson_put_bool(&w, "is_hint", true);
	recorder_put_uses(&w, m->uses, m->n_uses);
	if (m->use_id)
		pyjson_put_text(&w, "tool_call_id", m->use_id);
	if (m->tools)
		pyjson_put_written(&w, "tools", m->tools);
	recorder_end_line(&w);
	return recorder_commit(r, err);
}

int recorder_fault(struct recorder *r, const struct recorder_fault *f, struct fh_error *err)
{
	struct pyjson_writer w = recorder_begin(r, "fault");

	pyjson_put_text(&w, "kind", f->kind);
	pyjson_put_text(&w, "response", f->response);
	recorder_put_uses(&w, f->uses, f->n_uses);
	pyjson_put_text(&w, "complaint", f->complaint);
	recorder_end_line(&w);
	return recorder_commit(r, err);
}

int recorder_call(struct recorder *r, const struct recorder_call *c, struct fh_error *err)
{
	struct pyjson_writer w = recorder_begin(r, "call");

	pyjson_put_i64(&w, "number", c->number);
	pyjson_put_text(&w, "line", c->line);
	pyjson_put_i64(&w, "status", c->status);
	pyjson_put_double(&w, "duration_s", c->seconds);
	pyjson_put_i64(&w, "old_messages", c->old_messages);
	pyjson_put_i64(&w, "tokens_sent", c->tokens_sent);
	pyjson_put_i64(&w, "tokens_received", c->tokens_received);
	pyjson_put_double(&w, "cost", c->cost);
	pyjson_put_written(&w, "request", c->request);
	pyjson_put_written(&w, "answer", c->answer);
	recorder_end_line(&w);
	return recorder_commit(r, err);
}

int recorder_asked(struct recorder *r, bool is_submit, const struct fh_step *told,
		struct fh_error *err)
{
	struct pyjson_writer w;

	if (is_submit) {
		w = recorder_begin(r, "submit");
		pyjson_put_i64(&w, "step", told->step);
		recorder_end_line(&w);
	} else {
		recorder_put_score(r, told);
	}
	return recorder_commit(r, err);
}

int recorder_spent(struct recorder *r, const struct pyjson *model_stats, struct fh_error *err)
{
	struct pyjson_writer w = recorder_begin(r, "spent");

	pyjson_put_value(&w, "model_stats", model_stats);
	recorder_end_line(&w);
	return recorder_commit(r, err);
}

int recorder_order(struct recorder *r, const struct recorder_order *o, struct fh_error *err)
{
	struct pyjson_writer w = recorder_begin(r, o->kind);

	pyjson_put_i64(&w, "step", o->step);
	if (o->text)
		pyjson_put_text(&w, "text", o->text);
	pyjson_put_text(&w, "asked", o->time);
	recorder_end_line(&w);
	return recorder_commit(r, err);
}

int recorder_end(struct recorder *r, const struct recorder_end *e, struct fh_error *err)
{
	struct pyjson_writer w = recorder_begin(r, "end");
	int n;

	pyjson_put_text(&w, "exit_status", e->exit_status ? e->exit_status : r->exit_status);
	pyjson_put_i64(&w, "steps", r->steps);
	pyjson_put_bool(&w, "over", r->over && !e->error);
	if (e->error)
		pyjson_put_text(&w, "error", e->error);
	if (e->model_stats)
		pyjson_put_value(&w, "model_stats", e->model_stats);
	if (e->numbers)
		pyjson_put_value(&w, "numbers", e->numbers);
	recorder_end_line(&w);
	n = recorder_commit(r, err);
	if (n < 0)
		return n;
	live_free(take_ptr(r->live));
	n = event_log_sync(r->log, err);
	return n < 0 ? n : export_run(r->dir, err);
}

struct live *recorder_live(const struct recorder *r)
{
	return r->live;
}

const char *recorder_traj(const struct recorder *r)
{
	return r->traj;
}

int recorder_check_process(const struct fh_recorder *r, struct fh_error *err)
{
	if (fork_is_marked(r->mark))
		return 0;
	return error_say_kind(err, FH_ERROR_STATE, EPERM,
			"a forked process can't use its parent's recorder: open one after the fork");
}

void recorder_close(struct recorder *r)
{
	if (!r)
		return;
	live_free(r->live);
	event_log_close(r->log);
	buf_release(&r->line);
	free(r->dir);
	free(r->traj);
	free(r->agent);
	free(r->exit_status);
	free(r);
}
