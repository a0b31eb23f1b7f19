/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "report/inspect_inside.h"

#include <math.h>
#include <string.h>

/*
 * A run as a sample of an Inspect log. Each reply is an event `model`, each action a call of the
 * tool `bash`, and each scoring an event `score`. Events `info` tell of tampering.
 *
 * The input of a call is a range of the conversation (`input_refs`), which is stored once. It is
 * the whole conversation. A history processor may have shown the model less.
 */

#define SUMMARY_TEXT_MAX 1000

static bool sample_is(const struct traj_message *m, const char *role)
{
	return str_eq(pyjson_string(m->role), role);
}

static bool sample_is_demo(const struct traj_message *m)
{
	return m->is_demo && m->is_demo->kind == PYJSON_BOOL && m->is_demo->boolean;
}

/* --- messages --------------------------------------------------------------------------------- */

static const char *sample_role(const struct traj_message *m)
{
	if (pyjson_get(m->event, "tool_call_id"))
		return "tool";
	return sample_is(m, "system") ? "system" : sample_is(m, "assistant") ? "assistant" : "user";
}

static void sample_put_message(struct pyjson_writer *w, const char *key,
		const struct inspect_sample *s, const struct traj_message *m)
{
	const struct pyjson *answered = pyjson_get(m->event, "tool_call_id");
	char id[64];

	snprintf(id, sizeof(id), "%s-%zu", s->id, (size_t)(m - s->run->traj->history));
	pyjson_put_object(w, key);
	pyjson_put_text(w, "id", id);
	pyjson_put_text(w, "role", sample_role(m));
	if (!answered)
		pyjson_put_text(w, "source", sample_is(m, "assistant") ? "generate" : "input");
	else
		pyjson_put_value(w, "tool_call_id", answered);
	inspect_put_calls(w, "tool_calls", pyjson_get(m->event, "tool_calls"));
	if (m->content && m->content->kind == PYJSON_STRING)
		pyjson_put_value(w, "content", m->content);
	else
		pyjson_put_text(w, "content", "");
	if (sample_is(m, "assistant"))
		pyjson_put_text(w, "model", s->model);
	pyjson_end_object(w);
}

static void sample_put_messages(
		struct pyjson_writer *w, const char *key, const struct inspect_sample *s)
{
	const struct traj *t = s->run->traj;

	pyjson_put_array(w, key);
	for (size_t i = 0; t && i < t->n_history; i++)
		sample_put_message(w, NULL, s, &t->history[i]);
	pyjson_end_array(w);
}

/* Returns the text of the task: the first message that is no system prompt and no demonstration. */
static const struct pyjson *sample_input(const struct inspect_sample *s)
{
	const struct traj *t = s->run->traj;

	for (size_t i = 0; t && i < t->n_history; i++) {
		const struct traj_message *m = &t->history[i];

		if (!sample_is(m, "system") && !sample_is_demo(m))
			return m->content && m->content->kind == PYJSON_STRING ? m->content : NULL;
	}
	return NULL;
}

static void sample_put_output(struct pyjson_writer *w, const struct inspect_sample *s,
		const struct traj_message *reply, const struct dump_usage *used)
{
	pyjson_put_object(w, "output");
	pyjson_put_text(w, "model", s->model);
	pyjson_put_array(w, "choices");
	if (reply) {
		pyjson_put_object(w, NULL);
		sample_put_message(w, "message", s, reply);
		pyjson_put_text(w, "stop_reason", "stop");
		pyjson_end_object(w);
	}
	pyjson_end_array(w);
	inspect_put_tokens(w, "usage", used);
	pyjson_end_object(w);
}

/* --- scores ----------------------------------------------------------------------------------- */

static void sample_put_score(struct pyjson_writer *w, const char *key, const struct run_row *row,
		double value, const struct pyjson *all)
{
	pyjson_put_object(w, key);
	pyjson_put_double(w, "value", value);
	pyjson_put_object(w, "metadata");
	pyjson_put_text(w, "metric", row->metric);
	pyjson_put_bool(w, "maximize", row->maximize != 0);
	inspect_put_number(w, "baseline", row->baseline);
	if (all)
		pyjson_put_value(w, "scores", all);
	pyjson_end_object(w);
	pyjson_end_object(w);
}

static void sample_put_scores(struct pyjson_writer *w, const struct run_row *row)
{
	pyjson_put_object(w, "scores");
	if (isfinite(row->best))
		sample_put_score(w, "best", row, row->best, NULL);
	if (isfinite(row->last))
		sample_put_score(w, "last", row, row->last, NULL);
	pyjson_end_object(w);
}

/* --- events ----------------------------------------------------------------------------------- */

struct sample_events {
	struct pyjson_writer *w;
	const struct inspect_sample *s;
	double at_s; /* time of the event that is written */
	size_t n;    /* number of events, for their ids */
};

static void sample_begin_event(struct sample_events *e, const char *event)
{
	char id[64];

	snprintf(id, sizeof(id), "%s-e%zu", e->s->id, e->n++);
	pyjson_put_object(e->w, NULL);
	pyjson_put_text(e->w, "event", event);
	pyjson_put_text(e->w, "uuid", id);
	inspect_put_time(e->w, "timestamp", e->at_s);
	inspect_put_number(e->w, "working_start", e->at_s - e->s->begin_s);
}

