/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_MEMORY_MERGE_H
#define ENV_MEMORY_MERGE_H

#include "base/buf.h"
#include "base/error.h"

/* Checks and merges memories of an agent: JSON objects with MLGym's keys. Memories are
 * untrusted. */

/* -EINVAL if the text is no memory, or one with too many values. Errors call it `what`. */
int memory_check(const struct buf *text, const char *what, struct fh_error *err);

/*
 * Writes the memory to keep into `out`. `ours` is an episode's at its end, which began as `began`.
 * If another episode changed the kept memory meanwhile, to `now`, its notes stay. Notes that only
 * `ours` has come after them. -EINVAL for no memory, or one with too many values; -EFBIG: larger
 * than `out` may be, which is empty.
 */
struct memory_change {
	const struct buf *began, *now, *ours; /* empty: there was none */
};

int memory_merge(const struct memory_change *change, struct buf *out, struct fh_error *err);

#endif
