/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_SCAN_INSIDE_H
#define REPORT_SCAN_INSIDE_H

#include "python/pyjson.h"
#include "report/scan.h"
#include "trajectory/traj.h"

#include <stdbool.h>

/* For the readers of the forms of records: what one record has told so far. */

struct scan_step {
	char kind; /* kind of the action: a letter of action_letters */
	bool failed, timed_out, malformed, refused, tampered, scored, graded, by_person;
	bool is_apart; /* scored by other hidden answers than the validates */
	double score;  /* NAN: no score by the metric */
	double cost;   /* cost of the run after this step; NAN: not known */
	double duration_s;
	/* parts of duration_s: grading, and calls of a program that plays as the agent */
	double graded_s, called_s;
	double reward; /* NAN: not recorded */
};

struct scan {
	struct arena *arena; /* lives as long as the row */
	struct run_row *row;
	struct scan_step *steps;
	size_t n_steps;
	struct arena own; /* released after the scan */
};

struct scan_step *scan_add_step(struct scan *s);

/* Adds a step that can't be read, so that later steps keep their numbers. */
void scan_add_broken_step(struct scan *s);

/* Keeps the reason why a part of the record can't be read. Only the first one is kept. */
void scan_set_damage(struct scan *s, const struct fh_error *why);

/* Sets what the members of `model_stats` tell. */
void scan_set_stats(struct scan *s, const struct pyjson *stats);

/* Value of the metric in an object of scores, whose name may differ in case. NAN: none. */
double scan_value(const struct pyjson *scores, const char *metric);

/* The better of two scores. A NAN is never better. */
double scan_better(const struct run_row *row, double a, double b);

/* Sets best and last from the list of all scores of a run. */
void scan_set_scores(struct scan *s, const struct pyjson *scores);

/* Makes the row's counts and texts of its steps. */
void scan_sum_steps(struct scan *s);

/* Copies a text that a record holds, with a cap on its length. */
const char *scan_text(struct scan *s, const struct pyjson *v);

/* Collects the scores that a .traj's observations tell, in the form of its list of scores. Counts
 * them in the row. A scored step whose score can't be trusted or read has an empty object. */
const struct pyjson *scan_told_scores(struct scan *s, const struct traj *t);

/* The first scores of the baseline that an observation tells. NULL: none does. */
const struct pyjson *scan_told_baseline(struct scan *s, const struct traj *t);

/* True for the record of an episode that a trainer of a policy wrote as JSON. */
bool scan_is_policy(const struct pyjson *root);

/* Reads the intact parts of such a record that was cut or damaged. Broken turns become null. False:
 * the turns or the policy's step are missing. The value lives in s->own. */
bool scan_mend_policy(struct scan *s, const struct pyjson_source *from, const struct pyjson **out);

/* Reads such a record. The row has its task and metric, if they are known. */
void scan_policy(struct scan *s, const struct pyjson *root);

/* Reads an events.jsonl. Skips lines that can't be read after the first. `err` must not be NULL. */
int scan_events(struct scan *s, const char *path, struct fh_error *err);

#endif
