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
 * A score: the metrics that a grader gave, in its order. The struct owns its names; a zeroed one is
 * no score.
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
void score_copy(struct score *to, const struct score *from);

/*
 * Reads what a grader wrote, one JSON object: names and finite numbers, or {"error": "sentence"},
 * which gives no score. What is neither is -EPROTO: graders are ours, but what they read isn't.
 */
struct score_reading {
	struct score score; /* the caller releases it */
	char *rejection;    /* heap string, cut where it is too long; NULL when there is a score */
	bool tampering;     /* the grader says that it was worked on */
};

int score_read(const char *text, size_t n, struct score_reading *out, struct fh_error *err);

/* The value of a metric, by its name, or by its name without case; NULL if it isn't there. */
const double *score_find(const struct score *s, const char *name);

/* 1, 0 or -1: `value` is better than, the same as, or worse than `other`. Values that only rounding tells
 * apart are the same. 0 where one of them is NaN. */
int score_compare(double value, double other, bool maximize);

/* A number as it was written: whole, or with a fraction. A new reference. */
json_t *score_json(const struct fh_metric *metric);

/* As Python prints a dict: {'Score': 1.25}. */
void score_add_repr(struct buf *out, const struct score *s);

/* As score_read() reads it. */
void score_add_json(struct buf *out, const struct score *s);

#endif
