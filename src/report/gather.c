/* SPDX-License-Identifier: Apache-2.0 */
#include "report/gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool report_is_better(const struct report_task *task, double a, double b)
{
	if (isnan(a) || isnan(b))
		return !isnan(a);
	return task->maximize ? a > b : a < b;
}

size_t report_count_unpriced(const struct report *r, size_t model)
{
	size_t n = 0;

	for (size_t task = 0; task < r->n_tasks; task++)
		for (size_t i = 0; i < report_at(r, task, model)->n; i++)
			n += run_row_is_unpriced(report_at(r, task, model)->runs[i]);
	return n;
}

struct cell report_cost_cell(const struct report *r, size_t model, double cost, int digits)
{
	if (isnan(cost) && report_count_unpriced(r, model))
		return cell_text("unknown");
	return cell_small(r->doc, cost, digits);
}

/* --- names ------------------------------------------------------------------------------------ */

static ssize_t gather_find(const struct texts *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (str_eq(names->items[i], name))
			return (ssize_t)i;
	return -1;
}

static void gather_add_name(struct arena *a, struct texts *names, const char *name)
{
	if (gather_find(names, name) >= 0)
		return;
	names->items = arena_grow(a, names->items, names->n, sizeof(char *));
	names->items[names->n++] = name;
}

static int gather_compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the name of a row of the report: the model, as "MODEL (AGENT)" if `agents` is true. */
static const char *gather_model(struct arena *a, const struct run_row *row, bool agents)
{
	const char *model = row->model ? row->model : "unknown";

	return agents && row->agent ? arena_printf(a, "%s (%s)", model, row->agent) : model;
}

static const char *gather_short(const char *hash)
{
	return hash ? hash : "unknown";
}

static const char *gather_task(struct arena *a, const struct run_row *row, bool split)
{
	if (!split)
		return row->task ? row->task : "unknown";
	return arena_printf(a, "%s @%.4s/%.4s/%s", row->task ? row->task : "unknown",
			gather_short(row->version), gather_short(row->root),
			gather_short(row->judge));
}

/* --- sorting runs into cells ------------------------------------------------------------------ */

struct gathering {
	struct report *report;
	struct arena *arena;
	const struct report_choice *choice;
	bool agents; /* runs differ in their agent configuration */
	struct texts tasks;
	/* names of task and model of each row */
	const char **task_of, **model_of;
};

static bool gather_agents_differ(const struct run_rows *rows)
{
	const struct run_row *first = NULL;

	for (size_t i = 0; i < rows->n; i++) {
		const struct run_row *row = &rows->items[i];

		if (row->problem || !row->agent)
			continue;
		if (!first)
			first = row;
		if (!str_eq(row->agent, first->agent))
			return true;
	}
	return false;
}

/* Sets the sentence about a chosen name that no run has. */
static void gather_set_unknown(
		struct gathering *g, const char *what, const char *name, const struct texts *known)
{
	auto_buf struct buf names = BUF_INIT(400);

	for (size_t i = 0; i < known->n; i++)
		buf_printf(&names, "%s'%s'", i ? ", " : "", known->items[i]);
	g->report->unknown = arena_printf(g->arena, "no run is of the %s '%s'; there are %s%s",
			what, name, buf_str(&names), names.truncated ? "..." : "");
}

/* Replaces each chosen name that is not known by the known names that extend it. Their suffix
 * begins with `added`: "M (default)" extends "M". Keeps a name that no run has. */
static struct texts gather_choose(struct gathering *g, const char *what, const struct texts *chosen,
		const struct texts *known, const char *added)
{
	struct texts out = { 0 };

	for (size_t i = 0; i < chosen->n; i++) {
		const char *name = chosen->items[i];
		size_t n = strlen(name), before = out.n;

		for (size_t k = 0; gather_find(known, name) < 0 && k < known->n; k++)
			if (str_starts(known->items[k], name) &&
					str_starts(known->items[k] + n, added))
				gather_add_name(g->arena, &out, known->items[k]);
		if (out.n > before)
			continue;
		gather_add_name(g->arena, &out, name);
		if (gather_find(known, name) < 0)
			gather_set_unknown(g, what, name, known);
	}
	return out;
}

static void gather_names(struct gathering *g, const struct run_rows *rows)
{
	const struct report_choice *choice = g->choice;
	struct texts models = { 0 };

	g->task_of = arena_array(g->arena, rows->n + 1, sizeof(char *));
	g->model_of = arena_array(g->arena, rows->n + 1, sizeof(char *));
	for (size_t i = 0; i < rows->n; i++) {
		if (rows->items[i].problem)
			continue;
		g->task_of[i] = gather_task(g->arena, &rows->items[i], choice->split);
		g->model_of[i] = gather_model(g->arena, &rows->items[i], g->agents);
		gather_add_name(g->arena, &g->tasks, g->task_of[i]);
		gather_add_name(g->arena, &models, g->model_of[i]);
	}
	if (models.n)
		qsort(models.items, models.n, sizeof(char *), gather_compare_names);
	if (g->tasks.n)
		qsort(g->tasks.items, g->tasks.n, sizeof(char *), gather_compare_names);
	g->report->models = choice->models.n
			? gather_choose(g, "model", &choice->models, &models, " (")
			: models;
	if (choice->tasks.n)
		g->tasks = gather_choose(g, "task", &choice->tasks, &g->tasks, " @");
}

