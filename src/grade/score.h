/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_SCORE_H
#define GRADE_SCORE_H

#include "base/buf.h"
#include "base/error.h"

#include <fumehood/metric.h>
#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * A score: the metrics of one grading, in the grader's order. The struct owns the names. A zeroed
 * one has no metric.
 */
#define SCORE_METRICS_MAX 64
#define SCORE_NAME_BYTES 100
#define SCORE_REJECTION_BYTES 4096

struct score {
	struct fh_metric *metrics;
	size_t n;
};

void score_release(struct score *s);

/* Replaces what is in `to`. */
void score_copy(struct score *to, const struct fh_metric *metrics, size_t n);

/*
 * Reads a grader's result, one JSON object: names with finite numbers, or {"error": "sentence"} for
 * a rejection. Anything else is -EPROTO: the grader is trusted, but not its input.
 */
struct score_reading {
	struct score score; /* the caller releases it */
	char *rejection; /* heap string of at most SCORE_REJECTION_BYTES; NULL: there is a score */
	bool tampering;  /* the submission attacked the grader, as the grader reports */
};

int score_read(const char *text, size_t n, struct score_reading *out, struct fh_error *err);

/* The value of the metric of this name, else of this name in other case; NULL if there is none. */
const double *score_find(const struct score *s, const char *name);

/* 1, 0 or -1: `value` is better than, equal to, or worse than `other`. Values that differ by
 * rounding alone are equal. NaN is equal to everything. */
int score_compare(double value, double other, bool maximize);

/* Returns a JSON integer if the grader wrote a whole number, else a real. A new reference. */
json_t *score_json(const struct fh_metric *metric);

/* Appends it as Python's repr() of a dict: {'Score': 1.25}. */
void score_add_repr(struct buf *out, const struct score *s);

/* Appends it as JSON that score_read() reads. */
void score_add_json(struct buf *out, const struct score *s);

#endif
