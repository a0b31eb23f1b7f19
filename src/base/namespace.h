/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_NAMESPACE_H
#define BASE_NAMESPACE_H

/*
 * Kills PID 1 of a pid namespace, and everything else in it from inside, by a child that joins it. PID 1 takes
 * no part: one that sleeps in the kernel on a lock of another process there ends when that process has. Needs no
 * privilege over what this user, or one's own user namespace, has made.
 *
 * `proc` is an open directory /proc/PID. Signals are on their way when it returns; -errno.
 */
int namespace_end(int proc);

#endif
