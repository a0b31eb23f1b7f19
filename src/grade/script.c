/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/kinds.h"
#include "grade/plan.h"

/*
 * script: a program of the task reads the submission and writes metrics to descriptor 3. The
 * program's sandbox has the task's starting files and the hidden files. The program must not run
 * the agent's code: a task that needs that uses a duel.
 */
static int script_start(struct grade *g, struct fh_error *err)
{
	const struct task *task = g->request.task;
	struct grade_binds b = grade_binds_new(g);
	const char *program = grade_bind_hidden(g, &b);

	grade_bind_episode(g, &b);
	return grade_add(g, &(struct program_plan){
		.sandbox = {
			.role = SANDBOX_GRADER,
			.layer = g->request.layer,
			.binds = b.binds,
			.n_binds = b.n,
			.gpus = g->request.gpus,
			.limits = task->limits,
		},
		.argv = grade_python(g, program, NULL, task->grader.args),
		.env = grade_env(g, g->judge_key),
		.streams = { PROGRAM_NOTHING, PROGRAM_LOG, PROGRAM_LOG, PROGRAM_RESULT },
		.n_streams = 4,
		.put_path = task->grader.submission,
		.put_fd = g->submission_fd,
	}, err);
}

const struct grade_kind grade_script = { .start = script_start, .gpus = true };
