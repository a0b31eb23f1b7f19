/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_text.h"
#include "base/scope.h"
#include "base/str.h"
#include "trajectory/export_inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- building MLGym's record from events ------------------------------------------------------ */

const struct pyjson *export_text(struct export_reading *r, const char *s)
{
	return pyjson_make_text(r->arena, s);
}

const struct pyjson export_zero = { .kind = PYJSON_NUMBER, .text = "0.0", .len = 3 };

struct traj_step *export_add_step(struct export_reading *r)
{
	struct traj *t = r->traj;

	t->steps = arena_grow(r->arena, t->steps, t->n_steps, sizeof(*t->steps));
	return &t->steps[t->n_steps++];
}

const struct pyjson *export_last_told(const struct export_reading *r)
{
	return r->told ? r->told[r->traj->n_steps] : NULL;
}

/* Stores the event of the reset, or of the newest step, in the list r->told. */
static void export_set_told(struct export_reading *r, const struct pyjson *event)
{
	size_t at = r->traj->n_steps;

	r->told = arena_grow(r->arena, r->told, at, sizeof(const struct pyjson *));
	r->told[at] = event;
	r->paid = arena_grow(r->arena, r->paid, at, sizeof(const struct pyjson *));
	r->paid[at] = r->spent;
	r->model_s = arena_grow(r->arena, r->model_s, at, sizeof(double));
	r->model_s[at] = r->replying;
	r->replying = 0;
}

struct traj_message *export_add_message(struct export_reading *r)
{
	struct traj *t = r->traj;

	t->history = arena_grow(r->arena, t->history, t->n_history, sizeof(*t->history));
	return &t->history[t->n_history++];
}

/* Appends a JSON value as Python's json.dumps() writes it. */
static void export_dump(struct buf *out, const struct pyjson *v)
{
	bool is_object = v->kind == PYJSON_OBJECT;
	struct pyjson_writer w = PYJSON_WRITER_INIT(out, PYJSON_LINE);

	if (v->kind == PYJSON_STRING) {
		json_text_add(out, v->text, v->len, JSON_TEXT_ASCII);
		return;
	}
	if (!is_object && v->kind != PYJSON_ARRAY) {
		pyjson_put_value(&w, NULL, v);
		return;
	}
	buf_add_char(out, is_object ? '{' : '[');
	for (const struct pyjson *m = v->first; m; m = m->next) {
		buf_add_str(out, m == v->first ? "" : ", ");
		if (is_object) {
			json_text_add(out, m->key, m->key_len, JSON_TEXT_ASCII);
			buf_add_str(out, ": ");
		}
		export_dump(out, m);
	}
	buf_add_char(out, is_object ? '}' : ']');
}

const struct pyjson *export_state_text(struct export_reading *r)
{
	const struct pyjson *state = pyjson_get(pyjson_get(export_last_told(r), "info"), "state");
	auto_buf struct buf out = BUF_INIT(256L * 1024);

	if (!state || state->kind != PYJSON_OBJECT || !state->first)
		return export_text(r, "{\"open_file\": \"n/a\", \"working_dir\": \"n/a\"}");
	export_dump(&out, state);
	return export_text(r, buf_str(&out));
}

const struct pyjson *export_text_of(
		const struct pyjson *event, const char *key, const struct pyjson *otherwise)
{
	const struct pyjson *v = pyjson_get(event, key);

	return v && v->kind == PYJSON_STRING ? v : otherwise;
}

const struct pyjson *export_agent_name(struct export_reading *r)
{
	const struct pyjson *run = pyjson_get(r->open, "run");

	return export_text(r,
			arena_printf(r->arena, "primary_%s",
					run && run->kind == PYJSON_NUMBER ? run->text : "0"));
}

/* --- events ----------------------------------------------------------------------------------- */

static int export_on_open(
		struct export_reading *r, const struct pyjson *event, struct fh_error *err)
{
	const struct pyjson *format = pyjson_get(event, "format");

