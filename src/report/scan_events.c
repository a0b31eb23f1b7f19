/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/lines.h"
#include "base/scope.h"
#include "base/str.h"
#include "report/scan_inside.h"
#include "trajectory/export.h"

#include <errno.h>
#include <math.h>

/* Reads events.jsonl line by line, so that a record of any length needs little memory. */

struct events {
	struct scan *scan;
	double time; /* seconds of the last event since 1970; NAN: none yet */
	double gap;  /* seconds between the last event and the one before */
	double model_s, seconds;
	double called_s; /* seconds of calls in the step that goes on */
	bool opened, paid, foreign;
	int64_t faults, blocked; /* replies that can't be parsed, or that are blocked */
	int64_t failed, hints;
	double beside; /* last score of a step that goes on; NAN: none */
	bool ended;    /* the end was scored by other hidden answers: only `final` counts */
	double final;  /* score of that end; NAN: none */
};

static void events_set_judge(struct scan *s, const struct pyjson *open)
{
	int64_t keys = 0, seed = 0;

	pyjson_i64(pyjson_get(open, "keys"), &keys);
	pyjson_i64(pyjson_get(open, "data_seed"), &seed);
	s->row->judge = arena_printf(
			s->arena, "keys %lld seed %lld", (long long)keys, (long long)seed);
}

static void events_open(struct events *e, const struct pyjson *event)
{
	struct scan *s = e->scan;
	struct run_row *row = s->row;
	const struct pyjson *maximize = pyjson_get(event, "maximize");
	const char *variant = scan_text(s, pyjson_get(event, "variant"));
	const char *task = scan_text(s, pyjson_get(event, "task"));

	e->opened = task != NULL;
	if (!task)
		return;
	row->task = variant && *variant ? arena_printf(s->arena, "%s:%s", task, variant) : task;
	row->version = scan_text(s, pyjson_get(event, "task_hash"));
	row->root = scan_text(s, pyjson_get(event, "fingerprint"));
	events_set_judge(s, event);
	row->metric = scan_text(s, pyjson_get(event, "metric"));
	row->maximize = !maximize || maximize->kind != PYJSON_BOOL || maximize->boolean;
	row->model = scan_text(s, pyjson_get(event, "model"));
	row->agent = scan_text(s, pyjson_get(event, "agent_config"));
	row->agent_hash = scan_text(s, pyjson_get(event, "agent_hash"));
	row->started = scan_text(s, pyjson_get(event, "time"));
	pyjson_i64(pyjson_get(event, "run"), &row->number);
	pyjson_i64(pyjson_get(event, "policy_step"), &row->policy_step);
	row->baseline = scan_value(pyjson_get(event, "baseline"), row->metric);
	row->complete = 0;
}

static void events_step(struct events *e, const struct pyjson *event)
{
	const struct pyjson *info = pyjson_get(event, "info"), *score = pyjson_get(info, "score");
	const struct pyjson *final = pyjson_get(info, "final");
	const char *outcome = pyjson_string(pyjson_get(info, "outcome"));
	struct scan_step *step;
	int64_t exit_code = 0;

	if (e->scan->n_steps >= STEPS_MAX)
		return;
	step = scan_add_step(e->scan);
	step->kind = action_letter_of(pyjson_text(pyjson_get(event, "action")));
	pyjson_i64(pyjson_get(info, "exit_code"), &exit_code);
	step->failed = exit_code != 0;
	step->timed_out = str_eq(outcome, "timeout");
	step->malformed = str_eq(outcome, "malformed_edit") || str_eq(outcome, "syntax_error");
	step->refused = pyjson_get(info, "grade_error") != NULL;
	step->tampered = pyjson_get(info, "integrity") != NULL;
	step->by_person = export_by_person(event);
	step->scored = score != NULL;
	step->graded = step->scored || step->refused;
	step->score = scan_value(score, e->scan->row->metric);
	step->cost = e->paid ? e->scan->row->cost : NAN;
	pyjson_double(pyjson_get(info, "duration_s"), &step->duration_s);
	step->graded_s = step->graded ? step->duration_s : 0;
	pyjson_double(pyjson_get(info, "grading_s"), &step->graded_s);
	step->called_s = e->called_s;
	e->called_s = 0;
	pyjson_double(pyjson_get(event, "reward"), &step->reward);
	if (!final)
		return;
	e->ended = step->is_apart = true;
	e->final = scan_value(pyjson_get(final, "score"), e->scan->row->metric);
}

static bool events_is_better(const struct run_row *row, double score)
{
	return isnan(row->best) || (row->maximize ? score > row->best : score < row->best);
}

/* Takes a score of a step that is not recorded yet: a command plays as the agent, and validates. */
static void events_score(struct events *e, const struct pyjson *event)
{
	struct run_row *row = e->scan->row;
	double score = scan_value(pyjson_get(event, "score"), row->metric);
	int64_t step;

	if (!pyjson_i64(pyjson_get(event, "step"), &step) || step <= (int64_t)e->scan->n_steps)
		return;
	if (!isnan(score))
		e->beside = score;
	if (!isnan(score) && events_is_better(row, score))
		row->best = score;
}

