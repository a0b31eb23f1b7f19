/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_UNTRUSTED_H
#define RUN_UNTRUSTED_H

#include "base/buf.h"
#include "run/episode_options.h"
#include "task/task.h"

/*
 * A record (a run's folder or a .traj file) is untrusted: a stranger may have written it. It may
 * not choose which files of this machine are shown, or where requests and keys are sent. Such a
 * recorded option is a "wish", and works only if the user gives it too. Otherwise the record is
 * refused, or the wish is ignored with a warning.
 */
#define UNTRUSTED_WISHES_BYTES_MAX 512 /* most bytes of wishes, so that they fit into an error */

/* Adds a recorded option to the wishes, as " --option value", quoted for a shell. */
void untrusted_wish(struct buf *wishes, const char *option, const char *value);

/* -EPERM if there are wishes. The error lists them as options that the user may repeat. */
int untrusted_refuse(const struct buf *wishes, struct fh_error *err);

struct untrusted_task {
	const struct task *task;
	const struct episode_options *given; /* options that the user gave */
	bool is_given;                       /* the user named the task's file by its path */
};

/* -EPERM if an untrusted task would give its actions files of this machine or its network. Tasks in
 * folders that the user or this machine's settings name are trusted. */
int untrusted_check_task(const struct untrusted_task *t, struct fh_error *err);

#endif
