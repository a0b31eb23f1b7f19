/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_CSV_SCORE_H
#define GRADE_CSV_SCORE_H

#include "base/buf.h"
#include "base/error.h"
#include "grade/csv/csv.h"
#include "grade/csv/metrics.h"

#include <stddef.h>

/* Rows to score: all, or one of two halves drawn by a hash of the answers. */
enum score_part { PART_ALL, PART_VALIDATE, PART_FINAL };

/* A CSV text with the agent's predictions and one with the answers. Parsing changes both texts. */
struct score_request {
	struct csv_columns columns;
	const struct metric *metric;
	enum score_part part;
	struct score_range range;
	char *submission;
	size_t submission_bytes;
	char *answers;
	size_t answers_bytes;
};

/*
 * Scores a submission. -EINVAL: the submission is bad, and the message is for the agent. It
 * contains nothing of the answers except ids. All rows are checked, also those that do not
 * count. -EBADMSG: the answers are bad, and the message is for the task's author.
 */
int score_csv(const struct score_request *request, struct metric_values *out, struct fh_error *err);

/* Appends the metrics as JSON, {"accuracy": 0.5, ...}. Numbers have the fewest digits that give the
 * same value when read. */
void score_print_values(struct buf *out, const struct metric_values *values);

/* Appends the error of a failed score_csv() as JSON: {"error": "NAME line 3: ..."}. */
void score_print_error(struct buf *out, const char *name, const struct fh_error *err);

#endif
