/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/places.h"
#include "base/scope.h"
#include "grade/kind.h"

#include <string.h>

/*
 * csv: predictions against a hidden file of answers. A static program of ours parses both, in a
 * sandbox that holds nothing else: what an agent writes never meets a parser in this process, and
 * no interpreter has to start. docs/graders.md has the program's options.
 */
#define MEMORY_BYTES (1LL << 30)

static const char *const *csv_arguments(struct grade *g)
{
	const struct task_grader *grader = &g->request.task->grader;
	const char *argv[] = { "fh-grade-csv", "--id", grader->id_column, "--target",
		grader->target_column, "--metric", grader->csv_metric, "--name",
		grader->submission };
	const char **copy = arena_array(&g->arena, ARRAY_SIZE(argv) + 1, sizeof(*copy));

	memcpy(copy, argv, sizeof(argv));
	return copy;
}

static int csv_start(struct grade *g, struct fh_error *err)
{
	auto_close int program = fd_open_file(places_get()->grade_csv, err);
	auto_close int answers = -1;

	if (program < 0)
		return program;
	answers = fd_open_file(g->request.task->grader.answers, err);
	if (answers < 0)
		return answers;
	return grade_add(g, &(struct program_plan){
		.sandbox = {
			.bare = true,
			.limits = { .memory_bytes = MEMORY_BYTES, .pids = 16 },
		},
		.run = {
			.argv = csv_arguments(g),
			.env = grade_env(g, NULL),
			.program_fd = take_fd(&program),
		},
		.fds = { PROGRAM_NOTHING, PROGRAM_RESULT, PROGRAM_LOG,
			 take_fd(&g->submission_fd), take_fd(&answers) },
		.n_fds = 5,
	}, err);
}

const struct grade_kind grade_csv = { .start = csv_start };
