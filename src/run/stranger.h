/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_STRANGER_H
#define RUN_STRANGER_H

#include "base/buf.h"
#include "run/episode_options.h"
#include "task/task.h"

/*
 * A record (a run's folder, a .traj) may be a stranger's, wherever it lies, and who plays it again, or goes on with it,
 * is the user. What it asks for of this machine, or of where requests and keys go, holds where the command line says it,
 * too; else it is refused with the options that would give it, or left out and said.
 */
#define STRANGER_WISHES_BYTES_MAX 512 /* what a message has room for */

/* Adds " --option value", as a shell takes it. */
void stranger_wish(struct buf *wishes, const char *option, const char *value);

/* -EPERM where there are wishes: they are to be said again. */
int stranger_refuse(const struct buf *wishes, struct fh_error *err);

struct stranger_task {
	const struct task_places *places; /* some of them the record's */
	const char *task, *variant;
	const struct episode_options *given; /* by the command line */
	bool is_given;                       /* so is the task's own path */
};

/* Where it was played its actions are played again, and a task of their author's could hand them this machine: -EPERM
 * for one that would, in a place that neither the command line nor this machine's own settings name. One that can't be
 * loaded is not complained of. */
int stranger_check_task(const struct stranger_task *t, struct fh_error *err);

#endif
