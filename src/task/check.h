/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_CHECK_H
#define TASK_CHECK_H

#include "base/arena.h"
#include "task/task.h"

/*
 * All that can be said about a task without running it: each of its variants loads, data is what it
 * should be, and nothing of the grader's comes into the agent's hands.
 */
struct task_remark {
	bool problem;     /* else a note: worth knowing, and no harm */
	const char *text; /* one sentence */
};

#define TASK_REMARKS_MAX 64

struct task_check {
	struct task_remark remarks[TASK_REMARKS_MAX];
	size_t n, n_problems;
	struct arena arena; /* of the texts */
	const char *python; /* an environment of the user's; NULL: this machine's */
};

/* Fails, as task_load() does, only when there is no such task. Release in any case. */
int task_check(const struct task_places *places, const char *spec, const char *python,
		struct task_check *out, struct fh_error *err);

/* Adds one, unless it is there already. */
void task_check_remark(struct task_check *check, bool problem, const char *format, ...)
		__attribute__((format(printf, 3, 4)));
void task_check_release(struct task_check *check);

#endif
