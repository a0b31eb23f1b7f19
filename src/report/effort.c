/* SPDX-License-Identifier: Apache-2.0 */
#include "report/effort.h"

#include "base/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_NAMES_BYTES 400 /* most bytes of a note's list of models */
#define STEP_BINS 10         /* rows of the table of actions by step */

/* --- sums over the runs of a model ------------------------------------------------------------ */

enum sum {
	SUM_COST,
	SUM_SENT,
	SUM_RECEIVED,
	SUM_CALLS,
	SUM_STEPS,
	SUM_PAID_STEPS, /* steps of runs whose cost is known */
	SUM_SECONDS,
	SUM_MODEL,
	SUM_TOOLS,
	SUM_GRADING,
	SUM_FAILED,
	SUM_TIMEOUTS,
	SUM_FORMAT,
	SUM_BLOCKED,
	SUM_REFUSED,
	SUM_INTEGRITY,
	SUM_COMPLETE,
	SUM_SCORED,
	N_SUMS
};

/* NAN: no run has the number. `n` counts the runs that have it. */
struct sums {
	double of[N_SUMS];
	size_t n[N_SUMS], runs;
};

static void effort_add(struct sums *s, enum sum which, double value)
{
	if (isnan(value))
		return;
	s->of[which] = s->n[which]++ ? s->of[which] + value : value;
}

static double effort_count(int64_t value)
{
	return value < 0 ? NAN : (double)value;
}

static void effort_add_run(struct sums *s, const struct run_row *row)
{
	s->runs++;
	effort_add(s, SUM_COST, row->cost);
	effort_add(s, SUM_SENT, effort_count(row->tokens_sent));
	effort_add(s, SUM_RECEIVED, effort_count(row->tokens_received));
	effort_add(s, SUM_CALLS, effort_count(row->calls));
	effort_add(s, SUM_STEPS, effort_count(row->steps));
	effort_add(s, SUM_PAID_STEPS, isnan(row->cost) ? NAN : effort_count(row->steps));
	effort_add(s, SUM_SECONDS, row->seconds);
	effort_add(s, SUM_MODEL, row->model_s);
	effort_add(s, SUM_TOOLS, row->tool_s);
	effort_add(s, SUM_GRADING, row->graded_s);
	effort_add(s, SUM_FAILED, effort_count(row->failed));
	effort_add(s, SUM_TIMEOUTS, effort_count(row->timeouts));
	effort_add(s, SUM_FORMAT, effort_count(row->format_errors));
	effort_add(s, SUM_BLOCKED, effort_count(row->blocked));
	effort_add(s, SUM_REFUSED, effort_count(row->refused));
	effort_add(s, SUM_INTEGRITY, effort_count(row->integrity));
	effort_add(s, SUM_COMPLETE, effort_count(row->complete));
	effort_add(s, SUM_SCORED, !isnan(row->best));
}

static struct sums effort_of_model(const struct report *r, size_t model)
{
	struct sums s = { 0 };

	for (int i = 0; i < N_SUMS; i++)
		s.of[i] = NAN;
	for (size_t task = 0; task < r->n_tasks; task++)
		for (size_t i = 0; i < report_at(r, task, model)->n; i++)
			effort_add_run(&s, report_at(r, task, model)->runs[i]);
	return s;
}

static double effort_mean(const struct sums *s, enum sum which)
{
	return s->n[which] ? s->of[which] / (double)s->n[which] : NAN;
}

/* --- tables with a row for each model --------------------------------------------------------- */

/* Says whose sums lack runs without a known price. NULL: none do. */
static const char *effort_costs_note(const struct report *r)
{
	auto_buf struct buf models = BUF_INIT(NOTE_NAMES_BYTES);

	for (size_t m = 0; m < r->models.n; m++) {
		struct sums s = effort_of_model(r, m);
		size_t unpriced = report_count_unpriced(r, m);

		if (unpriced && s.n[SUM_COST])
			buf_printf(&models, "%s%zu of %zu of %s", models.len ? ", " : "", unpriced,
					s.runs, r->models.items[m]);
	}
	if (!models.len)
		return NULL;
	return arena_printf(r->doc->arena,
			"Sums and means of dollars leave out runs whose price is not known: %s%s.",
			buf_str(&models), models.truncated ? "..." : "");
}

