/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_UNTRUSTED_H
#define RUN_UNTRUSTED_H

#include "base/buf.h"
#include "run/episode_options.h"
#include "task/task.h"

/*
 * A record (a run's folder, a .traj) is untrusted: somebody else may have written it. It may not
 * decide which files of this machine are shown, nor where requests and keys go. If the user asks
 * for the same, it is done. Otherwise the record is refused with the options that allow it, or its
 * wish is left out with a warning.
 */
#define UNTRUSTED_WISHES_BYTES_MAX 512 /* an error has room for so many */

/* Adds " --option value", quoted for a shell. */
void untrusted_wish(struct buf *wishes, const char *option, const char *value);

/* -EPERM if there are wishes; the error lists them as options. */
int untrusted_refuse(const struct buf *wishes, struct fh_error *err);

struct untrusted_task {
	const struct task_places *places; /* some of them the record's */
	const char *task, *variant;
	const struct episode_options *given; /* by the user */
	bool is_given;                       /* the user named the task by its path */
};

/* -EPERM if the task would give the record's actions files or the network of this machine. Tasks in
 * places that the user or this machine's settings name may do that. A task that can't be loaded is
 * no error here. */
int untrusted_check_task(const struct untrusted_task *t, struct fh_error *err);

#endif
