/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <fumehood/error.h>

/*
 * Functions that fill a `struct fh_error`. The lowest layer names its operation with error_set().
 * Layers above prepend a few words with error_wrap(). All functions return the negative errno, for
 * `return error_set(...)`. `err` may be NULL.
 */

/* Sets the message and appends ": <strerror>". `error` is a positive errno; other numbers become
 * EIO. */
int error_set(struct fh_error *err, int error, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* Sets the message as error_set() does, but appends no strerror(). */
int error_say(struct fh_error *err, int error, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

/* Sets the message as error_say() does, and a kind that the errno alone would not tell. */
int error_say_kind(struct fh_error *err, enum fh_error_kind kind, int error, const char *format,
		...) __attribute__((format(printf, 4, 5)));

/* Prepends "<format>: " to the message, and keeps the kind. Returns err->code, or -EIO if err is
 * NULL or has no negative code. */
int error_wrap(struct fh_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns `err`, or `own` if `err` is NULL. Public functions call it, because error_wrap() finds
 * the code in the error, and returns -EIO without one. */
static inline struct fh_error *error_or(struct fh_error *err, struct fh_error *own)
{
	return err ? err : own;
}

/* Tells the compiler that the functions above return a negative number. Otherwise the compiler
 * warns about paths on which a failure looks like a success. */
#define ERROR_NEGATIVE(call)                                                                       \
	({                                                                                         \
		int error_code = (call);                                                           \
		if (error_code >= 0)                                                               \
			__builtin_unreachable();                                                   \
		error_code;                                                                        \
	})

#define error_set(...) ERROR_NEGATIVE(error_set(__VA_ARGS__))
#define error_say(...) ERROR_NEGATIVE(error_say(__VA_ARGS__))
#define error_say_kind(...) ERROR_NEGATIVE(error_say_kind(__VA_ARGS__))
#define error_wrap(...) ERROR_NEGATIVE(error_wrap(__VA_ARGS__))

#endif