static void effort_costs(const struct report *r)
{
	static const char *const columns[] = { "Model", "Runs", "Total $", "Mean $", "$ per step",
		"Tokens sent", "Tokens received", "Tokens per step", "Calls", "Steps", NULL };
	struct report_doc *doc = r->doc;
	struct report_table *t = doc_add(doc, "costs", "Costs", effort_costs_note(r), columns);

	for (size_t m = 0; m < r->models.n; m++) {
		struct sums s = effort_of_model(r, m);
		struct cell *cells = table_add_row(doc, t);

		cells[0] = cell_text(r->models.items[m]);
		cells[1] = cell_count(doc, (double)s.runs);
		cells[2] = report_cost_cell(r, m, s.of[SUM_COST], 2);
		cells[3] = report_cost_cell(r, m, effort_mean(&s, SUM_COST), 3);
		cells[4] = report_cost_cell(r, m, s.of[SUM_COST] / s.of[SUM_PAID_STEPS], 4);
		cells[5] = cell_count(doc, s.of[SUM_SENT]);
		cells[6] = cell_count(doc, s.of[SUM_RECEIVED]);
		cells[7] = cell_count(doc, (s.of[SUM_SENT] + s.of[SUM_RECEIVED]) / s.of[SUM_STEPS]);
		cells[8] = cell_count(doc, s.of[SUM_CALLS]);
		cells[9] = cell_count(doc, s.of[SUM_STEPS]);
	}
}

static bool effort_has_times(const struct report *r)
{
	for (size_t i = 0; i < r->n_runs; i++)
		if (!isnan(r->runs[i]->seconds) || !isnan(r->runs[i]->tool_s))
			return true;
	return false;
}

static void effort_times(const struct report *r)
{
	static const char *const columns[] = { "Model", "Total s", "Model s", "Commands s",
		"Grading s", "Mean s of a run", NULL };
	struct report_doc *doc = r->doc;
	struct report_table *t;

	if (!effort_has_times(r))
		return;
	t = doc_add(doc, "times", "Time",
			"Seconds in replies of the model, in commands and in gradings. Records of MLGym "
			"do not tell gradings apart: the whole step counts.",
			columns);

	for (size_t m = 0; m < r->models.n; m++) {
		struct sums s = effort_of_model(r, m);
		struct cell *cells = table_add_row(doc, t);

		cells[0] = cell_text(r->models.items[m]);
		cells[1] = cell_small(doc, s.of[SUM_SECONDS], 1);
		cells[2] = cell_small(doc, s.of[SUM_MODEL], 1);
		cells[3] = cell_small(doc, s.of[SUM_TOOLS], 1);
		cells[4] = cell_small(doc, s.of[SUM_GRADING], 1);
		cells[5] = cell_small(doc, effort_mean(&s, SUM_SECONDS), 1);
	}
}

static void effort_errors(const struct report *r)
{
	static const char *const columns[] = { "Model", "Runs", "Incomplete", "Without a score",
		"Failed commands", "Timeouts", "Format errors", "Blocked", "Refused scorings",
		"Integrity", NULL };
	struct report_doc *doc = r->doc;
	struct report_table *t = doc_add(doc, "errors", "Errors",
			"Format errors are replies and actions that can't be parsed. Blocked are "
			"commands that an agent may not run. An empty cell was not recorded.",
			columns);

	for (size_t m = 0; m < r->models.n; m++) {
		struct sums s = effort_of_model(r, m);
		struct cell *cells = table_add_row(doc, t);

		cells[0] = cell_text(r->models.items[m]);
		cells[1] = cell_count(doc, (double)s.runs);
		cells[2] = cell_count(doc, (double)s.n[SUM_COMPLETE] - s.of[SUM_COMPLETE]);
		cells[3] = cell_count(doc, (double)s.runs - s.of[SUM_SCORED]);
		cells[4] = cell_count(doc, s.of[SUM_FAILED]);
		cells[5] = cell_count(doc, s.of[SUM_TIMEOUTS]);
		cells[6] = cell_count(doc, s.of[SUM_FORMAT]);
		cells[7] = cell_count(doc, s.of[SUM_BLOCKED]);
		cells[8] = cell_count(doc, s.of[SUM_REFUSED]);
		cells[9] = cell_count(doc, s.of[SUM_INTEGRITY]);
	}
}

