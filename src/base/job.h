/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JOB_H
#define BASE_JOB_H

#include "base/error.h"

#include <stdbool.h>

/*
 * Slow work in a thread of its own. Begin the job, go on until its descriptor is readable, and end
 * it to get the result.
 */
struct job;

/* 0, or a negative errno with *err set. */
typedef int job_work(void *arg, struct fh_error *err);

/* `arg` must stay valid until job_end(). The error is "start a thread to <what>". */
int job_begin(job_work *work, void *arg, const char *what, struct job **out, struct fh_error *err);

/* The same, but an eventfd of the caller becomes readable when the job is over. Many jobs may share
 * it. */
int job_begin_shared(int fd, job_work *work, void *arg, const char *what, struct job **out,
		struct fh_error *err);

int job_fd(const struct job *job); /* readable when the work is over */
bool job_is_over(const struct job *job);

/* Waits for the end of the work, frees the job, and returns the result of the work. */
int job_end(struct job *job, struct fh_error *err);

#endif
