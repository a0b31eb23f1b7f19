/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_UNTRUSTED_H
#define RUN_UNTRUSTED_H

#include "base/buf.h"
#include "run/episode_options.h"
#include "task/task.h"

/*
 * A record (a run's folder or a .traj file) is untrusted: it may come from another person. It may
 * not choose which files of this machine sandboxes see, or where requests and keys are sent. A
 * recorded option that would do so is called a wish. It takes effect only if the user gives it too.
 * If not, the record is refused, or the wish is ignored with a warning.
 */
/* most bytes of all recorded options that the user has to give again: they fit into an error's
 * text */
#define UNTRUSTED_WISHES_BYTES_MAX 512

/* Adds " --option value", quoted for a shell, to the text of recorded options that the user has to
 * give again. */
void untrusted_wish(struct buf *wishes, const char *option, const char *value);

/* Returns -EPERM if a record has options that only the user may give. The error lists them. */
int untrusted_refuse(const struct buf *wishes, struct fh_error *err);

struct untrusted_task {
	const struct task *task;
	const struct episode_options *given; /* options that the user gave on the command line */
	/* the user gave the path of the task's file on the command line */
	bool is_given;
};

/* Returns -EPERM if an untrusted task would give its actions files of this machine or its
 * network. A task is trusted if it lies in a folder that the user or this machine's settings
 * name. */
int untrusted_check_task(const struct untrusted_task *t, struct fh_error *err);

#endif
