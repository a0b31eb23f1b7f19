/* SPDX-License-Identifier: Apache-2.0 */
/* long-file: has a reader for each kind of event, and they share their state */
#include "trajectory/export.h"

#include "base/fd.h"
#include "base/json_text.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "trajectory/run_dir.h"

#include <fumehood/env.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* State while the events of a run are read from its events.jsonl. */
struct export_reading {
	const char *path;
	struct traj *traj;
	struct arena *arena; /* arena of `traj`, for all strings and values that are read */
	const struct pyjson *open, *end;
	const struct pyjson **told; /* the reset event, then the event of each step in `traj` */
	const struct pyjson *spent; /* last event that tells what the model has cost */
	const struct pyjson **paid; /* for each of `told`, the last event `spent` before it */
	double time;                /* time of the last event */
	double gap;                 /* seconds between the last event and the one before */
	double replying;            /* seconds of the model's replies since the last of `told` */
	double *model_s; /* for each of `told`, seconds of the model's replies before it */
	bool foreign;    /* a program plays as the agent, and its calls tell their seconds */
	struct export_score *scores;
	/* n_scores: number of scores in the events; messages: number of message events */
	size_t n_scores, messages;
	struct export_fault *faults;
	size_t n_faults;
};

struct export_score {
	int64_t step;
	const struct pyjson *metrics;
};

/* --- building MLGym's record from events ------------------------------------------------------ */

static const struct pyjson *export_text(struct export_reading *r, const char *s)
{
	return pyjson_make_text(r->arena, s);
}

static struct pyjson *export_container(struct export_reading *r, enum pyjson_kind kind)
{
	struct pyjson *v = arena_alloc(r->arena, sizeof(*v));

	v->kind = kind;
	return v;
}

static const struct pyjson export_zero = { .kind = PYJSON_NUMBER, .text = "0.0", .len = 3 };

static struct traj_step *export_add_step(struct export_reading *r)
{
	struct traj *t = r->traj;

	t->steps = arena_grow(r->arena, t->steps, t->n_steps, sizeof(*t->steps));
	return &t->steps[t->n_steps++];
}

/* Returns the event of the last step, or of the reset if there was no step. NULL before the
 * reset. */
static const struct pyjson *export_last_told(const struct export_reading *r)
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

static struct traj_message *export_add_message(struct export_reading *r)
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

/* Returns the agent's state before the current step, as MLGym's state command would print it. */
static const struct pyjson *export_state_text(struct export_reading *r)
{
	const struct pyjson *state = pyjson_get(pyjson_get(export_last_told(r), "info"), "state");
	auto_buf struct buf out = BUF_INIT(256L * 1024);

	if (!state || state->kind != PYJSON_OBJECT || !state->first)
		return export_text(r, "{\"open_file\": \"n/a\", \"working_dir\": \"n/a\"}");
	export_dump(&out, state);
	return export_text(r, buf_str(&out));
}

/* Returns the string member `key` of an event, or `otherwise` if the event has no such string. */
static const struct pyjson *export_text_of(
		const struct pyjson *event, const char *key, const struct pyjson *otherwise)
{
	const struct pyjson *v = pyjson_get(event, key);

	return v && v->kind == PYJSON_STRING ? v : otherwise;
}

static const struct pyjson *export_agent_name(struct export_reading *r)
{
	const struct pyjson *run = pyjson_get(r->open, "run");

	return export_text(r,
			arena_printf(r->arena, "primary_%s",
					run && run->kind == PYJSON_NUMBER ? run->text : "0"));
}

/* --- the history of a run whose model has no conversation ------------------------------------- */

static void export_say(struct export_reading *r, const struct pyjson *content)
{
	*export_add_message(r) = (struct traj_message){
		.role = export_text(r, "user"), .content = content, .agent = export_agent_name(r)
	};
}

