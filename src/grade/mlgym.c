/* SPDX-License-Identifier: Apache-2.0 */
#include "base/places.h"
#include "base/scope.h"
#include "grade/kinds.h"
#include "grade/plan.h"
#include "inside/places.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * mlgym: runs an evaluator of an MLGym checkout as its task class does, in a fresh sandbox. The
 * sandbox has the task's starting files. An evaluator that takes a CSV file (MLGYM_CSV) gets this
 * file only, and no code of the agent runs.
 *
 * Other evaluators get the agent's workspace by a pipe from the episode's sandbox. This process
 * never reads the pipe. No agent can reach the packer (src/guest/pack.c). Nevertheless
 * src/grade/python/unpack.py checks each entry before it makes a file.
 *
 * The evaluator's own files are mounted read-only from the checkout, over any files of the agent.
 * The packer leaves out the task's data, because the starting files include it.
 *
 * src/grade/python/mlgym.py unpacks, runs the evaluator and reads its output. It can't detect code
 * of the agent in the evaluator's own process: docs/graders.md.
 */

#define MLGYM_PROGRAM GRADER_DIR "/mlgym.py"

static const char *const programs[] = { "mlgym.py", "unpack.py" };

/* --- the programs ----------------------------------------------------------------------------- */

static const char *const *mlgym_arguments(struct grade *g)
{
	const struct task_grader *grader = &g->request.task->grader;
	const char **more = arena_array(&g->arena, grader->n_evaluators + 3, sizeof(*more));
	size_t n = 0;

	more[n++] = mlgym_call_names[grader->call];
	if (grader->call == MLGYM_CSV)
		more[n++] = g->submission;
	for (size_t i = 0; i < grader->n_evaluators; i++)
		more[n++] = grader->evaluators[i].target;
	return grade_python(g, MLGYM_PROGRAM, NULL, more);
}

static struct grade_binds mlgym_bind_all(struct grade *g)
{
	const struct task_grader *grader = &g->request.task->grader;
	struct grade_binds b = grade_binds_new(g);

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		grade_bind(g, &b,
				arena_printf(&g->arena, "%s/%s", places_get()->graders,
						programs[i]),
				GRADER_DIR, programs[i]);
	grade_bind_episode(g, &b);
	for (size_t i = 0; i < grader->n_evaluators; i++)
		grade_bind(g, &b, grader->evaluators[i].source, GUEST_WORKSPACE,
				grader->evaluators[i].target);
	return b;
}

/* Starts the evaluator's program. Takes ownership of the descriptor `input`, the packed
 * workspace. */
static int mlgym_start_evaluator(struct grade *g, int input, struct fh_error *err)
{
	const struct task *task = g->request.task;
	bool unpacks = input >= 0;
	struct grade_binds b = mlgym_bind_all(g);

	return grade_add(g, &(struct program_plan){
		.sandbox = {
			.role = SANDBOX_GRADER,
			.layer = g->request.layer,
			.binds = b.binds,
			.n_binds = b.n,
			.gpus = g->request.gpus,
			.network = task->network,
			.limits = task->limits,
		},
		.argv = mlgym_arguments(g),
		.env = grade_env(g, NULL),
		.streams = { unpacks ? input : PROGRAM_NOTHING, PROGRAM_LOG, PROGRAM_LOG,
			     PROGRAM_RESULT },
		.n_streams = 4,
		.put_path = unpacks ? NULL : task->grader.submission,
		.put_fd = g->submission_fd,
	}, err);
}

static int mlgym_start(struct grade *g, struct fh_error *err)
{
	auto_close int from = -1, to = -1;
	int ends[2];
	int r;

	if (!grade_takes_all(g->request.task))
		return mlgym_start_evaluator(g, -1, err);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set(err, errno, "make a pipe");
	from = ends[0];
	to = ends[1];
	/* LEFT_OUT in python/mlgym.py names the same entry. */
	r = sandbox_pack(g->request.episode, GUEST_WORKSPACE, "data", to, err);
	return r < 0 ? r : mlgym_start_evaluator(g, take_fd(&from), err);
}

const struct grade_kind grade_mlgym = { .start = mlgym_start, .gpus = true };