static void gather_add_run(
		struct gathering *g, const struct run_row *row, size_t task, size_t model)
{
	struct report *r = g->report;
	struct report_cell *cell = report_at(r, task, model);
	struct report_task *t = &r->tasks[task];

	cell->runs = arena_grow(g->arena, cell->runs, cell->n, sizeof(const struct run_row *));
	cell->runs[cell->n++] = row;
	r->runs = arena_grow(g->arena, r->runs, r->n_runs, sizeof(const struct run_row *));
	r->runs[r->n_runs++] = row;
	if (t->n_runs++ == 0 || (!t->metric && row->metric)) {
		t->metric = row->metric;
		t->maximize = row->maximize;
	}
}

static void gather_summarize(struct report *r, size_t task)
{
	struct report_task *t = &r->tasks[task];

	t->baseline = NAN;
	for (size_t m = 0; m < r->models.n; m++) {
		struct report_cell *cell = report_at(r, task, m);

		cell->best[SCORE_ATTEMPT] = cell->best[SCORE_SUBMISSION] = NAN;
		for (size_t i = 0; i < cell->n; i++) {
			if (isnan(t->baseline))
				t->baseline = cell->runs[i]->baseline;
			for (int kind = 0; kind < N_SCORE_KINDS; kind++) {
				double score = report_score(cell->runs[i], kind);

				if (report_is_better(t, score, cell->best[kind]))
					cell->best[kind] = score;
			}
		}
	}
}

/* --- warnings --------------------------------------------------------------------------------- */

static void gather_note_guessed(struct report *r, size_t task)
{
	for (size_t m = 0; m < r->models.n; m++)
		for (size_t i = 0; i < report_at(r, task, m)->n; i++) {
			if (report_at(r, task, m)->runs[i]->guessed != 1)
				continue;
			doc_note(r->doc,
					"%s: no task of this name is known, so its metric is guessed: "
					"%s, and %s is better.",
					r->tasks[task].name, r->tasks[task].metric,
					r->tasks[task].maximize ? "more" : "less");
			return;
		}
}

static void gather_note_damage(struct report *r, const struct run_rows *rows)
{
	size_t left_out = 0, damaged = 0, told = 0;

	for (size_t i = 0; i < rows->n; i++)
		left_out += rows->items[i].problem != NULL;
	for (size_t i = 0; i < r->n_runs; i++) {
		damaged += r->runs[i]->damage != NULL;
		told += r->runs[i]->told > 0;
	}
	if (left_out)
		doc_note(r->doc, "%zu records can't be read and are left out.", left_out);
	if (damaged)
		doc_note(r->doc,
				"%zu records are damaged. Their runs count with the steps that can be "
				"read.",
				damaged);
	if (told)
		doc_note(r->doc,
				"Scores of %zu damaged records were read from observations, because "
				"the record's own are lost.",
				told);
}

void report_gather(struct report *r, struct report_doc *doc, const struct run_rows *rows,
		const struct report_choice *choice)
{
	struct gathering g = { .report = r,
		.arena = doc->arena,
		.choice = choice,
		.agents = gather_agents_differ(rows) };

	*r = (struct report){ .doc = doc };
	gather_names(&g, rows);
	r->n_tasks = g.tasks.n;
	r->tasks = arena_array(doc->arena, r->n_tasks + 1, sizeof(*r->tasks));
	r->cells = arena_array(doc->arena, r->n_tasks * r->models.n + 1, sizeof(*r->cells));
	for (size_t t = 0; t < r->n_tasks; t++)
		r->tasks[t].name = g.tasks.items[t];
	for (size_t i = 0; i < rows->n; i++) {
		ssize_t task = gather_find(&g.tasks, g.task_of[i]);
		ssize_t model = gather_find(&r->models, g.model_of[i]);

		if (!rows->items[i].problem && task >= 0 && model >= 0)
			gather_add_run(&g, &rows->items[i], (size_t)task, (size_t)model);
	}
	for (size_t t = 0; t < r->n_tasks; t++) {
		gather_summarize(r, t);
		gather_note_guessed(r, t);
	}
	if (r->unknown)
		doc_note(doc, "A name is unknown: %s.", r->unknown);
	gather_note_damage(r, rows);
}
