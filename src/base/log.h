/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The program's log. Only src/run and src/cmd log; other layers return errors. A record is a
 * level, a message, and fields as key=value (or one JSON object a line).
 *
 * Thread-safe: a record is one write. What can't be written is lost: a log is not worth an error.
 */
enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

struct log_options {
	enum log_level level; /* what is below is dropped */
	bool json;
	int fd;    /* where records go; -1: nowhere */
	bool time; /* put a UTC time first */
	/* What writes a record instead, a line with its newline; NULL: into fd. */
	void (*write)(void *context, const char *record, size_t n);
	void *context;
};

/* Before the first thread. Without it there is no log. */
void log_setup(const struct log_options *options);

/* "debug", "info", "warn", "error" to a level; -1 if the name is not one of them. */
int log_level_of(const char *name);

struct log_field {
	const char *key, *value; /* a NULL value is written as null */
};

/* to: a log of its own; NULL: the program's. */
void log_record(const struct log_options *to, enum log_level level, const char *message,
		const struct log_field *fields, size_t n);

#endif
