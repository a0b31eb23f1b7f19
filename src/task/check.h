/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_CHECK_H
#define TASK_CHECK_H

#include "base/arena.h"
#include "task/task.h"

/*
 * Checks a task without running anything. Each variant must load, and its data must have the
 * expected hashes. No file of the grader may reach the agent.
 */
struct task_remark {
	bool problem;     /* else a note, which does not fail the check */
	const char *text; /* a sentence */
};

#define TASK_REMARKS_MAX 64

struct task_check {
	struct task_remark remarks[TASK_REMARKS_MAX];
	size_t n, n_problems;
	struct arena arena; /* has the texts */
	const char *python; /* the user's Python environment; NULL: this machine's */
};

/* Fails, as task_load() does, only when there is no such task. Release `out` in any case. */
int task_check(const struct task_places *places, const char *spec, const char *python,
		struct task_check *out, struct fh_error *err);

/* Adds a remark, unless it is there already. */
void task_check_remark(struct task_check *check, bool problem, const char *format, ...)
		__attribute__((format(printf, 3, 4)));
void task_check_release(struct task_check *check);

#endif
