/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JOB_H
#define BASE_JOB_H

#include "base/error.h"

#include <stdbool.h>

/*
 * Work that may take long, by a thread of its own. A loop begins it, goes on with other things while the
 * descriptor is not readable, and ends it to get its result.
 */
struct job;

/* 0, or a negative errno with *err set. */
typedef int job_work(void *arg, struct fh_error *err);

/* `arg` must stay until job_end(). `what` names the work in the error of a thread that can't be started. */
int job_begin(job_work *work, void *arg, const char *what, struct job **out, struct fh_error *err);

/* The same, but an eventfd of the caller becomes readable when the job is over. Many jobs may share it. */
int job_begin_shared(int fd, job_work *work, void *arg, const char *what, struct job **out,
		struct fh_error *err);

int job_fd(const struct job *job); /* readable once it is over */
bool job_is_over(const struct job *job);

/* Waits for the work if it is not over, frees the job, and returns the work's result. */
int job_end(struct job *job, struct fh_error *err);

#endif
