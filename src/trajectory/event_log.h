/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_EVENT_LOG_H
#define TRAJECTORY_EVENT_LOG_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/*
 * A file of JSON lines that only grows. Each event is one write(2), so that it survives the end of
 * the process. An event is on the disk within a second, or after event_log_sync(). A failed write
 * cuts the file back to its last whole event, and later calls fail with the same error. Only one
 * thread at a time may use a log.
 */
struct event_log;

/* Creates the log's file. -EEXIST if the file exists. */
int event_log_open(const char *path, struct event_log **out, struct fh_error *err);

/* Opens the file of an event log to append events. Cuts off an incomplete last line. -EBUSY while
 * another process has the log open. */
int event_log_resume(const char *path, struct event_log **out, struct fh_error *err);

/* Appends events to the log: whole lines, each with its newline. */
int event_log_add(struct event_log *log, const struct buf *lines, struct fh_error *err);
int event_log_sync(struct event_log *log, struct fh_error *err);
void event_log_close(struct event_log *log); /* `log` may be NULL */

/* Returns true while a process has the log of this descriptor open. Takes no lock itself. False on
 * a file system without locks. */
bool event_log_is_open(int fd);

#endif
