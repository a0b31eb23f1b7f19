/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_INDEX_H
#define REPORT_INDEX_H

#include "base/buf.h"
#include "base/error.h"
#include "report/row.h"

/*
 * The index of the runs beneath a folder, an SQLite file. It lies in the folder, or in the state
 * folder if that can't be written. An index is a cache: a damaged one is made anew. The
 * name holds the folder's device and inode. So an index that was copied with the runs is not used.
 *
 * A single thread may use an index at a time. Several processes may update the same one.
 */
struct run_index;

/* Opens the index of `dir`, or makes an empty one. `tasks_dir` may have the tasks of MLGym's
 * records; NULL: only the installed tasks. -ENOENT, -ENOTDIR: there is no such folder. */
int run_index_open(const char *dir, const char *tasks_dir, struct run_index **out,
		struct fh_error *err);

/* Reads the records that are new or were changed, by their time and size. Stops early once
 * `stop_fd` is readable (-1: never), and leaves the other records for the next call. */
int run_index_update(struct run_index *ix, int stop_fd, struct fh_error *err);

/* Appends all rows, sorted by path, also those with a problem. Their strings live in the arena. */
int run_index_rows(
		struct run_index *ix, struct arena *a, struct run_rows *out, struct fh_error *err);

/* Keeps a text for a record of the folder, until the record is gone. */
int run_index_keep(struct run_index *ix, const char *path, const struct buf *text,
		struct fh_error *err);

/* Appends the text that was kept for a record. -ENOENT: there is none that fits into `out`. */
int run_index_kept(struct run_index *ix, const char *path, struct buf *out, struct fh_error *err);

void run_index_close(struct run_index *ix); /* `ix` may be NULL */

static inline void scope_run_index(struct run_index *const *ix)
{
	run_index_close(*ix);
}

#define auto_run_index __attribute__((cleanup(scope_run_index)))

#endif
