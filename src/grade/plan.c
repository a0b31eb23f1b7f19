/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/plan.h"

#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "inside/places.h"
#include "sandbox/python.h"

#include <assert.h>
#include <string.h>

#define USUAL_PATH "/usr/local/bin:/usr/bin:/bin"

/* Most binds of a grader's program besides the hidden files: a program of the task, a judge's
 * libraries, `simulators`. */
#define OWN_BINDS_MAX 5

int grade_add(struct grade *g, const struct program_plan *plan, struct fh_error *err)
{
	int r = program_start(&g->programs[g->n_programs], g->request.owner, plan, err);

	if (r < 0)
		return r;
	g->n_programs++;
	return 0;
}

struct grade_binds grade_binds_new(struct grade *g)
{
	size_t size = g->request.n_binds + g->request.task->n_hidden +
			g->request.task->grader.n_evaluators + OWN_BINDS_MAX;

	return (struct grade_binds){
		.binds = arena_array(&g->arena, size, sizeof(struct sandbox_bind)),
		.size = size,
	};
}

void grade_bind(struct grade *g, struct grade_binds *b, const char *source, const char *folder,
		const char *target)
{
	assert(b->n < b->size);
	b->binds[b->n++] = (struct sandbox_bind){
		.source = source,
		.target = arena_printf(&g->arena, "%s/%s", folder, target),
	};
}

void grade_bind_episode(struct grade *g, struct grade_binds *b)
{
	assert(b->n + g->request.n_binds <= b->size);
	for (size_t i = 0; i < g->request.n_binds; i++)
		b->binds[b->n++] = g->request.binds[i];
}

const char *grade_bind_hidden(struct grade *g, struct grade_binds *b)
{
	const struct task *task = g->request.task;
	const char *program = NULL;

	if (task->simulators)
		grade_bind(g, b, places_get()->simulators, GRADER_DIR, "simulators");
	for (size_t i = 0; i < task->n_hidden; i++) {
		grade_bind(g, b, task->hidden[i].source, GRADER_DIR, task->hidden[i].target);
		if (str_eq(task->hidden[i].source, task->grader.program))
			program = b->binds[b->n - 1].target;
	}
	if (program)
		return program;
	grade_bind(g, b, task->grader.program, GRADER_DIR, path_basename(task->grader.program));
	return b->binds[b->n - 1].target;
}

const char *const *grade_python(
		struct grade *g, const char *program, const char *first, const char *const *more)
{
	/* Python's option -s ignores packages in the user's home. -B writes no compiled files
	 * beside the program. */
	static const char *const python[] = { "python3", "-s", "-B" };
	const char **argv;
	size_t n_more = 0, n = ARRAY_SIZE(python);

	while (more && more[n_more])
		n_more++;
	argv = arena_array(&g->arena, n + n_more + 3, sizeof(*argv));
	memcpy(argv, python, sizeof(python));
	argv[n++] = program;
	if (first)
		argv[n++] = first;
	for (size_t i = 0; i < n_more; i++)
		argv[n++] = more[i];
	return argv;
}

const char *grade_part(const struct grade *g)
{
	if (!g->request.task->grader.final)
		return "all";
	return g->request.final ? "final" : "validate";
}

const char *const *grade_env(struct grade *g, const char *judge_key)
{
	static const char *const usual[] = {
		"PATH=" USUAL_PATH,
		"HOME=" GUEST_HOME,
		"LANG=C.UTF-8",
		/* Fix Python's hash seed, so that programs with hashed strings score the same in
		 * all runs. */
		"PYTHONHASHSEED=0",
	};
	const char **env = arena_array(&g->arena, ARRAY_SIZE(usual) + 4, sizeof(*env));
	size_t n = ARRAY_SIZE(usual);

	memcpy(env, usual, sizeof(usual));
	if (g->request.python)
		env[0] = python_env_path(&g->arena, g->request.python, USUAL_PATH);
	if (judge_key) {
		env[n++] = arena_printf(&g->arena, "FUMEHOOD_JUDGE_KEY=%s", judge_key);
		env[n++] = arena_printf(&g->arena, "FUMEHOOD_JUDGE_PART=%s", grade_part(g));
	}
	if (g->request.gpus)
		env[n] = sandbox_gpus_variable(&g->arena, g->request.gpus);
	return env;
}
