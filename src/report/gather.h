/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_GATHER_H
#define REPORT_GATHER_H

#include "report/row.h"
#include "report/table.h"

#include <stdbool.h>

/* Sorts rows of the index into cells of task and model. */

enum score_kind {
	SCORE_ATTEMPT,    /* the best score of a run */
	SCORE_SUBMISSION, /* the last score of a run */
	N_SCORE_KINDS
};

struct report_task {
	const char *name;
	const char *metric;
	bool maximize;
	/* score of the first run that has a baseline, in the order of models; NAN: none has */
	double baseline;
	size_t n_runs;
};

struct report_cell {
	const struct run_row **runs;
	size_t n;
	double best[N_SCORE_KINDS]; /* over the runs; NAN: no run has a score */
};

struct report {
	struct report_doc *doc;
	struct texts models;
	struct report_task *tasks;
	size_t n_tasks;
	struct report_cell *cells;   /* n_tasks * models.n */
	const struct run_row **runs; /* all that count */
	size_t n_runs;
	const char *unknown; /* sentence about a chosen name that no run has; NULL: all are known */
};

struct report_choice {
	/* models and tasks to take, in this order; n 0: all, by name. A name stands for all names
	 * of the report that add an agent, or with `split` a version, to it. */
	struct texts models, tasks;
	/* runs of different versions of a task, roots or judges count as different tasks */
	bool split;
};

void report_gather(struct report *r, struct report_doc *doc, const struct run_rows *rows,
		const struct report_choice *choice);

static inline struct report_cell *report_at(const struct report *r, size_t task, size_t model)
{
	return &r->cells[task * r->models.n + model];
}

/* Number of a model's runs that have tokens, but whose price is not known. */
size_t report_count_unpriced(const struct report *r, size_t model);

/* Cell of a model's cost. "unknown": its runs have tokens, but no price is known. */
struct cell report_cost_cell(const struct report *r, size_t model, double cost, int digits);

/* The score of a run. */
static inline double report_score(const struct run_row *row, enum score_kind kind)
{
	return kind == SCORE_ATTEMPT ? row->best : row->last;
}

/* True if a is the better score of a task. A NAN is never better. */
bool report_is_better(const struct report_task *task, double a, double b);

#endif
