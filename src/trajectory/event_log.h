/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_EVENT_LOG_H
#define TRAJECTORY_EVENT_LOG_H

#include "base/buf.h"
#include "base/error.h"

/*
 * A file of JSON lines that only grows. An event is one write(2), so that whatever ends the process
 * later, the event is kept by the kernel; within a second it is on the disk (event_log_sync: now).
 * After a write that failed the file is cut back to its last whole event, and every later call fails
 * with the same error: what is there stays readable. Used by one thread at a time.
 */
struct event_log;

/* Creates the file; -EEXIST if it is there. */
int event_log_open(const char *path, struct event_log **out, struct fh_error *err);

/* Goes on with a file that is there; a last line that was not written whole is cut off. -EBUSY while the process
 * that writes it lives. */
int event_log_resume(const char *path, struct event_log **out, struct fh_error *err);

/* Whole lines, each with its newline. */
int event_log_add(struct event_log *log, const struct buf *lines, struct fh_error *err);
int event_log_sync(struct event_log *log, struct fh_error *err);
void event_log_close(struct event_log *log); /* NULL is fine */

#endif