static void export_make_history(struct export_reading *r)
{
	export_say(r,
			export_text_of(r->told ? r->told[0] : NULL, "observation",
					export_text(r, "")));
	for (size_t i = 0; i < r->traj->n_steps; i++) {
		const struct traj_step *step = &r->traj->steps[i];

		*export_add_message(r) = (struct traj_message){
			.role = export_text(r, "assistant"),
			.content = step->response,
			.thought = step->thought,
			.action = step->action,
			.agent = export_agent_name(r),
			.by_person = export_by_person(r->told[i + 1]),
		};
		if (i + 1 < r->traj->n_steps)
			export_say(r, r->traj->steps[i].observation);
	}
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

static int export_read_lines(
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

/* --- the end of a recorded run ---------------------------------------------------------------- */

static const char *export_exit_status(const struct export_reading *r)
{
	const char *ended = pyjson_string(pyjson_get(r->end, "exit_status"));
	const char *step = pyjson_string(
			pyjson_get(pyjson_get(export_last_told(r), "info"), "exit_status"));

	return ended ? ended : step ? step : "";
}

/* Returns the number of steps that a replay plays. A last step does not count if it was
 * interrupted, or if an error ended the episode. */
static size_t export_count_played(const struct export_reading *r)
{
	const struct pyjson *last = export_last_told(r);
	bool ended = pyjson_true(pyjson_get(last, "terminated")) ||
			pyjson_true(pyjson_get(last, "truncated"));
	bool cut = str_eq(pyjson_string(pyjson_get(pyjson_get(last, "info"), "outcome")),
			fh_outcome_name(FH_OUTCOME_INTERRUPTED));

	return r->traj->n_steps -
			(r->traj->n_steps &&
					(cut ||
							(ended &&
									!pyjson_true(pyjson_get(
											r->end,
											"over")))));
}

/* Adds one more step after the last, as MLGym does when the step limit is reached. */
static void export_add_limit_step(struct export_reading *r)
{
	const struct pyjson *state = export_state_text(r);
	struct traj_step *step = export_add_step(r);

	step->state = state;
	step->response = export_text(r, "Exit due to the limit of steps");
	step->thought = step->response;
	step->action = export_text(r, "exit_max_steps");
	step->execution_time = &export_zero;
	step->observation = export_text(r, "Exited (max_steps)");
}

static const struct pyjson *export_no_costs(struct export_reading *r)
{
	static const char zeros[] = "{\"total_cost\": 0.0, \"task_cost\": 0.0, \"tokens_sent\": 0, "
				    "\"tokens_received\": 0, \"api_calls\": 0}";
	struct pyjson_source source = { .name = "", .data = zeros, .n = sizeof(zeros) - 1 };
	const struct pyjson *v = NULL;

	pyjson_read(r->arena, &source, &v, NULL);
	return v;
}

static const struct pyjson *export_score_list(struct export_reading *r)
{
	struct pyjson *list = export_container(r, PYJSON_ARRAY);
	const struct pyjson **tail = &list->first;

	for (size_t i = 0; i < r->n_scores; i++) {
		struct pyjson *entry = export_container(r, PYJSON_OBJECT);

		entry->first = r->scores[i].metrics->first;
		entry->n = r->scores[i].metrics->n;
		*tail = entry;
		tail = &entry->next;
	}
	list->n = r->n_scores;
	return list;
}

static void export_fill_info(struct export_reading *r, const char *status)
{
	struct traj_info *info = &r->traj->info;
	bool graded = str_eq(status, "submitted") || str_starts(status, "autosubmission");

	info->model_stats = r->spent ? pyjson_get(r->spent, "model_stats") : export_no_costs(r);
	info->exit_status = export_text(r, status);
	info->submission = graded ? export_text_of(r->open, "submission", export_text(r, NULL))
				  : export_text(r, NULL);
	info->score = export_score_list(r);
	info->summarizer = export_container(r, PYJSON_OBJECT);
}

int export_parse(const char *name, const char *data, size_t n, struct exported *out,
		struct fh_error *err)
{
	auto_traj struct traj *t = traj_new();
	struct export_reading r = { .path = name, .traj = t, .arena = &t->arena, .time = NAN };
	const struct pyjson *last;
	const char *status;
	int result;

	t->environment = export_text(&r, "mlgym_main");
	result = export_read_lines(&r, data, data + n, err);
	if (result < 0)
		return result;
	out->n_played = export_count_played(&r);
	out->over = pyjson_true(pyjson_get(r.end, "over"));
	out->reset = r.told ? r.told[0] : NULL;
	out->told = r.told;
	out->paid = r.paid;
	out->model_s = r.model_s;
	out->n_told = r.told ? t->n_steps + 1 : 0;
	out->faults = r.faults;
	out->n_faults = r.n_faults;
	last = export_last_told(&r);
	status = export_exit_status(&r);
	/* Check the status too. A timeout of the episode also sets `truncated`, but MLGym records
	 * no extra step then. */
	if (pyjson_true(pyjson_get(last, "truncated")) && strstr(status, "(max_steps)"))
		export_add_limit_step(&r);
	if (!r.messages)
		export_make_history(&r);
	export_fill_info(&r, status);
	out->traj_name = run_dir_recorded_traj_name(r.open);
	out->baseline = pyjson_get(r.open, "baseline");
	if (!out->baseline)
		out->baseline = export_text(&r, NULL);
	out->final = pyjson_get(pyjson_get(last, "info"), "final");
	out->numbers = pyjson_get(r.end, "numbers");
	out->policy_step = pyjson_get(r.open, "policy_step");
	out->open = r.open;
	out->n_messages = r.messages;
	out->traj = take_ptr(t);
	return 0;
}

int export_read(const char *dir, struct exported *out, struct fh_error *err)
{
	auto_buf struct buf data = BUF_INIT(EXPORT_EVENTS_BYTES_MAX);
	auto_free char *path = path_join(dir, EXPORT_EVENTS);
	int r = fd_read_plain(path, &data, err);

	return r < 0 ? r : export_parse(path, buf_str(&data), data.len, out, err);
}

double export_time(const char *text)
{
	struct tm tm = { 0 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	return rest ? (double)timegm(&tm) + strtod(rest, NULL) : NAN;
}

void export_add_reply(struct buf *out, const struct pyjson *fault)
{
	const struct pyjson *response = pyjson_get(fault, "response");
	const struct pyjson *calls = pyjson_get(fault, "tool_calls");

	if (response && response->kind == PYJSON_STRING) /* it may contain NULs */
		buf_add(out, response->text, response->len);
	if (!calls || calls->kind != PYJSON_ARRAY)
		return;
	for (const struct pyjson *v = calls->first; v; v = v->next) {
		const struct pyjson *call = pyjson_get(v, "function");

		buf_printf(out, "%s%s %s", out->len ? "\n" : "",
				pyjson_text(pyjson_get(call, "name")),
				pyjson_text(pyjson_get(call, "arguments")));
	}
}

void export_release(struct exported *e)
{
	traj_free(e->traj);
	free(e->traj_name);
	*e = (struct exported){ 0 };
}
