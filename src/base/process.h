/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

/* Start of a process in clock ticks since boot: with its pid, the name of a process for all time.
 * -1 if there is none. */
int64_t process_start_time(pid_t pid);

/* The same from the text of a /proc/PID/stat; -1 if it is none. */
int64_t process_start_of(const char *stat);

#endif
