/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_FLUSHER_H
#define TRAJECTORY_FLUSHER_H

#include "base/error.h"

#include <stdbool.h>

/*
 * One thread of the process that brings files to the disk: what was marked is on it within a second,
 * and who writes never waits for it. The thread starts with the first file, takes no signals, and
 * ends with the process.
 */
struct flushed_file {
	int fd;
	/* Below: the flusher's own, under its lock. */
	bool dirty, busy;
	int error; /* errno of the first fdatasync(2) that failed */
	struct flushed_file *next;
};

/* The file must stay open until flusher_remove(), which waits for a flush that is under way. */
int flusher_add(struct flushed_file *file, struct fh_error *err);
void flusher_remove(struct flushed_file *file);

/* Something was written; the errno of an earlier flush that failed, else 0. */
int flusher_mark(struct flushed_file *file);

#endif
