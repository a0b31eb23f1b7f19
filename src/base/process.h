/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Processes, as /proc tells of them. */

/* The next process of an opendir("/proc"), 0 after the last. */
pid_t process_next(DIR *proc);

#define PROCESS_STAT_MAX 2048

/* The text of /proc/PID/stat; false if there is no such process. */
bool process_read_stat(pid_t pid, char out[PROCESS_STAT_MAX]);

/* Some of its fields, as proc(5) counts them. */
enum process_field {
	PROCESS_PARENT = 4,
	PROCESS_FLAGS = 9,  /* the kernel's PF_* */
	PROCESS_START = 22, /* clock ticks since boot */
	PROCESS_RESIDENT_PAGES = 24,
	PROCESS_ARGUMENTS_BEGIN = 48, /* where the command line is in its memory */
	PROCESS_ARGUMENTS_END = 49,
};

/* One field of such a text; -1 if it is not there. */
int64_t process_field(const char *stat, enum process_field field);

/* The name in such a text, cut to what out holds; "" if there is none. */
void process_name(const char *stat, char *out, size_t size);

/* Whether it has ended and only waits to be reaped. */
bool process_has_ended(const char *stat);

/* Its start: with its pid, the name of a process for all time. -1 if there is none. */
int64_t process_start_time(pid_t pid);

/*
 * "<prefix>-<number>-<pid>-<start time>" with the caller's, as a heap string: a name for a folder that
 * would outlive a process that is killed, another one with each call. The process claims the folder by a
 * lock (flock(2)) on the descriptor that is returned (-errno), as long as that is open.
 */
char *process_own_name(const char *prefix);
int process_claim(const char *folder);

/* Whether a folder has such a name and its process is no more. The name alone would not tell who lives in
 * another pid or time namespace; the lock alone, not who is about to claim. */
bool process_folder_is_stale(const char *folder);

#endif
