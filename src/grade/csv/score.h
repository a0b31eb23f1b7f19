/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_CSV_SCORE_H
#define GRADE_CSV_SCORE_H

#include "base/buf.h"
#include "base/error.h"
#include "grade/csv/csv.h"
#include "grade/csv/metrics.h"

#include <stddef.h>

/* Scores a submission against the answers. Both texts are read in place and changed. */
struct score_request {
	struct csv_columns columns;
	const struct metric *metric;
	char *submission;
	size_t submission_bytes;
	char *answers;
	size_t answers_bytes;
};

/*
 * -EINVAL: the submission is at fault. The message is for the agent and has nothing of the answers
 * but ids. -EBADMSG: the answers are at fault; the message is for the task's author.
 */
int score_csv(const struct score_request *request, struct metric_values *out, struct fh_error *err);

/* Prints {"accuracy": 0.5, ...} with the shortest digits that read back as the same numbers. */
void score_print_values(struct buf *out, const struct metric_values *values);

/* Prints {"error": "NAME line 3: ..."} from an -EINVAL of score_csv(). */
void score_print_error(struct buf *out, const char *name, const struct fh_error *err);

#endif
