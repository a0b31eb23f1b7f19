/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_CSV_METRICS_H
#define GRADE_CSV_METRICS_H

#include "base/error.h"
#include "grade/csv/csv.h"

#include <stdbool.h>
#include <stddef.h>

/* A row to score: a prediction and the true value. */
struct scored_row {
	struct csv_field truth, prediction;
	size_t line;   /* number of the prediction's line in the submitted CSV file */
	size_t answer; /* index of the true value in the file of answers */
};

/* Smallest and largest prediction. If they are equal, predictions may be anything. */
struct score_range {
	double least, most;
};

/* All rows to score, at least one. `column` is the name of the predicted CSV column, for
 * messages. */
struct scored {
	const struct scored_row *rows;
	size_t n;
	const char *column;
};

#define METRIC_VALUES_MAX 2

struct metric_value {
	const char *name; /* name of the metric, a static string */
	double value;     /* the metric's value, a finite number */
};

struct metric_values {
	/* the first value has the name of the metric itself */
	struct metric_value values[METRIC_VALUES_MAX];
	size_t n;
};

/*
 * A metric of docs/graders.md. score() fails with -EINVAL for a bad prediction, and then the
 * message is for the agent. It quotes nothing but predictions. score() fails with -EBADMSG for a
 * bad true value, and then the message is for the task's author.
 */
struct metric {
	const char *name;
	int (*score)(const struct scored *s, struct metric_values *out, struct fh_error *err);
	bool labels; /* predictions are names of classes */
};

/* Checks that predictions are numbers in `range`, and whole numbers if they are labels. Fails as
 * score() does. */
int metric_check_range(const struct metric *metric, const struct scored *s,
		const struct score_range *range, struct fh_error *err);

/* Finds a metric by its name; NULL: there is none. */
const struct metric *metric_find(const char *name);

/* function that computes the metric bleu, in bleu.c */
int metric_bleu(const struct scored *s, struct metric_values *out, struct fh_error *err);

#endif