static void events_spent(struct events *e, const struct pyjson *event)
{
	scan_set_stats(e->scan, pyjson_get(event, "model_stats"));
	e->paid = true;
	if (!e->foreign)
		e->model_s += e->gap;
}

/* A reply that led to no step. It was recorded when it came, before its cost. */
static void events_fault(struct events *e, const struct pyjson *event)
{
	*(export_is_blocked(event) ? &e->blocked : &e->faults) += 1;
	e->model_s += e->gap;
}

static void events_hint(struct events *e, const struct pyjson *event)
{
	e->hints++;
}

/* A call of the model by a program that plays as the agent, within its step. */
static void events_call(struct events *e, const struct pyjson *event)
{
	double seconds = 0;

	pyjson_double(pyjson_get(event, "duration_s"), &seconds);
	e->foreign = true;
	e->model_s += seconds;
	e->called_s += seconds;
}

static void events_resumed(struct events *e, const struct pyjson *event)
{
	int64_t steps;

	if (pyjson_i64(pyjson_get(event, "steps"), &steps) && steps >= 0 &&
			(size_t)steps < e->scan->n_steps)
		e->scan->n_steps = (size_t)steps;
	e->scan->row->complete = 0;
	e->gap = 0; /* the run did not go on meanwhile */
}

static void events_end(struct events *e, const struct pyjson *event)
{
	e->scan->row->exit_status = scan_text(e->scan, pyjson_get(event, "exit_status"));
	e->scan->row->complete = pyjson_true(pyjson_get(event, "over"));
	if (pyjson_get(event, "model_stats"))
		scan_set_stats(e->scan, pyjson_get(event, "model_stats"));
}

static const struct {
	const char *name;
	void (*on)(struct events *e, const struct pyjson *event);
} handlers[] = {
	{ "open", events_open },
	{ "step", events_step },
	{ "score", events_score },
	{ "spent", events_spent },
	{ "fault", events_fault },
	{ "hint", events_hint },
	{ "call", events_call },
	{ "resumed", events_resumed },
	{ "end", events_end },
};

static int events_line(struct events *e, const struct pyjson_source *source, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	const struct pyjson *event;
	const char *name;
	double time;
	int r = pyjson_read(&arena, source, &event, err);

	if (r < 0)
		return r;
	name = pyjson_text(pyjson_get(event, "event"));
	time = export_time(pyjson_string(pyjson_get(event, "time")));
	e->gap = time > e->time ? time - e->time : 0;
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++)
		if (str_eq(name, handlers[i].name))
			handlers[i].on(e, event);
	e->seconds += e->gap;
	e->time = isnan(time) ? e->time : time;
	return 0;
}

/* Sums up the steps. A resumed run plays some steps again: the later ones have replaced them in
 * scan.steps. */
static void events_sum(struct events *e)
{
	struct scan *s = e->scan;
	struct run_row *row = s->row;

	scan_sum_steps(s);
	row->failed = 0;
	row->helped = e->hints;
	row->format_errors = e->faults;
	row->blocked = e->blocked;
	row->last = e->beside;
	for (size_t i = 0; i < s->n_steps; i++) {
		const struct scan_step *step = &s->steps[i];

		row->failed += step->failed;
		row->helped += step->by_person;
		row->format_errors += step->malformed;
		if (!step->scored)
			continue;
		row->last = step->score;
		if (events_is_better(row, step->score))
			row->best = step->score;
	}
	if (e->ended)
		row->best = row->last = e->final;
	row->is_apart = e->ended;
	if (run_row_is_human(row))
		row->helped = 0;
	row->seconds = e->seconds;
	row->model_s = e->paid ? e->model_s : NAN;
}

static int events_read(struct events *e, int fd, const char *path, struct fh_error *err)
{
	auto_lines struct lines lines = LINES_INIT;
	struct pyjson_source source = { .name = path };
	enum lines_result got;

	while ((got = lines_next(&lines, fd, -1, &source.data, &source.n)) != LINES_END) {
		int r;

		source.first_line++;
		r = got == LINES_LINE ? events_line(e, &source, err)
				      : error_say(err, EFBIG, "%s:%u:1: over %ld bytes in a line",
							path, source.first_line, LINE_BYTES_MAX);
		/* A run that is still being written may end in a part of a line. */
		if (r < 0 && e->opened && lines.given == source.n)
			return 0;
		if (r < 0 && !e->opened)
			return r;
		if (r < 0) {
			scan_set_damage(e->scan, err);
			scan_add_broken_step(e->scan);
		}
		if (!e->opened)
			return error_say(err, EINVAL, "'%s' does not begin with an event `open`",
					path);
	}
	return e->opened ? 0 : error_say(err, EINVAL, "'%s' has no event `open`", path);
}

int scan_events(struct scan *s, const char *path, struct fh_error *err)
{
	struct events e = { .scan = s, .time = NAN, .beside = NAN, .final = NAN };
	auto_close int fd = fd_open_plain(path, err);
	int r;

	if (fd < 0)
		return fd;
	r = events_read(&e, fd, path, err);
	if (r < 0)
		return r;
	events_sum(&e);
	return 0;
}
