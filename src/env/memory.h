/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_MEMORY_H
#define ENV_MEMORY_H

#include "base/buf.h"
#include "base/error.h"

#include "task/task.h"

#include <fumehood/env.h>

/*
 * An agent's memory, from episode to episode: a file of its home, a JSON object with MLGym's keys. It begins as the
 * task's memory_path is, or as a file that was recorded, and what the episode noted is added there when it ends.
 */

/* What the episode's began as; NULL: there was none. Lives until the next reset. */
const struct buf *env_memory(const struct fh_env *env);

/*
 * Begins to end an episode that is to be closed in the middle, in the pollable form: its memory is kept. False if
 * there is nothing to wait for. It comes out of fh_gym_wait(), and fh_env_end() takes it, after seconds at most.
 */
bool env_leave_begin(struct fh_env *env);

/* -EINVAL for what is no memory, or is more than one. */
int memory_check(const struct buf *text, const char *what, struct fh_error *err);
int memory_check_task(const struct task *task,
		struct fh_error *err); /* what it has kept, if it is there */

/*
 * What is to be kept, in `out`: `ours`, an episode's at its end, which began as `began`. Where another
 * episode was kept meanwhile, so that the memory is `now` something else, its notes stay, and what only `ours` has
 * comes after them. -EINVAL for what is no memory, or is more than one; -EFBIG: more than `out` may have, which is empty.
 */
struct memory_change {
	const struct buf *began, *now, *ours; /* empty: there was none */
};

int memory_merge(const struct memory_change *change, struct buf *out, struct fh_error *err);

#endif
