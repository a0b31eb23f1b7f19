/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_PROC_H
#define BENCH_PROC_H

#include <stddef.h>
#include <sys/types.h>

/* Lists the init process (PID 1 inside) of each sandbox of the gym that was opened last, oldest
 * first. Heap array. */
size_t proc_sandboxes(pid_t **out);

/* Bytes of memory of a sandbox's processes. A page that n processes share counts as 1/n page. NAN
 * if this user may not read one of the processes. */
double proc_memory_bytes(pid_t init);

/* Bytes of memory that the kernel uses for itself and for files in memory. */
double proc_kernel_bytes(void);

/* Bytes of memory of this process, of the process that makes sandboxes, and of all sandboxes.
 * Leaves out memory that this user may not read. Like the functions below, returns NAN if /proc
 * does not tell. */
double proc_own_bytes(void);
double proc_descriptors(void); /* number of open descriptors of this process */
double proc_mounts(void);      /* number of mounts in the process that makes sandboxes */
double proc_groups(void); /* number of control groups of the machine, with those being removed */

/* Waits until the kernel has probably removed all that ended sandboxes used. */
void proc_settle(void);

#endif
