/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_SCORE_H
#define GRADE_SCORE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <fumehood/metric.h>
#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>

#define SCORE_METRICS_MAX 64
#define SCORE_NAME_BYTES 100
#define SCORE_REJECTION_BYTES 4096

/*
 * A score: the metrics of one grading, in the order of the grader's result. The struct owns the
 * names. A zeroed struct is a score without metrics.
 */
struct score {
	struct fh_metric *metrics;
	size_t n;
	struct arena arena; /* memory of the metrics and their names */
};

void score_release(struct score *s);

/* A score with this attribute is released at the end of its scope. */
#define auto_score __attribute__((cleanup(score_release)))

/* Replaces the metrics of `to` by copies of n metrics. */
void score_copy(struct score *to, const struct fh_metric *metrics, size_t n);

/*
 * The result that score_read() reads: one JSON object. It has names with finite numbers, or is
 * {"error": "sentence"} for a rejection. Fails with -EPROTO for other results: the grader is
 * trusted, but agents choose its input.
 */
struct score_reading {
	struct score score; /* metrics of the result; the caller releases the struct */
	/* reason for the agent why there is no score; NULL: there is one. A heap string of at most
	 * SCORE_REJECTION_BYTES */
	char *rejection;
	bool tampering; /* the grader reports that the submission attacked it */
};

int score_read(const char *text, size_t n, struct score_reading *out, struct fh_error *err);

/* Adds a number to the metric `name`. If the score lacks it, the metric begins with 0. -EPROTO: the
 * name or the sum is invalid, or there are too many metrics. */
int score_increase(struct score *s, const char *name, double by, struct fh_error *err);

/* Finds the value of a metric by its name. If no name matches exactly, upper and lower case are
 * equal. NULL: there is no such metric. */
const double *score_find(const struct score *s, const char *name);

/* Compares two scores. Returns 1, 0 or -1: `value` is better than, equal to, or worse than `other`.
 * Values that differ only by rounding are equal. NaN equals everything. */
int score_compare(double value, double other, bool maximize);

/* Makes the JSON number of a metric: an integer if the grader wrote a whole number. Returns a new
 * reference. */
json_t *score_json(const struct fh_metric *metric);

/* Appends a score's metrics as Python's repr() of a dict: {'Score': 1.25}. */
void score_add_repr(struct buf *out, const struct score *s);

/* Appends a score's metrics as JSON in the form that score_read() reads. */
void score_add_json(struct buf *out, const struct score *s);

#endif