	if (!format || !str_eq(format->text, "1"))
		return pyjson_complain(r->path, event, err,
				"made by another version: its format is not 1");
	if (!pyjson_string(pyjson_get(event, "task")))
		return pyjson_complain(r->path, event, err, "'task' should be a string");
	r->open = event;
	return 0;
}

static int export_on_reset(
		struct export_reading *r, const struct pyjson *event, struct fh_error *err)
{
	if (r->traj->n_steps)
		return pyjson_complain(r->path, event, err, "a reset after a step");
	export_set_told(r, event);
	return 0;
}

static int export_on_step(
		struct export_reading *r, const struct pyjson *event, struct fh_error *err)
{
	const struct pyjson *action = pyjson_get(event, "action");
	const struct pyjson *info = pyjson_get(event, "info");
	const struct pyjson *seconds = pyjson_get(info, "duration_s");
	const struct pyjson *state;
	struct traj_step *step;

	if (!action || action->kind != PYJSON_STRING)
		return pyjson_complain(r->path, event, err, "'action' should be a string");
	if (!r->told)
		return pyjson_complain(r->path, event, err, "a step before the reset");
	if (r->traj->n_steps >= STEPS_MAX)
		return pyjson_complain(r->path, event, err, "more than %d steps", STEPS_MAX);
	state = export_state_text(r);
	step = export_add_step(r);
	step->state = state;
	step->action = action;
	step->response = export_text_of(event, "response", action);
	step->thought = export_text_of(event, "thought", export_text(r, ""));
	step->observation = export_text_of(event, "observation", export_text(r, ""));
	step->execution_time = seconds && seconds->kind == PYJSON_NUMBER ? seconds : &export_zero;
	step->timeout_s = 0;
	pyjson_double(pyjson_get(info, "timeout_s"), &step->timeout_s);
	export_set_told(r, event);
	/* The reply of a step is recorded before the step, and the next observation after it. */
	if (r->traj->n_history && export_by_person(event))
		r->traj->history[r->traj->n_history - 1].by_person = true;
	return 0;
}

static int export_on_score(
		struct export_reading *r, const struct pyjson *event, struct fh_error *err)
{
	const struct pyjson *metrics = pyjson_get(event, "score");

	if (!metrics || metrics->kind != PYJSON_OBJECT)
		return 0;
	r->scores = arena_grow(r->arena, r->scores, r->n_scores, sizeof(*r->scores));
	r->scores[r->n_scores++] = (struct export_score){ .step = (int64_t)r->traj->n_steps,
		.metrics = metrics };
	return 0;
}

static int export_on_message(
		struct export_reading *r, const struct pyjson *event, struct fh_error *err)
{
	const struct pyjson *role = pyjson_get(event, "role");
	const struct pyjson *is_demo = pyjson_get(event, "is_demo");

	if (!role || role->kind != PYJSON_STRING)
		return pyjson_complain(r->path, event, err, "'role' should be a string");
	r->messages++;
	*export_add_message(r) = (struct traj_message){
		.role = role,
		.content = export_text_of(event, "content", export_text(r, "")),
		.thought = export_text_of(event, "thought", NULL),
		.action = export_text_of(event, "action", NULL),
		.agent = export_text_of(event, "agent", export_agent_name(r)),
		.is_demo = is_demo && is_demo->kind == PYJSON_BOOL ? is_demo : NULL,
		.event = event,
	};
	return 0;
}

static int export_on_fault(
		struct export_reading *r, const struct pyjson *event, struct fh_error *err)
{
	r->replying += r->gap;
	r->faults = arena_grow(r->arena, r->faults, r->n_faults, sizeof(*r->faults));
	r->faults[r->n_faults++] =
			(struct export_fault){ .event = event, .step = r->traj->n_steps };
	return 0;
}

static int export_on_spent(
		struct export_reading *r, const struct pyjson *event, struct fh_error *err)
{
	const struct pyjson *stats = pyjson_get(event, "model_stats");

