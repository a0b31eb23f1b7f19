/* SPDX-License-Identifier: Apache-2.0 */
#include "env/imports.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/gym.h"
#include "grade/program.h"
#include "inside/places.h"
#include "task/mlgym.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * src/grade/python/imports.py parses the programs. Where it can't be run, or is ended, nothing is known to be
 * lacking: then the programs say so themselves.
 */
#define PROGRAM "/imports/imports.py"
#define TIMEOUT_MS 60000
#define NAMES_BYTES_MAX 512 /* a message has no room for more */

struct imports {
	struct imports *next;
	char fingerprint[SHA256_HEX_BYTES];
	char *evaluator, *starter; /* "jax, flax"; "": nothing */
};

void imports_free(struct imports *list)
{
	while (list) {
		struct imports *next = list->next;

		free(list->evaluator);
		free(list->starter);
		free(list);
		list = next;
	}
}

/* --- asking ----------------------------------------------------------------------------------- */

static int start(struct fh_env *env, struct arena *a, struct program *out)
{
	static const char *const variables[] = { "PATH=/usr/local/bin:/usr/bin:/bin",
		"HOME=" GUEST_HOME, "LANG=C.UTF-8", NULL };
	static const char *const calls[] = {
		[MLGYM_CSV] = "csv",
		[MLGYM_PYTHON] = "python",
		[MLGYM_MODEL] = "model",
		[MLGYM_LM] = "lm",
	};
	const struct task_grader *grader = &env->task->task->grader;
	struct sandbox_bind *binds = arena_array(a, env->n_binds + 1, sizeof(*binds));
	static const char python[] = MLGYM_CONDA_PYTHON;
	const char *const argv[] = { python, "-s", "-B", PROGRAM, calls[grader->call],
		arena_printf(a, GUEST_WORKSPACE "/%s", grader->evaluators[0].target),
		*grader->submission ? env->submission : NULL, NULL };
	const char **words = arena_array(a, ARRAY_SIZE(argv), sizeof(*words));

	memcpy(words, argv, sizeof(argv));
	memcpy(binds, env->binds, env->n_binds * sizeof(*binds));
	binds[env->n_binds] = (struct sandbox_bind){
		arena_printf(a, "%s/imports.py", places_get()->graders), PROGRAM
	};
	return program_start(out, env->gym->owner, &(struct program_plan){
		.sandbox = {
			.layer = env->task->layer,
			.binds = binds,
			.n_binds = env->n_binds + 1,
			.limits = env->task->task->limits,
		},
		.argv = words,
		.env = variables,
		.cwd = GUEST_HOME,
		.streams = { PROGRAM_NOTHING, PROGRAM_LOG, PROGRAM_LOG, PROGRAM_RESULT },
		.n_streams = 4,
	}, NULL);
}

/* A file that the agent is asked to write, and the evaluator imports, is no package. */
static bool is_agents_own(const struct task *task, const char *module)
{
	auto_free char *file = xasprintf("%s.py", module);

	return strstr(task->description, file);
}

static char *names_of(const struct task *task, const json_t *list)
{
	auto_buf struct buf out = BUF_INIT(NAMES_BYTES_MAX);

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));

		if (name && !is_agents_own(task, name))
			buf_printf(&out, "%s%s", out.len ? ", " : "", name);
	}
	return buf_take(&out);
}

/* The object that the program wrote; NULL: none. */
static json_t *ask(struct fh_env *env)
{
	auto_arena struct arena arena = ARENA_INIT;
	json_t *told = NULL;
	struct program p;

	if (start(env, &arena, &p) < 0)
		return NULL;
	if (program_wait(&p, TIMEOUT_MS, NULL) == 0 && p.state == PROGRAM_ENDED && p.status == 0)
		json_parse("imports", buf_str(&p.result), p.result.len, &told, NULL);
	program_release(&p);
	return told;
}

/* --- what is known of a task ------------------------------------------------------------------ */

static const struct imports *find_or_ask(struct fh_env *env)
{
	auto_json json_t *told = NULL;
	struct imports *i;

	for (i = env->task->imports; i; i = i->next)
		if (str_eq(i->fingerprint, env->fingerprint))
			return i;
	told = ask(env);
	i = xcalloc(1, sizeof(*i));
	memcpy(i->fingerprint, env->fingerprint, sizeof(i->fingerprint));
	i->evaluator = names_of(env->task->task, json_object_get(told, "evaluator"));
	i->starter = names_of(env->task->task, json_object_get(told, "starter"));
	i->next = env->task->imports;
	env->task->imports = i;
	return i;
}

#define LACKS                                                                                      \
	"imports %s, which the Python of its episodes lacks (--python ENV shows one that has them)"

int imports_check(struct fh_env *env, struct fh_error *err)
{
	const struct task *task = env->task->task;
	const struct imports *found;

	if (task->grader.kind != GRADER_MLGYM)
		return 0;
	pthread_mutex_lock(&env->task->lock);
	found = find_or_ask(env);
	pthread_mutex_unlock(&env->task->lock);
	if (*found->evaluator)
		return error_say(err, ENOPKG, "%s can't be scored: its evaluator " LACKS, task->id,
				found->evaluator);
	if (*found->starter)
		env->warning = arena_printf(&env->arena, "%s: its starter code " LACKS, task->id,
				found->starter);
	return 0;
}
