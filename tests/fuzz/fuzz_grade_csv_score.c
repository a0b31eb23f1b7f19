/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "grade/csv/metrics.h"
#include "grade/csv/score.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

/*
 * Fuzzes the scoring of csv files. Takes the first byte as the metric and the answers, and the rest
 * as a submission. The result is finite values or a sentence about the submission, as valid JSON.
 * It never blames the answers, which are valid.
 */

static const struct {
	const char *metric, *answers;
} graders[] = {
	{ "accuracy", "id,y\n1,cat\n2,dog\n3,cat\n" },
	{ "f1", "id,y\n1,1\n2,0\n3,2\n" },
	{ "rmse", "id,y\n1,1.5\n2,-2\n3,1e300\n" },
	{ "r2", "id,y\n1,1.5\n2,-2\n3,4\n" },
	{ "mae", "id,y\n1,1.5\n2,-2\n3,4\n" },
	{ "log_loss", "id,y\n1,1\n2,0\n3,1\n" },
	{ "auc", "id,y\n1,1\n2,0\n3,1\n" },
	{ "bleu", "id,y\n1,a b c d e\n2,a b c d ||| b c d a\n3,c d e f g h\n" },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	size_t pick = n ? data[0] % ARRAY_SIZE(graders) : 0;
	bool by_order = n && data[0] >= 128;
	auto_free char *answers = xstrdup(graders[pick].answers);
	auto_free char *submission = xstrndup("", 0);
	auto_buf struct buf report = BUF_INIT(1 << 20);
	auto_json json_t *json = NULL;
	struct metric_values values = { .n = 0 };
	struct fh_error err = FH_ERROR_INIT;
	int r;

	if (n > 1) {
		/* Allocate exactly the submission's length, so that the sanitizer finds a read past
		 * its end. */
		submission = xrealloc(submission, n - 1, 1);
		memcpy(submission, data + 1, n - 1);
	}
	r = score_csv(
			&(struct score_request){
					.columns = { .id = by_order ? NULL : "id", .target = "y" },
					.metric = metric_find(graders[pick].metric),
					.submission = submission,
					.submission_bytes = n > 1 ? n - 1 : 0,
					.answers = answers,
					.answers_bytes = strlen(answers),
			},
			&values, &err);
	if (r < 0 && r != -EINVAL)
		__builtin_trap();
	if (r < 0)
		score_print_error(&report, "submission.csv", &err);
	else
		score_print_values(&report, &values);
	if (json_parse("report", report.data, report.len, &json, NULL) < 0)
		__builtin_trap();
	return 0;
}
