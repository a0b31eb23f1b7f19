/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_ERROR_H
#define FUMEHOOD_ERROR_H

/*
 * Errors. A function of the library that can fail takes a `struct fh_error *` last. It returns 0
 * (or a count) on success and a negative errno on failure. The caller owns the error, which is
 * written on failure only. NULL is fine if only the code matters.
 */

#ifdef __GNUC__
#define FH_PUBLIC __attribute__((visibility("default")))
#else
#define FH_PUBLIC
#endif

#define FH_ERROR_MESSAGE_MAX 1024

struct fh_error {
	int code;                           /* negative errno, the same as the return value */
	char message[FH_ERROR_MESSAGE_MAX]; /* a sentence in UTF-8, cut at its end if too long */
};

#define FH_ERROR_INIT                                                                              \
	{                                                                                          \
		.code = 0                                                                          \
	}

#endif
