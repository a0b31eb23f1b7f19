/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The program's log. Only src/run and src/cmd log; other layers return errors. A record is a line:
 * a level, a message, and fields as key=value, or all as a JSON object.
 *
 * Thread-safe: a record is one write. Errors of that write are ignored.
 */
enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

struct log_options {
	enum log_level level; /* lower levels are dropped */
	bool json;
	int fd;    /* for records; -1: none */
	bool time; /* put a UTC time first */
	/* Writes a record in place of fd: a line with its newline. NULL: unused. */
	void (*write)(void *context, const char *record, size_t n);
	void *context;
};

/* Call it before the first thread starts. Without it nothing is logged. */
void log_setup(const struct log_options *options);

/* The level named "debug", "info", "warn" or "error"; -1 for other names. */
int log_level_of(const char *name);

/* Writes the time of now, "2026-01-31T12:00:00.123Z". */
#define LOG_TIME_BYTES 40
void log_time(char *text, size_t n);

struct log_field {
	const char *key, *value; /* a NULL value is written as null */
};

/* Logs to `to`; NULL: the program's log. */
void log_record(const struct log_options *to, enum log_level level, const char *message,
		const struct log_field *fields, size_t n);

#endif
