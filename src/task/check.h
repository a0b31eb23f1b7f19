/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_CHECK_H
#define TASK_CHECK_H

#include "base/arena.h"
#include "task/find.h"
#include "task/task.h"

/*
 * Checks a task without running anything. Checks that each variant can be loaded, and that its data
 * has the expected hashes. No file of the grader may reach the agent. Missing data is a problem of
 * the variant that `run` would play, and a note of the others.
 */

struct task_remark {
	/* true: the remark is a problem, which fails the check of the task; false: a note */
	bool problem;
	const char *text; /* text of a remark on the task, a sentence */
};

#define TASK_REMARKS_MAX 64

struct task_check {
	struct task_remark remarks[TASK_REMARKS_MAX];
	size_t n, n_problems;
	/*
	 * First error with which loading a variant failed, except for missing data; code 0: no
	 * variant failed.
	 */
	struct fh_error refusal;
	struct arena arena; /* owns the remarks' texts */
	/* path of the Python environment that the user chose; NULL: this machine's Python */
	const char *python;
};

/* Checks a task, without running anything. Fails only if there is no such task, as task_load()
 * does. The caller releases `out`, also after a failure. */
int task_check(const struct task_places *places, const char *spec, const char *python,
		struct task_check *out, struct fh_error *err);

/* Adds a remark to the results of the check. If an equal remark is there, adds none. If `problem`
 * is true, the equal remark becomes a problem. */
void task_check_remark(struct task_check *check, bool problem, const char *format, ...)
		__attribute__((format(printf, 3, 4)));
void task_check_release(struct task_check *check);

#endif
