/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_SPAWN_H
#define NATIVE_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Starts a program that inherits nothing of this process but descriptors: fds[i] becomes i, -1
 * /dev/null, and all others are closed. No fd but fds[i] itself may be below n. It has a session of its
 * own, default signals, and the folder "/".
 */
int spawn_program(pid_t *out_pid, const char *path, const char *const *argv, const char *const *env,
		const int *fds, size_t n);

#endif