/* --- exit statuses ---------------------------------------------------------------------------- */

/* Kind of an exit status: without the error's text, which may be long. */
static const char *effort_status(struct arena *a, const struct run_row *row)
{
	const char *status = row->exit_status;

	if (row->complete < 0)
		return "not recorded";
	if (!status || !*status)
		return "killed, or going on";
	if (str_starts(status, "environment_error"))
		return "environment_error";
	return arena_strndup(a, status, str_utf8_cut(status, strlen(status), 60));
}

static size_t effort_index(struct arena *a, struct texts *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (str_eq(names->items[i], name))
			return i;
	names->items = arena_grow(a, names->items, names->n, sizeof(char *));
	names->items[names->n] = name;
	return names->n++;
}

#define STATUSES_MAX 40 /* most exit statuses that have a row of their own */

static void effort_statuses(const struct report *r)
{
	struct report_doc *doc = r->doc;
	struct texts names = { 0 };
	double *counts = arena_array(
			doc->arena, r->models.n * (STATUSES_MAX + 1) + 1, sizeof(double));
	struct report_table *t;

	for (size_t m = 0; m < r->models.n; m++)
		for (size_t task = 0; task < r->n_tasks; task++)
			for (size_t i = 0; i < report_at(r, task, m)->n; i++) {
				const struct run_row *row = report_at(r, task, m)->runs[i];
				const char *status = names.n < STATUSES_MAX
						? effort_status(doc->arena, row)
						: "other";

				counts[m * (STATUSES_MAX + 1) +
						effort_index(doc->arena, &names, status)]++;
			}
	t = doc_add_named(doc, "exit-statuses", "Exit statuses",
			"Number of runs with each exit status.", "Exit status", &r->models);
	for (size_t s = 0; s < names.n; s++) {
		struct cell *cells = table_add_row(doc, t);

		cells[0] = cell_text(names.items[s]);
		for (size_t m = 0; m < r->models.n; m++)
			cells[m + 1] = cell_count(doc, counts[m * (STATUSES_MAX + 1) + s]);
	}
}

/* --- actions ---------------------------------------------------------------------------------- */

static size_t effort_kind(char letter)
{
	size_t i = 0;

	while (action_letters[i].letter && action_letters[i].letter != letter)
		i++;
	return i;
}

static struct report_table *effort_action_table(
		const struct report *r, const char *id, const char *title, const char *first)
{
	struct texts names = { 0 };

	for (size_t i = 0; action_letters[i].letter; i++)
		effort_index(r->doc->arena, &names, action_letters[i].name);
	return doc_add_named(r->doc, id, title, NULL, first, &names);
}

static void effort_add_counts(const struct report *r, struct report_table *t, const char *name,
		const double *counts)
{
	struct cell *cells = table_add_row(r->doc, t);

	cells[0] = cell_text(name);
	for (size_t i = 0; i + 1 < t->n_columns; i++)
		cells[i + 1] = cell_count(r->doc, counts[i]);
}

static void effort_count_kinds(const struct report_cell *cell, double *counts)
{
	for (size_t i = 0; i < cell->n; i++)
		for (const char *k = cell->runs[i]->kinds; k && *k; k++)
			counts[effort_kind(*k)]++;
}

static void effort_actions(const struct report *r)
{
	struct report_table *t = effort_action_table(
			r, "actions-by-model", "Actions by kind, per model", "Model");

	for (size_t m = 0; m < r->models.n; m++) {
		double counts[16] = { 0 };

		for (size_t task = 0; task < r->n_tasks; task++)
			effort_count_kinds(report_at(r, task, m), counts);
		effort_add_counts(r, t, r->models.items[m], counts);
	}
	t = effort_action_table(r, "actions-by-task", "Actions by kind, per task", "Task");
	for (size_t task = 0; task < r->n_tasks; task++) {
		double counts[16] = { 0 };

		for (size_t m = 0; m < r->models.n; m++)
			effort_count_kinds(report_at(r, task, m), counts);
		effort_add_counts(r, t, r->tasks[task].name, counts);
	}
}

