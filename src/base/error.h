/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <fumehood/error.h>

/*
 * How the library fills a `struct fh_error`: the innermost layer says what it was doing with
 * error_set(), each layer above puts its own few words in front with error_wrap(). Both return the
 * negative errno, so that `return error_set(...)` is the idiom. `err` may be NULL.
 */

/* `error` is a positive errno; ": <strerror>" is appended. */
int error_set(struct fh_error *err, int error, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* As error_set, without the strerror: the sentence says it all. */
int error_say(struct fh_error *err, int error, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* Puts "<format>: " before the message that is there; returns err->code (-EIO if err is NULL). */
int error_wrap(struct fh_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
