/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_TRIALS_H
#define RUN_TRIALS_H

#include "base/buf.h"
#include "base/json.h"
#include "task/find.h"

#include <sys/types.h>

/*
 * Checks of several tasks, some at once. Each check is a process of its own, because a process can
 * have only one gym. The process prints a report, a JSON object, on its standard output.
 */

struct trials_item {
	char *spec;     /* name or path of the task, as for task_load() */
	char *left_out; /* why the task can't run here; NULL: it can */
	pid_t pid;      /* process of the check; 0: none runs */
	int fd;         /* pipe from the standard output of the check's process */
	struct buf out;
	int64_t begun_ns;
	json_t *report; /* report of the check; NULL: the check has not ended */
	int status;     /* exit status of the check's process; 1 if a signal ended it */
};

/* Begins as zeros. A single thread may use it. */
struct trials {
	struct trials_item *items;
	size_t n, n_begun, n_done;
};

/* Adds a task. Copies `spec`. */
void trials_add(struct trials *trials, const char *spec);

/*
 * Adds each variant of each task, or only those named `variant`. Leaves out tasks that can't run
 * here. `python`: the folder of an environment; NULL: this machine's Python. -ENOENT: no task has
 * such a variant.
 */
int trials_add_all(struct trials *trials, const struct task_places *places, const char *variant,
		const char *python, struct fh_error *err);

struct trials_request {
	size_t jobs; /* most checks at once */
	int stop_fd; /* when readable, the checks end */
	/* Returns the words of this program's command line that check a task, NULL-terminated. They
	 * live until the next call. */
	const char *const *(*words)(void *user, const char *spec);
	/* called before each wait and at the end: reports were added, or other checks run */
	void (*changed)(void *user, const struct trials *trials);
	void *user;
};

/* Runs the checks until each item has a report. On failure no check runs any more. -EINTR: stop_fd
 * became readable. */
int trials_run(struct trials *trials, const struct trials_request *request, struct fh_error *err);
void trials_release(struct trials *trials);

#endif
