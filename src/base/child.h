/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Waits for children of this process by pidfds. The program that uses the library may reap the
 * children itself, or ignore SIGCHLD. Then a pid may belong to another process at any time.
 *
 * A pidfd of -1 means a child that has ended.
 */

/* Opens a pidfd of a child that was just started. -1: it has ended and was reaped. */
int child_open(pid_t pid);

/* Waits until the child has ended. False: timeout_ms (-1: no timeout) ran out. */
bool child_await(int pidfd, int timeout_ms);

bool child_has_ended(int pidfd);

enum child_end {
	CHILD_RUNS,
	CHILD_DONE,    /* exited with status 0 */
	CHILD_FAILED,  /* exited with another status, or was killed by a signal */
	CHILD_UNKNOWN, /* has ended, and was reaped by other code or by the kernel */
};

/* Reaps the child if it has ended. For CHILD_FAILED, *out_status has the form of wait(2). NULL is
 * fine. */
enum child_end child_reap(int pidfd, int *out_status);

/* Kills the child. Does nothing if it has ended. */
void child_kill(int pidfd);

#endif
