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

/* The work of a job, called in the job's thread. Returns 0, or a negative errno with *err set. */
typedef int job_work(void *arg, struct fh_error *err);

/* Starts a job. `arg` must stay valid until job_end(). If no thread starts, the error says "start a
 * thread to <what>". */
int job_begin(job_work *work, void *arg, const char *what, struct job **out, struct fh_error *err);

/* Like job_begin(), but makes the caller's eventfd `fd` readable when the job ends. Many jobs may
 * share one eventfd. */
int job_begin_shared(int fd, job_work *work, void *arg, const char *what, struct job **out,
		struct fh_error *err);

int job_fd(const struct job *job); /* descriptor that is readable when the job has ended */
bool job_is_over(const struct job *job);

/* Waits for the end of the job, frees it, and returns the result of its work. */
int job_end(struct job *job, struct fh_error *err);

#endif
