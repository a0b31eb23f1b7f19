/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_REPLAYED_H
#define VIEW_REPLAYED_H

#include "view/rebuild.h"
#include "view/record.h"

/* Texts of files that `fumehood replay --files` noted beside a record: run/replay_files.h. */

/* Returns when the file beside the record was written, in ns. 0: there is none. */
int64_t replayed_time(const struct record *r);

/*
 * Puts the noted texts in place of those that were rebuilt. Stops before the first step that
 * differs from the record. Call it after the last rebuild_step(). Notes of an older state of the
 * record are left out.
 */
void replayed_add(struct rebuild *b, const struct record *r);

/* Takes the n bytes of such a file, as replayed_add() does. */
void replayed_read(struct rebuild *b, const char *text, size_t n, int64_t record_bytes);

#endif
