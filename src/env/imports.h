/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_IMPORTS_H
#define ENV_IMPORTS_H

#include "base/arena.h"
#include "sandbox/sandbox.h"
#include "task/task.h"

/*
 * Finds modules that an MLGym task's programs import and its Python lacks. A program of ours asks
 * that Python, in a sandbox of the task with the environment's binds. No program of the task is
 * run.
 */
/* list of results of a task's import check, one for each fingerprint of this machine */
struct imports;

struct imports_request {
	struct owner *owner;
	const struct task *task;
	const char *layer; /* name of the folder of the task's starting files, for sandboxes */
	const struct sandbox_bind *binds;
	size_t n_binds;
	const char *fingerprint; /* key of the result: equal fingerprints give equal results */
	const char *submission;  /* absolute path of the task's submission in the sandbox */
	struct cancel *cancel;   /* request that ends the check; NULL: none */
};

/*
 * Returns the result of an earlier check of imports from `list`, or runs the check and adds its
 * result. Blocks. The caller holds the mutex of the task that owns the list. -ENOPKG: the evaluator
 * can't run. -ECANCELED. If starter code lacks modules, *out_warning is set, in the arena.
 */
int imports_check(const struct imports_request *q, struct imports **list, struct arena *a,
		const char **out_warning, struct fh_error *err);

void imports_free(struct imports *list); /* NULL is fine */

#endif
