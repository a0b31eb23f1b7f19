/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_STRANGER_H
#define RUN_STRANGER_H

#include "base/buf.h"
#include "run/episode_options.h"
#include "task/task.h"

/*
 * A record (a run's folder, a .traj) is untrusted: somebody else may have written it. It may not choose what of this
 * machine is shown, nor where requests and keys go, unless the user asks for the same. Otherwise it is refused with
 * the options that would allow it, or its wish is left out with a warning.
 */
#define STRANGER_WISHES_BYTES_MAX 512 /* what a message has room for */

/* Adds " --option value", as a shell takes it. */
void stranger_wish(struct buf *wishes, const char *option, const char *value);

/* -EPERM if there are wishes; the error lists them as options. */
int stranger_refuse(const struct buf *wishes, struct fh_error *err);

struct stranger_task {
	const struct task_places *places; /* some of them the record's */
	const char *task, *variant;
	const struct episode_options *given; /* by the user */
	bool is_given;                       /* the user named the task by its path */
};

/* -EPERM for a task that would give the record's actions files or the network of this machine, if it lies in a place
 * that neither the user nor this machine's settings name. A task that can't be loaded is no error here. */
int stranger_check_task(const struct stranger_task *t, struct fh_error *err);

#endif
