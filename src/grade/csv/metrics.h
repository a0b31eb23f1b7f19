/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_CSV_METRICS_H
#define GRADE_CSV_METRICS_H

#include "base/error.h"
#include "grade/csv/csv.h"

#include <stdbool.h>
#include <stddef.h>

/* A row's prediction and truth. */
struct scored_row {
	struct csv_field truth, prediction;
	size_t line; /* the prediction's line in its file */
};

/* At least one row. `column` is the name of the target, for messages. */
struct scored {
	const struct scored_row *rows;
	size_t n;
	const char *column;
};

#define METRIC_VALUES_MAX 2

struct metric_value {
	const char *name; /* static */
	double value;     /* finite */
};

struct metric_values {
	struct metric_value values[METRIC_VALUES_MAX]; /* the metric itself first */
	size_t n;
};

/*
 * A metric, as docs/graders.md defines it. score() fails with -EINVAL for a bad prediction. The
 * message is for the agent and quotes nothing but predictions. It fails with -EBADMSG for a bad
 * truth; that message is for the task's author.
 */
struct metric {
	const char *name;
	int (*score)(const struct scored *s, struct metric_values *out, struct fh_error *err);
};

/* NULL if there is none of that name. */
const struct metric *metric_find(const char *name);

/* bleu.c */
int metric_bleu(const struct scored *s, struct metric_values *out, struct fh_error *err);

#endif
