/* SPDX-License-Identifier: Apache-2.0 */
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "grade/kind.h"
#include "proto/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * mlgym: an evaluator of a checkout of MLGym, called as its task class does, in a fresh sandbox of the
 * task's layer. What is scored is put into it: for the first class one file, and nothing that the agent
 * wrote is run; for the others the agent's home as it is, by tar from one sandbox to the other, through a
 * pipe that this process never reads. Over that lie the evaluator's own files, mounted read-only from the
 * checkout, so that no archive can replace them, and the task's data, which no archive brings.
 *
 * src/grade/python/mlgym.py runs the evaluator and reads what it prints; docs/graders.md says what that
 * can't see: the agent's code in the evaluator's own process.
 */
#define PROGRAM GRADER_DIR "/mlgym.py"

/* The data and the Python are the task's, and tools are none of a submission. */
static const char *const pack[] = { "/bin/tar", "-C", GUEST_HOME, "--one-file-system",
	"--exclude=./workspace/data", "--exclude=./commands", "--exclude=./miniconda3", "-cf", "-",
	".", NULL };

/* An archive that is cut, or has what can't be put there, is what the agent made of it. */
#define UNPACK "/bin/tar -C " GUEST_HOME " -xf - 2>/dev/null; exec \"$@\" </dev/null"

static const char *const call_names[] = {
	[MLGYM_CSV] = "csv",
	[MLGYM_PYTHON] = "python",
	[MLGYM_MODEL] = "model",
	[MLGYM_LM] = "lm",
};

/* --- the programs ----------------------------------------------------------------------------- */

static const char *const *arguments(struct grade *g)
{
	const struct task_grader *grader = &g->request.task->grader;
	const char *evaluator = grader->evaluators[0].target;
	const char *const more[] = { call_names[grader->call],
		arena_printf(&g->arena, "%s/%s", GUEST_WORKSPACE, evaluator),
		*grader->submission ? g->submission : NULL, NULL };

	return grade_python(g, PROGRAM, NULL, more);
}

/* The same, once the archive of the standard input is unpacked. */
static const char *const *arguments_after_unpacking(struct grade *g)
{
	static const char *const shell[] = { "/bin/sh", "-c", UNPACK, "sh" };
	const char *const *argv = arguments(g);
	const char **all;
	size_t n = 0;

	while (argv[n])
		n++;
	all = arena_array(&g->arena, ARRAY_SIZE(shell) + n + 1, sizeof(*all));
	memcpy(all, shell, sizeof(shell));
	memcpy(all + ARRAY_SIZE(shell), argv, n * sizeof(*argv));
	return all;
}

static struct grade_binds bind_all(struct grade *g)
{
	const struct task_grader *grader = &g->request.task->grader;
	struct grade_binds b = grade_binds_new(g);

	grade_bind(g, &b, arena_printf(&g->arena, "%s/mlgym.py", places_get()->graders), GRADER_DIR,
			"mlgym.py");
	grade_bind_episode(g, &b);
	for (size_t i = 0; i < grader->n_evaluators; i++)
		grade_bind(g, &b, grader->evaluators[i].source, GUEST_WORKSPACE,
				grader->evaluators[i].target);
	return b;
}

/* Takes `input` over. */
static int start_evaluator(struct grade *g, int input, struct fh_error *err)
{
	const struct task *task = g->request.task;
	bool unpacks = input >= 0;
	struct grade_binds b = bind_all(g);

	return grade_add(g, &(struct program_plan){
		.sandbox = {
			.layer = g->request.layer,
			.binds = b.binds,
			.n_binds = b.n,
			.gpus = g->request.gpus,
			.n_gpus = g->request.n_gpus,
			.network = task->network,
			.limits = task->limits,
		},
		.run = {
			.argv = unpacks ? arguments_after_unpacking(g) : arguments(g),
			.env = grade_env(g, NULL),
			.program_fd = -1,
		},
		.fds = { unpacks ? input : PROGRAM_NOTHING, PROGRAM_LOG, PROGRAM_LOG,
			 PROGRAM_RESULT },
		.n_fds = 4,
		.put_path = unpacks ? NULL : task->grader.submission,
		.put_fd = g->submission_fd,
	}, err);
}

/* In the episode, as the agent: it reads what the agent can, and the agent may tamper with no more than
 * with its own files. */
static int start_packing(struct grade *g, int output, struct fh_error *err)
{
	auto_close int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int fds[] = { null, output, null };
	const struct run_request request = {
		.argv = pack,
		.cwd = "/",
		.program_fd = -1,
		.fds = fds,
		.n_fds = ARRAY_SIZE(fds),
	};
	uint32_t id;

	if (null < 0)
		return error_set(err, errno, "open /dev/null");
	return sandbox_run(g->request.episode, &request, &id, err);
}

static int start(struct grade *g, struct fh_error *err)
{
	auto_close int from = -1, to = -1;
	int ends[2];
	int r;

	if (!grade_takes_all(g->request.task))
		return start_evaluator(g, -1, err);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set(err, errno, "make a pipe");
	from = ends[0];
	to = ends[1];
	r = start_packing(g, to, err);
	return r < 0 ? r : start_evaluator(g, take_fd(&from), err);
}

bool grade_takes_all(const struct task *task)
{
	return task->grader.kind == GRADER_MLGYM && task->grader.call != MLGYM_CSV;
}

const struct grade_kind grade_mlgym = { .start = start, .gpus = true };
