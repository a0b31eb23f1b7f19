/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_STEPS_CACHE_H
#define VIEW_STEPS_CACHE_H

#include "base/buf.h"
#include "view/steps.h"

#include <stdbool.h>

/*
 * A text of the steps of a large record: where they lie, and what the timeline shows of each. The
 * index keeps the text, so that a later viewer need not read the record from its beginning. A
 * viewer writes the text when it has read a record, and again while the run goes on.
 *
 * The recorder could write such a file beside the events, but that would be worse:
 * - Each step of each run would cost more, and old records and MLGym's would have no such file.
 * - A copied or edited run would bring along a file that no longer fits. To find that out, the
 *   viewer would have to read all of the record.
 *
 * A text counts only for the same device and inode. Size and time must be the same, or the file has
 * grown. The last bytes before the old end must be the same too.
 *
 * A text is untrusted. If it is damaged, or names a place outside of the record, all of it
 * is left out. Then the record is read as before.
 */

#define STEPS_CACHE_BYTES_MAX (64L << 20)

/* Appends the text of a record. False: this record can't be kept. */
bool steps_cache_write(const struct record *r, struct buf *out);

/* Fills an empty record from the text, if it fits the file. record_refresh() reads the rest. */
bool steps_cache_read(struct record *r, const char *text, size_t n);

/* Hash of the last bytes of a record that were read. */
#define STEPS_CACHE_HASH_BYTES 65

/* Fills an empty record from the text, without a look at the file. False: the text is damaged, and
 * the record stays empty. For steps_cache_read() and tests. */
bool steps_cache_parse(
		struct record *r, const char *text, size_t n, char hash[STEPS_CACHE_HASH_BYTES]);

/* Appends the text of a record with this hash. For steps_cache_write() and tests. */
void steps_cache_put(const struct record *r, const char *hash, struct buf *out);

#endif
