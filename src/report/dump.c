/* SPDX-License-Identifier: Apache-2.0 */
#include "report/dump.h"

#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "report/dump_policy.h"
#include "report/find.h"
#include "report/scan_inside.h"

#include <math.h>
#include <string.h>

/* --- what a step cost ------------------------------------------------------------------------- */

static double dump_number(const struct pyjson *object, const char *key)
{
	double value = NAN;

	pyjson_double(pyjson_get(object, key), &value);
	return value;
}

static struct dump_usage dump_usage_at(const struct pyjson *spent)
{
	const struct pyjson *stats = pyjson_get(spent, "model_stats");

	return (struct dump_usage){ .cost = dump_number(stats, "task_cost"),
		.sent = dump_number(stats, "tokens_sent"),
		.received = dump_number(stats, "tokens_received"),
		.calls = dump_number(stats, "api_calls") };
}

/* Returns the usage between two events `spent`. `from` is NULL before the first event. */
static struct dump_usage dump_usage_between(const struct pyjson *from, const struct pyjson *to)
{
	struct dump_usage a = from ? dump_usage_at(from) : (struct dump_usage){ 0 };
	struct dump_usage b = dump_usage_at(to);

	return (struct dump_usage){ .cost = b.cost - a.cost,
		.sent = b.sent - a.sent,
		.received = b.received - a.received,
		.calls = b.calls - a.calls };
}

/* --- steps ------------------------------------------------------------------------------------ */

static void dump_set_event(struct dump_run *run, size_t i)
{
	const struct exported *e = &run->events;
	struct dump_step *step = &run->steps[i];
	const struct pyjson *event = e->told[i + 1];

	step->event = event;
	step->scores = pyjson_get(pyjson_get(event, "info"), "score");
	step->end_s = export_time(pyjson_string(pyjson_get(event, "time")));
	step->begin_s = step->end_s - step->duration_s;
	step->used = dump_usage_between(e->paid[i], e->paid[i + 1]);
	if (run_row_is_unpriced(run->row))
		step->used.cost = NAN;
	if (e->paid[i + 1] && e->paid[i + 1] != e->paid[i])
		step->model_s = e->model_s[i + 1];
}

/* Gives MLGym's list of scores to the steps that were scored. The last one is of the end. */
static void dump_set_scores(struct dump_run *run)
{
	const struct pyjson *list = run->traj->info.score;
	const struct pyjson *v = list && list->kind == PYJSON_ARRAY ? list->first : NULL;

	for (size_t i = 0; v && i < run->n_steps; i++) {
		const char *observation = pyjson_text(run->steps[i].texts->observation);

		if (!strstr(observation, "Evaluation Score: ") &&
				!(i + 1 == run->n_steps && !v->next))
			continue;
		run->steps[i].scores = v;
		v = v->next;
	}
}

static void dump_set_best(struct dump_run *run)
{
	double best = NAN;

	for (size_t i = 0; i < run->n_steps; i++) {
		struct dump_step *step = &run->steps[i];

		if (!pyjson_double(step->scores, &step->score))
			step->score = scan_value(step->scores, run->row->metric);
		if (isnan(best) || (run->row->maximize ? step->score > best : step->score < best))
			best = step->score;
		/* Only this score counts if the end was scored by other answers. */
		if (pyjson_get(pyjson_get(step->event, "info"), "final"))
			best = step->score;
		step->best = best;
	}
}

static const struct pyjson *dump_turn_score(const struct pyjson *turn)
{
	const struct pyjson *score = pyjson_get(turn, "score");

	return score && score->kind != PYJSON_NULL ? score : NULL;
}

static void dump_make_steps(struct dump_run *run)
{
	const struct pyjson *turn = run->turns ? run->turns->first : NULL;

	run->n_steps = run->open ? (run->events.n_told ? run->events.n_told - 1 : 0)
				 : run->traj->n_steps;
	run->steps = arena_array(&run->arena, run->n_steps + 1, sizeof(*run->steps));
	for (size_t i = 0; i < run->n_steps; i++) {
		struct dump_step *step = &run->steps[i];
		const struct traj_step *texts = &run->traj->steps[i];
		const char *seconds = pyjson_string(texts->execution_time);

		*step = (struct dump_step){ .texts = texts,
			.begin_s = NAN,
			.end_s = NAN,
			.duration_s = NAN,
			.model_s = NAN,
			.used = { NAN, NAN, NAN, NAN } };
		if (!pyjson_double(texts->execution_time, &step->duration_s) && seconds)
			str_to_double(seconds, &step->duration_s);
		if (run->open)
			dump_set_event(run, i);
		if (turn) {
			step->event = dump_policy_event(&run->arena, turn);
			step->scores = dump_turn_score(turn);
			turn = turn->next;
		}
	}
	if (!run->open && !run->turns)
		dump_set_scores(run);
	dump_set_best(run);
}

/* --- reading ---------------------------------------------------------------------------------- */

static int dump_read_events(struct dump_run *run, struct fh_error *err)
{
	auto_free char *dir = path_dirname(run->row->path);
	int r = export_read(dir, &run->events, err);

	if (r < 0)
		return r;
	run->traj = run->events.traj;
	run->open = run->events.open;
	return 0;
}

/* A file with the name of a policy's episode may also hold MLGym's forms. */
static int dump_read_policy(struct dump_run *run, struct fh_error *err)
{
	const char *path = run->row->path;

	if (dump_policy_read(path, &run->file, &run->turns, NULL) == 0 || run->row->steps < 0)
		return 0;
	return traj_read(path, &run->file, err);
}

int dump_run_read(const struct run_row *row, struct dump_run *out, struct fh_error *err)
{
	struct dump_run run = { .row = row };
	int r = 0;

	if (str_eq(path_basename(row->path), EXPORT_EVENTS))
		r = dump_read_events(&run, err);
	else if (found_is_policy(path_basename(row->path)))
		r = dump_read_policy(&run, err);
	else if (row->steps >= 0) /* negative: the record has scores, but no steps */
		r = traj_read(row->path, &run.file, err);
	if (r < 0)
		return r;
	if (run.file)
		run.traj = run.file;
	if (run.traj)
		dump_make_steps(&run);
	*out = run;
	return 0;
}

void dump_run_release(struct dump_run *run)
{
	export_release(&run->events);
	traj_free(run->file);
	arena_release(&run->arena);
	*run = (struct dump_run){ 0 };
}
