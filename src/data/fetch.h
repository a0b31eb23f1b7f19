/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DATA_FETCH_H
#define DATA_FETCH_H

#include "data/lock.h"
#include "task/dataset.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Fetches the files of a data set, and makes the others from them by its layout. A file that is in
 * its place is kept: the user may have put it there. Else it comes from the cache of
 * huggingface_hub, or from a server. The expected sha256 is that of datasets/<id>.yaml, else that
 * of data.lock, else that of the cache or server.
 */

enum data_origin { DATA_KEPT, DATA_CACHED, DATA_FETCHED };

struct data_file {
	const char *name;
	enum data_origin origin;
	struct lock_entry entry;
};

struct data_fetch_options {
	const char *python; /* Python environment for the layout; NULL: this machine's Python */
	int64_t stall_ms;   /* give up a connection that brings nothing for this time */
	int cancel_fd;      /* becomes readable when data_fetch() has to stop; -1: none */
	void *user;
	void (*file)(void *user, const struct data_file *file); /* called when a file is there */
	void (*progress)(void *user, const char *name, int64_t done_bytes, int64_t size_bytes);
	/* Called when the program that lays out the files begins, and when it has ended. Between
	 * these calls cancel_fd has no effect. */
	void (*layout)(void *user, bool begins);
};

/* Fetches a data set. -ENODATA: the user has to bring a file; the message says which and to where.
 * -ECANCELED: parts of files are kept, and the next call continues them. -EBUSY: another process
 * fetches the data set. `err` can't be NULL. */
int data_fetch(const struct dataset *dataset, const struct data_fetch_options *options,
		struct fh_error *err);

#endif