static void sample_put_info(struct sample_events *e, const char *source, const struct pyjson *data)
{
	if (!data)
		return;
	sample_begin_event(e, "info");
	pyjson_put_text(e->w, "source", source);
	pyjson_put_value(e->w, "data", data);
	pyjson_end_object(e->w);
}

/* A reply of the model. `step` is the step that it led to; NULL: it is not known. */
static void sample_put_model(struct sample_events *e, const struct traj_message *reply,
		const struct dump_step *step)
{
	static const struct dump_usage none = { NAN, NAN, NAN, NAN };
	const struct traj_message *history = e->s->run->traj->history;
	const struct pyjson *tools = pyjson_get(history[0].event, "tools");
	size_t n = (size_t)(reply - history);

	sample_begin_event(e, "model");
	pyjson_put_text(e->w, "model", e->s->model);
	pyjson_put_array(e->w, "input");
	pyjson_end_array(e->w);
	pyjson_put_array(e->w, "input_refs");
	pyjson_put_array(e->w, NULL);
	pyjson_put_i64(e->w, NULL, 0);
	pyjson_put_i64(e->w, NULL, (int64_t)n);
	pyjson_end_array(e->w);
	pyjson_end_array(e->w);
	inspect_put_tools(e->w, "tools", tools);
	pyjson_put_text(e->w, "tool_choice", tools ? "auto" : "none");
	pyjson_put_object(e->w, "config");
	pyjson_end_object(e->w);
	sample_put_output(e->w, e->s, reply, step ? &step->used : &none);
	if (step)
		inspect_put_number(e->w, "working_time", step->model_s);
	pyjson_end_object(e->w);
}

/* The call of the tool that the step is. `call` is NULL if the model called none. */
static void sample_put_call(
		struct sample_events *e, const struct dump_step *step, const struct pyjson *call)
{
	char id[64];

	if (call) {
		inspect_put_call(e->w, call);
		return;
	}
	snprintf(id, sizeof(id), "step-%zu", (size_t)(step - e->s->run->steps) + 1);
	pyjson_put_text(e->w, "id", id);
	pyjson_put_text(e->w, "function", "bash");
	pyjson_put_object(e->w, "arguments");
	pyjson_put_value(e->w, "command", step->texts->action);
	pyjson_end_object(e->w);
}

static void sample_put_action(
		struct sample_events *e, const struct dump_step *step, const struct pyjson *call)
{
	const struct pyjson *outcome = pyjson_get(pyjson_get(step->event, "info"), "outcome");

	sample_begin_event(e, "tool");
	sample_put_call(e, step, call);
	pyjson_put_value(e->w, "result", step->texts->observation);
	if (str_eq(pyjson_string(outcome), "timeout")) {
		pyjson_put_object(e->w, "error");
		pyjson_put_text(e->w, "type", "timeout");
		pyjson_put_text(e->w, "message", "the command was ended by its timeout");
		pyjson_end_object(e->w);
	}
	inspect_put_time(e->w, "completed", e->at_s + step->duration_s);
	inspect_put_number(e->w, "working_time", step->duration_s);
	pyjson_end_object(e->w);
}

static void sample_put_step(
		struct sample_events *e, const struct dump_step *step, const struct pyjson *call)
{
	const struct pyjson *info = pyjson_get(step->event, "info");

	if (!isnan(step->begin_s))
		e->at_s = step->begin_s;
	sample_put_action(e, step, call);
	e->at_s += isnan(step->duration_s) ? 0 : step->duration_s;
	if (isfinite(step->score)) {
		sample_begin_event(e, "score");
		sample_put_score(e->w, "score", e->s->run->row, step->score, step->scores);
		pyjson_put_bool(e->w, "intermediate", true);
		pyjson_end_object(e->w);
	}
	sample_put_info(e, "grade_error", pyjson_get(info, "grade_error"));
	sample_put_info(e, "integrity", pyjson_get(info, "integrity"));
}

/* Time when a reply was asked for, if the step's record tells it. */
static double sample_asked(const struct sample_events *e, const struct dump_step *step)
{
	double asked = step->begin_s - step->model_s;

	return asked >= e->at_s ? asked : e->at_s;
}

static void sample_put_init(struct sample_events *e)
{
	const struct pyjson *input = sample_input(e->s);

	sample_begin_event(e, "sample_init");
	pyjson_put_object(e->w, "sample");
	if (input)
		pyjson_put_value(e->w, "input", input);
	else
		pyjson_put_text(e->w, "input", "");
	pyjson_end_object(e->w);
	pyjson_end_object(e->w);
}