	if (stats && stats->kind == PYJSON_OBJECT)
		r->spent = event;
	if (!r->foreign)
		r->replying += r->gap;
	return 0;
}

/* A call of the model by a program that plays as the agent, within its step. */
static int export_on_call(
		struct export_reading *r, const struct pyjson *event, struct fh_error *err)
{
	double seconds = 0;

	pyjson_double(pyjson_get(event, "duration_s"), &seconds);
	r->foreign = true;
	r->replying += seconds;
	return 0;
}

static int export_on_end(struct export_reading *r, const struct pyjson *event, struct fh_error *err)
{
	r->end = event;
	return export_on_spent(r, event, err);
}

/* Drops the steps and messages that the earlier run recorded, but that the resumed run repeats. */
static int export_on_resumed(
		struct export_reading *r, const struct pyjson *event, struct fh_error *err)
{
	struct traj *t = r->traj;
	int64_t steps, messages;

	if (!pyjson_i64(pyjson_get(event, "steps"), &steps) || steps < 0)
		return pyjson_complain(r->path, event, err, "'steps' should be a number");
	if (!pyjson_i64(pyjson_get(event, "messages"), &messages) || messages < 0)
		return pyjson_complain(r->path, event, err, "'messages' should be a number");
	if ((size_t)steps < t->n_steps)
		t->n_steps = (size_t)steps;
	while (r->n_scores && r->scores[r->n_scores - 1].step > steps)
		r->n_scores--;
	while (r->n_faults && r->faults[r->n_faults - 1].step >= (size_t)steps)
		r->n_faults--;
	if ((size_t)messages < r->messages)
		t->n_history = r->messages = (size_t)messages;
	r->end = NULL;
	r->replying = 0;
	return 0;
}

struct export_kind {
	const char *name;
	int (*read)(struct export_reading *r, const struct pyjson *event, struct fh_error *err);
};

/* Functions that read events, by the kind of event. Kinds that the table lacks, like "integrity",
 * add nothing to MLGym's files. */
static const struct export_kind kinds[] = {
	{ "open", export_on_open },
	{ "reset", export_on_reset },
	{ "step", export_on_step },
	{ "score", export_on_score },
	{ "message", export_on_message },
	{ "fault", export_on_fault },
	{ "spent", export_on_spent },
	{ "call", export_on_call },
	{ "end", export_on_end },
	{ "resumed", export_on_resumed },
};

double export_time(const char *text)
{
	struct tm tm = { 0 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	return rest ? (double)timegm(&tm) + strtod(rest, NULL) : NAN;
}

static int export_read_event(
		struct export_reading *r, const struct pyjson *event, struct fh_error *err)
{
	const char *name = pyjson_string(pyjson_get(event, "event"));
	double time = export_time(pyjson_string(pyjson_get(event, "time")));

	r->gap = time > r->time ? time - r->time : 0;
	r->time = isnan(time) ? r->time : time;
	if (!name)
		return pyjson_complain(r->path, event, err, "expected an object with 'event'");
	if (!r->open && !str_eq(name, "open"))
		return pyjson_complain(r->path, event, err, "the first event should be 'open'");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (str_eq(name, kinds[i].name))
			return kinds[i].read(r, event, err);
	}
	return 0;
}

int export_read_lines(
		struct export_reading *r, const char *at, const char *end, struct fh_error *err)
{
	unsigned line = 1;

	for (const char *stop; (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1) {
		struct pyjson_source source = {
			.name = r->path, .data = at, .n = (size_t)(stop - at), .first_line = line++
		};
		const struct pyjson *event;
		int n = pyjson_read(r->arena, &source, &event, err);

		if (n < 0)
			return n;
		n = export_read_event(r, event, err);
		if (n < 0)
			return n;
	}
	if (!r->open)
		return error_say(err, EINVAL, "%s:1:1: there is no whole event in it", r->path);
	return 0;
}
