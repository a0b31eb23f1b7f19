/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The program's log. Only src/run, src/serve and src/view log; other layers return errors. A line
 * holds a level, a message and fields as key=value, or all of these as a JSON object.
 *
 * Thread-safe: each line is one write(2). Errors of write(2) are ignored.
 */

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

struct log_options {
	enum log_level level; /* drop lines below this level */
	bool json;
	int fd;    /* descriptor for the lines; -1: none */
	bool time; /* begin each line with the UTC time */
	/* Called with each line, which ends with a newline, instead of writing to fd. NULL:
	 * write to fd. */
	void (*write)(void *context, const char *line, size_t n);
	void *context;
};

/* Sets the program's log. Call it before the first thread starts. Without this call nothing is
 * logged. */
void log_setup(const struct log_options *options);

/* Gives the level for "debug", "info", "warn" or "error"; -1 for other names. */
int log_level_of(const char *name);

#define LOG_TIME_BYTES 40
/* Writes the current time, as in "2026-01-31T12:00:00.123Z". */
void log_time(char *text, size_t n);

struct log_field {
	const char *key, *value; /* name and value of a log field; a NULL value is logged as null */
};

/* Logs a line to `to`. If `to` is NULL, logs to the program's log. */
void log_line(const struct log_options *to, enum log_level level, const char *message,
		const struct log_field *fields, size_t n);

#endif
