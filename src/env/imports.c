/* SPDX-License-Identifier: Apache-2.0 */
#include "env/imports.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"
#include "grade/program.h"
#include "inside/places.h"
#include "task/mlgym.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * src/grade/python/imports.py finds the imports of a task's programs. If it can't be run or is
 * killed, no module counts as missing: the programs then fail by themselves.
 */

#define IMPORTS_PROGRAM "/imports/imports.py"
#define TIMEOUT_MS 60000
/* most bytes of the names of missing modules, to fit into an error message */
#define IMPORTS_NAMES_BYTES_MAX 512

struct imports {
	struct imports *next;
	char fingerprint[SHA256_HEX_BYTES];
	char *evaluator, *starter; /* names of missing modules: "jax, flax"; "": none */
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

static int imports_start(const struct imports_request *q, struct arena *a, struct program *out)
{
	static const char *const variables[] = { "PATH=/usr/local/bin:/usr/bin:/bin",
		"HOME=" GUEST_HOME, "LANG=C.UTF-8", NULL };
	const struct task_grader *grader = &q->task->grader;
	struct sandbox_bind *binds = arena_array(a, q->n_binds + 1, sizeof(*binds));
	static const char python[] = MLGYM_CONDA_PYTHON;
	const char *const argv[] = { python, "-s", "-B", IMPORTS_PROGRAM,
		mlgym_call_names[grader->call],
		arena_printf(a, GUEST_WORKSPACE "/%s", grader->evaluators[0].target),
		*grader->submission ? q->submission : NULL, NULL };
	const char **words = arena_array(a, ARRAY_SIZE(argv), sizeof(*words));

	memcpy(words, argv, sizeof(argv));
	memcpy(binds, q->binds, q->n_binds * sizeof(*binds));
	binds[q->n_binds] = (struct sandbox_bind){
		arena_printf(a, "%s/imports.py", places_get()->graders), IMPORTS_PROGRAM
	};
	return program_start(out, q->owner, &(struct program_plan){
		.sandbox = {
			.layer = q->layer,
			.binds = binds,
			.n_binds = q->n_binds + 1,
			.limits = q->task->limits,
		},
		.argv = words,
		.env = variables,
		.cwd = GUEST_HOME,
		.cancel = q->cancel,
		.streams = { PROGRAM_NOTHING, PROGRAM_LOG, PROGRAM_LOG, PROGRAM_RESULT },
		.n_streams = 4,
	}, NULL);
}

/* Runs imports.py and returns the JSON object that it wrote; NULL on failure. */
static json_t *imports_ask(const struct imports_request *q)
{
	auto_arena struct arena arena = ARENA_INIT;
	json_t *told = NULL;
	struct program p;

	if (imports_start(q, &arena, &p) < 0)
		return NULL;
	if (program_wait(&p, TIMEOUT_MS, NULL) == 0 && p.state == PROGRAM_ENDED && p.status == 0)
		json_parse("imports", buf_str(&p.result), p.result.len, &told, NULL);
	program_release(&p);
	return told;
}

/*
 * Lists the modules by name. Skips those that the task asks the agent to write: the evaluator may
 * import them, but they are not packages.
 */
static char *imports_names(const struct task *task, const json_t *list)
{
	auto_buf struct buf out = BUF_INIT(IMPORTS_NAMES_BYTES_MAX);

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));
		auto_free char *file = xasprintf("%s.py", name ? name : "");

		if (name && !strstr(task->description, file))
			buf_printf(&out, "%s%s", out.len ? ", " : "", name);
	}
	return buf_take(&out);
}

/* Returns NULL if the check was cancelled. */
static const struct imports *imports_find(const struct imports_request *q, struct imports **list)
{
	auto_json json_t *told = NULL;
	struct imports *i;

	for (i = *list; i; i = i->next)
		if (str_eq(i->fingerprint, q->fingerprint))
			return i;
	told = imports_ask(q);
	if (cancel_is_asked(q->cancel))
		return NULL;
	i = xcalloc(1, sizeof(*i));
	snprintf(i->fingerprint, sizeof(i->fingerprint), "%s", q->fingerprint);
	i->evaluator = imports_names(q->task, json_object_get(told, "evaluator"));
	i->starter = imports_names(q->task, json_object_get(told, "starter"));
	i->next = *list;
	*list = i;
	return i;
}

#define LACKS                                                                                      \
	"imports %s, which the Python of its episodes lacks (--python ENV shows one that has them)"

int imports_check(const struct imports_request *q, struct imports **list, struct arena *a,
		const char **out_warning, struct fh_error *err)
{
	const struct imports *found;

	if (q->task->grader.kind != GRADER_MLGYM)
		return 0;
	found = imports_find(q, list);
	if (!found)
		return cancel_refuse(err);
	if (*found->evaluator)
		return error_say(err, ENOPKG, "%s can't be scored: its evaluator " LACKS,
				q->task->id, found->evaluator);
	if (*found->starter)
		*out_warning = arena_printf(
				a, "%s: its starter code " LACKS, q->task->id, found->starter);
	return 0;
}
