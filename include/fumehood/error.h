/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_ERROR_H
#define FUMEHOOD_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Errors. A function of the library that can fail takes a `struct fh_error *` last. It returns 0
 * (or a count) on success and a negative errno on failure. The caller owns the error, which is
 * written on failure only. NULL is fine if only the code matters.
 *
 *   struct fh_error err = FH_ERROR_INIT;
 *
 *   if (fh_env_step(env, &action, &step, &err) < 0)
 *           fprintf(stderr, "%s\n", err.message);
 *
 * The kind tells what a program can do about an error. The errno tells more to those who know it.
 */

#ifdef __GNUC__
#define FH_PUBLIC __attribute__((visibility("default")))
#else
#define FH_PUBLIC
#endif

enum fh_error_kind {
	FH_ERROR_NONE,
	FH_ERROR_INPUT,   /* the caller passed a wrong value, or a file that it names is wrong */
	FH_ERROR_STATE,   /* the call does not fit now: no episode, cancelled, or after a fork */
	FH_ERROR_MISSING, /* a task, file or module that was named does not exist */
	FH_ERROR_BUSY,    /* something is in use; the same call may work later */
	FH_ERROR_MACHINE, /* this machine lacks a right, a limit, memory, disk or a network */
	/* Fumehood, or a program of the task, has a fault: nothing that the caller passed. */
	FH_ERROR_INTERNAL,
};

#define FH_ERROR_MESSAGE_MAX 1024

struct fh_error {
	int code; /* negative errno, the same as the return value */
	enum fh_error_kind kind;
	char message[FH_ERROR_MESSAGE_MAX]; /* a sentence in UTF-8, cut at its end if too long */
};

#ifdef __cplusplus
#define FH_ERROR_INIT                                                                              \
	{                                                                                          \
	}
#else
#define FH_ERROR_INIT                                                                              \
	{                                                                                          \
		0                                                                                  \
	}
#endif

#ifdef __cplusplus
}
#endif

#endif
