/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <fumehood/error.h>

/*
 * How the library fills a `struct fh_error`: the innermost layer says what it was doing with
 * error_set(), each layer above puts its own few words in front with error_wrap(). Both return the
 * negative errno, so that `return error_set(...)` is the idiom. `err` may be NULL.
 */

/* `error` is a positive errno (EIO if it is not); ": <strerror>" is appended. */
int error_set(struct fh_error *err, int error, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* As error_set, without the strerror: the sentence says it all. */
int error_say(struct fh_error *err, int error, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* Puts "<format>: " before the message that is there; returns err->code (-EIO if there is none). */
int error_wrap(struct fh_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* All three return what is negative. Compiler and analyzer can't see it in a function of another
 * file, and would follow paths on which a failure passes for a success. */
#define ERROR_NEGATIVE(call)                                                                       \
	({                                                                                         \
		int error_code = (call);                                                           \
		if (error_code >= 0)                                                               \
			__builtin_unreachable();                                                   \
		error_code;                                                                        \
	})

#define error_set(...) ERROR_NEGATIVE(error_set(__VA_ARGS__))
#define error_say(...) ERROR_NEGATIVE(error_say(__VA_ARGS__))
#define error_wrap(...) ERROR_NEGATIVE(error_wrap(__VA_ARGS__))

#endif
