/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_NAMESPACE_H
#define BASE_NAMESPACE_H

/*
 * Kills all processes of a pid namespace. First it kills PID 1. Then a child joins the namespace
 * and kills the others. PID 1 need not help: it may sleep in the kernel. Another process may hold
 * the kernel's lock of a file or pipe that PID 1 uses. No privilege is needed if this user made the
 * namespace.
 *
 * `proc` is an open directory /proc/PID of the namespace's PID 1. When the function returns, all
 * signals are sent. Returns 0 or -errno.
 */
int namespace_end(int proc);

#endif