static void effort_actions_by_step(const struct report *r)
{
	double counts[STEP_BINS][16] = { 0 };
	size_t longest = 0, width;
	struct report_table *t;

	for (size_t i = 0; i < r->n_runs; i++) {
		size_t n = r->runs[i]->kinds ? strlen(r->runs[i]->kinds) : 0;

		longest = n > longest ? n : longest;
	}
	if (!longest)
		return;
	width = (longest + STEP_BINS - 1) / STEP_BINS;
	for (size_t i = 0; i < r->n_runs; i++)
		for (size_t k = 0; r->runs[i]->kinds && r->runs[i]->kinds[k]; k++)
			counts[k / width][effort_kind(r->runs[i]->kinds[k])]++;
	t = effort_action_table(r, "actions-by-step", "Actions by kind, by step", "Steps");
	for (size_t bin = 0; bin * width < longest; bin++)
		effort_add_counts(r, t,
				arena_printf(r->doc->arena, width > 1 ? "%zu-%zu" : "%zu",
						bin * width + 1, (bin + 1) * width),
				counts[bin]);
}

/* --- steps of training ------------------------------------------------------------------------ */

static int effort_compare_policies(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a,
			     *y = *(const struct run_row *const *)b;
	int by_task = strcmp(x->task, y->task);

	return by_task ? by_task
		       : (x->policy_step > y->policy_step) - (x->policy_step < y->policy_step);
}

/* Adds a row with the means of both scores, then of the reward. */
static void effort_add_policy(const struct report *r, struct report_table *t,
		const struct run_row **runs, size_t n)
{
	struct cell *cells = table_add_row(r->doc, t);
	double sums[N_SCORE_KINDS + 1] = { 0 };
	size_t counts[N_SCORE_KINDS + 1] = { 0 };

	for (size_t i = 0; i < n; i++)
		for (int kind = 0; kind <= N_SCORE_KINDS; kind++) {
			double value = kind < N_SCORE_KINDS ? report_score(runs[i], kind)
							    : runs[i]->reward;

			sums[kind] += isnan(value) ? 0 : value;
			counts[kind] += !isnan(value);
		}
	cells[0] = cell_text(runs[0]->task);
	cells[1] = cell_count(r->doc, (double)runs[0]->policy_step);
	cells[2] = cell_count(r->doc, (double)n);
	for (size_t kind = 0; kind <= N_SCORE_KINDS; kind++)
		cells[kind + 3] = cell_number(
				r->doc, counts[kind] ? sums[kind] / (double)counts[kind] : NAN, 4);
}

/* Groups the runs of a policy that is being trained by its step. */
static void effort_policies(const struct report *r)
{
	static const char *const columns[] = { "Task", "Policy step", "Runs", "Mean best score",
		"Mean last score", "Mean reward", NULL };
	const struct run_row **runs =
			arena_array(r->doc->arena, r->n_runs + 1, sizeof(const struct run_row *));
	struct report_table *t;
	size_t n = 0;

	for (size_t i = 0; i < r->n_runs; i++)
		if (r->runs[i]->policy_step >= 0 && r->runs[i]->task)
			runs[n++] = r->runs[i];
	if (!n)
		return;
	qsort(runs, n, sizeof(const struct run_row *), effort_compare_policies);
	t = doc_add(r->doc, "policy-steps", "Scores and rewards by policy step", NULL, columns);
	t->n_keys = 2;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && effort_compare_policies(&runs[i], &runs[end]) == 0;)
			end++;
		effort_add_policy(r, t, runs + i, end - i);
	}
}

void effort_tables(const struct report *r)
{
	if (!r->n_runs)
		return;
	effort_policies(r);
	effort_costs(r);
	effort_times(r);
	effort_errors(r);
	effort_statuses(r);
	effort_actions(r);
	effort_actions_by_step(r);
}
