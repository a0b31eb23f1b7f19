/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_NAMESPACE_H
#define BASE_NAMESPACE_H

/*
 * Kills PID 1 of a pid namespace, and a child that joins the namespace kills all others in there.
 * So it needs no help of PID 1, which may sleep in the kernel on a lock of another process. It
 * needs no privilege over namespaces that this user has made.
 *
 * `proc` is an open directory /proc/PID. The signals are sent when it returns; -errno.
 */
int namespace_end(int proc);

#endif
