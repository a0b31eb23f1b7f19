/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_MEMORY_MERGE_H
#define ENV_MEMORY_MERGE_H

#include "base/buf.h"
#include "base/error.h"

/* Checks and merges memories of an agent: JSON objects with MLGym's keys. Memories are
 * untrusted. */

/*
 * Checks a memory's text. -EINVAL if it is not a memory, or has too many values. Errors name it by
 * `what`.
 */
int memory_check(const struct buf *text, const char *what, struct fh_error *err);

/*
 * Writes the memory to keep into the empty `out`. An episode began with the memory `began` and
 * ended with `ours`. If another episode changed the kept memory to `now` meanwhile, the notes in
 * `now` stay. Notes that only `ours` has come after them. -EINVAL for a malformed memory, or one
 * with too many values. -EFBIG: larger than the cap of `out`.
 */
struct memory_change {
	const struct buf *began, *now, *ours; /* texts of memories; empty: there was none */
};

int memory_merge(const struct memory_change *change, struct buf *out, struct fh_error *err);

#endif
