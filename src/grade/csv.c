/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/places.h"
#include "base/scope.h"
#include "grade/kinds.h"
#include "grade/plan.h"

#include <string.h>

/*
 * csv: compares predictions with a hidden file of answers. A static program parses both files,
 * alone in a sandbox. So no parser of this process reads an agent's bytes, and no interpreter has
 * to start. docs/graders.md has the program's options.
 */

#define MEMORY_BYTES (1LL << 30)

static int csv_start(struct grade *g, struct fh_error *err)
{
	const struct task_grader *grader = &g->request.task->grader;
	const char *argv[] = { "fh-grade-csv", "--target", grader->target_column, "--metric",
		grader->csv_metric, "--name", grader->submission, "--part", grade_part(g),
		"--least", grader->least ? grader->least : "0", "--most",
		grader->most ? grader->most : "0", grader->id_column ? "--id" : NULL,
		grader->id_column, NULL };
	auto_close int answers = fd_open_file(grader->answers, err);

	if (answers < 0)
		return answers;
	return grade_add(g, &(struct program_plan){
		.sandbox = {
			.role = SANDBOX_PROGRAM,
			.limits = { .memory_bytes = MEMORY_BYTES, .pids = 16 },
		},
		.program = places_get()->grade_csv,
		.argv = memcpy(arena_alloc(&g->arena, sizeof(argv)), argv, sizeof(argv)),
		.env = grade_env(g, NULL),
		.streams = { PROGRAM_NOTHING, PROGRAM_RESULT, PROGRAM_LOG,
			     take_fd(&g->submission_fd), take_fd(&answers) },
		.n_streams = 5,
	}, err);
}

const struct grade_kind grade_csv = { .start = csv_start };