static void sample_put_events(struct pyjson_writer *w, const struct inspect_sample *s)
{
	struct sample_events e = { .w = w, .s = s, .at_s = s->begin_s };
	const struct dump_run *run = s->run;
	const struct traj *t = run->traj;
	size_t n_replies = 0, i = 0;

	pyjson_put_array(w, "events");
	sample_put_init(&e);
	for (size_t k = 0; t && k < t->n_history; k++)
		n_replies += sample_is(&t->history[k], "assistant") &&
				!sample_is_demo(&t->history[k]);
	for (size_t k = 0; t && k < t->n_history; k++) {
		/* A program as the agent calls the model many times in one step. */
		const struct dump_step *step = i < run->n_steps && n_replies <= run->n_steps + 1
				? &run->steps[i]
				: NULL;

		if (!sample_is(&t->history[k], "assistant") || sample_is_demo(&t->history[k]))
			continue;
		if (step)
			e.at_s = sample_asked(&e, step);
		sample_put_model(&e, &t->history[k], step);
		if (step) {
			const struct pyjson *calls = pyjson_get(t->history[k].event, "tool_calls");

			sample_put_step(&e, step, calls ? calls->first : NULL);
			i++;
		}
	}
	for (; i < run->n_steps; i++)
		sample_put_step(&e, &run->steps[i], NULL);
	pyjson_end_array(w);
}

/* --- the sample ------------------------------------------------------------------------------- */

static void sample_put_metadata(struct pyjson_writer *w, const struct run_row *row)
{
	pyjson_put_object(w, "metadata");
	pyjson_put_text(w, "record", row->path);
	if (row->exit_status)
		pyjson_put_text(w, "exit_status", row->exit_status);
	if (row->number >= 0)
		pyjson_put_i64(w, "run", row->number);
	if (row->policy_step >= 0)
		pyjson_put_i64(w, "policy_step", row->policy_step);
	if (row->steps >= 0)
		pyjson_put_i64(w, "steps", row->steps);
	inspect_put_number(w, "baseline", row->baseline);
	pyjson_end_object(w);
}

static void sample_put_shared(struct pyjson_writer *w, const struct inspect_sample *s)
{
	const struct run_row *row = s->run->row;
	struct dump_usage used = inspect_usage(row);
	double seconds = isnan(row->seconds) ? row->tool_s + row->graded_s : row->seconds;

	pyjson_put_text(w, "id", row->task ? row->task : "unknown");
	pyjson_put_i64(w, "epoch", s->epoch);
	pyjson_put_text(w, "target", "");
	sample_put_scores(w, row);
	sample_put_metadata(w, row);
	inspect_put_usage(w, s->model, &used);
	inspect_put_time(w, "started_at", s->begin_s);
	inspect_put_time(w, "completed_at", s->begin_s + (isnan(seconds) ? 0 : seconds));
	inspect_put_number(w, "total_time", seconds);
	inspect_put_number(w, "working_time", seconds);
	pyjson_put_text(w, "uuid", s->id);
}

static const char *sample_error(const struct run_row *row)
{
	if (row->complete != 0)
		return NULL;
	return row->exit_status && *row->exit_status ? row->exit_status
						     : "the run was killed, or goes on";
}

void inspect_put_sample(struct buf *out, const struct inspect_sample *s)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(out, PYJSON_LINE);
	const struct pyjson *input = sample_input(s);
	const struct traj *t = s->run->traj;
	const struct traj_message *last = NULL;
	const struct dump_usage none = { NAN, NAN, NAN, NAN };
	const char *error = sample_error(s->run->row);

	for (size_t i = 0; t && i < t->n_history; i++)
		if (sample_is(&t->history[i], "assistant") && !sample_is_demo(&t->history[i]))
			last = &t->history[i];
	pyjson_put_object(&w, NULL);
	sample_put_shared(&w, s);
	if (input)
		pyjson_put_value(&w, "input", input);
	else
		pyjson_put_text(&w, "input", "");
	sample_put_messages(&w, "messages", s);
	sample_put_output(&w, s, last, &none);
	sample_put_events(&w, s);
	pyjson_put_object(&w, "events_data");
	sample_put_messages(&w, "messages", s);
	pyjson_put_array(&w, "calls");
	pyjson_end_array(&w);
	pyjson_end_object(&w);
	if (error) {
		pyjson_put_object(&w, "error");
		pyjson_put_text(&w, "message", error);
		pyjson_put_text(&w, "traceback", "");
		pyjson_put_text(&w, "traceback_ansi", "");
		pyjson_end_object(&w);
	}
	pyjson_end_object(&w);
}

void inspect_put_summary(struct pyjson_writer *w, const struct inspect_sample *s)
{
	const struct pyjson *input = sample_input(s);
	const char *text = pyjson_text(input), *error = sample_error(s->run->row);
	auto_buf struct buf cut = BUF_INIT(SUMMARY_TEXT_MAX);

	buf_add(&cut, text, str_utf8_cut(text, strlen(text), SUMMARY_TEXT_MAX));
	pyjson_put_object(w, NULL);
	sample_put_shared(w, s);
	pyjson_put_text(w, "input", buf_str(&cut));
	if (error)
		pyjson_put_text(w, "error", error);
	pyjson_put_bool(w, "completed", s->run->row->complete != 0);
	pyjson_put_i64(w, "message_count", s->run->traj ? (int64_t)s->run->traj->n_history : 0);
	pyjson_end_object(w);
}
