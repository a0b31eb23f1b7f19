/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_SPAWN_H
#define NATIVE_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Starts a program that inherits only the listed descriptors: fds[i] becomes descriptor i, and -1
 * becomes /dev/null. All others are closed. Each fds[i] must be -1, i, or at least n. The program
 * has a session of its own, default signals, and the working directory "/". Returns 0 or a negative
 * errno.
 */
int spawn_program(pid_t *out_pid, const char *path, const char *const *argv, const char *const *env,
		const int *fds, size_t n);

#endif
