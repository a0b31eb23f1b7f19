/* SPDX-License-Identifier: Apache-2.0 */

/*
 * fh-grade-csv: scores predictions against answers, both CSV files. It runs alone in a sandbox,
 * without a shell or an interpreter. docs/graders.md describes its input and output.
 */

#include "base/fd.h"
#include "base/str.h"
#include "grade/csv/score.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXIT_SCORED = 0, EXIT_OURS = 1, EXIT_USAGE = 2 };
enum { SUBMISSION_FD = 3, ANSWERS_FD = 4 };

struct arguments {
	const char *id, *target, *metric, *name, *part, *least, *most;
};

static const char *const parts[] = {
	[PART_ALL] = "all", [PART_VALIDATE] = "validate", [PART_FINAL] = "final", NULL
};

static bool main_parse(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = {
		{ "id", required_argument, NULL, 'i' },
		{ "target", required_argument, NULL, 't' },
		{ "metric", required_argument, NULL, 'm' },
		{ "name", required_argument, NULL, 'n' },
		{ "part", required_argument, NULL, 'p' },
		{ "least", required_argument, NULL, 'l' },
		{ "most", required_argument, NULL, 'h' },
		{ NULL },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == '?')
			return false;
		*(c == 'i'                                 ? &a->id
						: c == 't' ? &a->target
						: c == 'm' ? &a->metric
						: c == 'p' ? &a->part
						: c == 'l' ? &a->least
						: c == 'h' ? &a->most
							   : &a->name) = optarg;
	}
	return optind == argc && a->target && a->metric && metric_find(a->metric) &&
			str_index(a->part, parts) >= 0;
}

/* Reads a whole file, from its beginning even if its offset is elsewhere. Reads a pipe to its
 * end. */
static int main_read_input(int fd, struct buf *out, struct fh_error *err)
{
	int r;

	if (lseek(fd, 0, SEEK_SET) < 0 && errno != ESPIPE)
		return error_set(err, errno, "read descriptor %d", fd);
	r = fd_read_all(fd, out);
	return r < 0 ? error_set(err, -r, "read descriptor %d", fd) : 0;
}

static int main_fail(const struct fh_error *err)
{
	fprintf(stderr, "fh-grade-csv: %s\n", err->message);
	return EXIT_OURS;
}

int main(int argc, char **argv)
{
	/* Buffers have room for one byte more than the largest CSV file, to detect a longer
	 * file. */
	auto_buf struct buf submission = BUF_INIT(CSV_FILE_BYTES_MAX + 1);
	auto_buf struct buf answers = BUF_INIT(CSV_FILE_BYTES_MAX + 1);
	auto_buf struct buf report = BUF_INIT(16384);
	struct arguments a = { .name = "submission.csv", .part = "all", .least = "0", .most = "0" };
	struct metric_values values = { .n = 0 };
	struct fh_error err = FH_ERROR_INIT;
	int r;

	if (!main_parse(argc, argv, &a)) {
		fputs("usage: fh-grade-csv [--id COLUMN] --target COLUMN --metric METRIC [--name FILE]\n"
		      "       [--part all|validate|final] [--least NUMBER] [--most NUMBER]\n"
		      "with the predictions on descriptor 3 and the answers on descriptor 4\n"
		      "metrics: accuracy f1 rmse r2 mae log_loss auc bleu\n",
				stderr);
		return EXIT_USAGE;
	}
	if (main_read_input(SUBMISSION_FD, &submission, &err) < 0 ||
			main_read_input(ANSWERS_FD, &answers, &err) < 0)
		return main_fail(&err);
	r = score_csv(&(struct score_request){ .columns = { .id = a.id, .target = a.target },
				      .metric = metric_find(a.metric),
				      .part = (enum score_part)str_index(a.part, parts),
				      .range = { strtod(a.least, NULL), strtod(a.most, NULL) },
				      .submission = submission.data,
				      .submission_bytes = submission.len,
				      .answers = answers.data,
				      .answers_bytes = answers.len },
			&values, &err);
	if (r < 0 && r != -EINVAL) {
		error_wrap(&err, "answers");
		return main_fail(&err);
	}
	if (r < 0)
		score_print_error(&report, a.name, &err);
	else
		score_print_values(&report, &values);
	r = fd_write_full(STDOUT_FILENO, report.data, report.len);
	return r < 0 ? EXIT_OURS : EXIT_SCORED;
}
