/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <fumehood/error.h>

/*
 * Fill a `struct fh_error`. The lowest layer names its operation with error_set(). Layers above
 * prepend a few words with error_wrap(). All return the negative errno: `return error_set(...)` is
 * the idiom. `err` may be NULL.
 */

/* `error` is a positive errno (EIO if it is not); ": <strerror>" is appended. */
int error_set(struct fh_error *err, int error, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* As error_set(), but the message is complete without strerror(). */
int error_say(struct fh_error *err, int error, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* Prepends "<format>: " to the message. Returns err->code, or -EIO if that is no error. */
int error_wrap(struct fh_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* All three return a negative value, which the compiler can't see in another file. It would warn
 * about paths on which a failure looks like a success. */
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
