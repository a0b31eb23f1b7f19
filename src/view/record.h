/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_RECORD_H
#define VIEW_RECORD_H

#include "base/clock.h"
#include "base/error.h"
#include "view/steps.h"

#include <sys/stat.h>

/* Reads the file of a recorded run. */

/* Makes an empty record of the file. */
struct record *record_new(const char *path);
void record_free(struct record *r);

/* Reads what was added to the file, or all of a file that was replaced. */
int record_refresh(struct record *r, struct fh_error *err);

/* Reads a part of the file. -EFBIG: it does not fit into `out`. */
int record_read(const struct record *r, int64_t begin, int64_t end, struct buf *out,
		struct fh_error *err);

static inline int64_t record_mtime_ns(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * NS_PER_S + st->st_mtim.tv_nsec;
}

#define RECORD_PART_BYTES_MAX (256L << 20)

#endif
