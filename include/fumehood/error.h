/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_ERROR_H
#define FUMEHOOD_ERROR_H

/*
 * Errors. Every function of the library that can fail returns 0 (or a count) on success and a
 * negative errno on failure, and takes a `struct fh_error *` last. The caller owns the error; it
 * may be NULL when only the code matters. It is written on failure only.
 */

#ifdef __GNUC__
#define FH_PUBLIC __attribute__((visibility("default")))
#else
#define FH_PUBLIC
#endif

#define FH_ERROR_MESSAGE_MAX 1024

struct fh_error {
	int code;                           /* negative errno, the same as the return value */
	char message[FH_ERROR_MESSAGE_MAX]; /* one sentence, UTF-8, cut at the end if too long */
};

#define FH_ERROR_INIT                                                                              \
	{                                                                                          \
		.code = 0                                                                          \
	}

#endif
