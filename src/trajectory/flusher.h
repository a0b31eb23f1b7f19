/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_FLUSHER_H
#define TRAJECTORY_FLUSHER_H

#include "base/error.h"

#include <stdbool.h>

/*
 * A file that a background thread syncs to the disk, so that writers never wait. A marked file is
 * on the disk within a second. The thread starts with the first file, blocks all signals, and ends
 * with the process.
 */
struct flushed_file {
	int fd;
	/* The members below are private to flusher.c, whose lock guards them. */
	bool dirty, busy;
	int error; /* errno of the first fdatasync(2) that failed; 0: none failed */
	struct flushed_file *next;
};

/* Adds a file to those that the thread syncs. It must stay open until flusher_remove(), which waits
 * for a running sync. */
int flusher_add(struct flushed_file *file, struct fh_error *err);
void flusher_remove(struct flushed_file *file);

/* Marks a file that was written to, so that it is synced soon. Returns the errno of an earlier sync
 * that failed, else 0. */
int flusher_mark(struct flushed_file *file);

#endif
