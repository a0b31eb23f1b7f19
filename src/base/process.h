/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Processes, read from /proc. */

/* The next process of an opendir("/proc"), 0 after the last. */
pid_t process_next(DIR *proc);

#define PROCESS_STAT_MAX 2048

/* Reads /proc/PID/stat; false if there is no such process. */
bool process_read_stat(pid_t pid, char out[PROCESS_STAT_MAX]);

/* Fields of /proc/PID/stat, numbered as in proc(5). */
enum process_field {
	PROCESS_PARENT = 4,
	PROCESS_FLAGS = 9,  /* the kernel's PF_* */
	PROCESS_START = 22, /* clock ticks since boot */
	PROCESS_RESIDENT_PAGES = 24,
	PROCESS_ARGUMENTS_BEGIN = 48, /* address of the command line */
	PROCESS_ARGUMENTS_END = 49,
};

/* A field of that text; -1: it is missing. */
int64_t process_field(const char *stat, enum process_field field);

/* The name of the process in that text, cut to `size`; "" if it is missing. */
void process_name(const char *stat, char *out, size_t size);

/* True if the process has ended and was not reaped yet. */
bool process_has_ended(const char *stat);

/* The start time in ticks, which with the pid identifies a process for ever. -1: no such
 * process. */
int64_t process_start_time(pid_t pid);

/*
 * A new name for a folder of this process, on the heap: "<prefix>-<number>-<pid>-<start time>".
 * The name tells others if the process is gone. process_claim() locks the folder (flock(2)) as
 * long as the descriptor that it returns is open; -errno.
 */
char *process_own_name(const char *prefix);
int process_claim(const char *folder);

/* True if a folder has such a name, its process is gone, and no process claims it. Both are needed:
 * the process may live in another pid or time namespace, or be about to claim. */
bool process_folder_is_stale(const char *folder);

#endif
