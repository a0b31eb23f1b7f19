/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Information about processes, read from /proc. */

/* Gives the pid of the next process in an opendir("/proc"); 0 after the last. */
pid_t process_next(DIR *proc);

#define PROCESS_STAT_MAX 2048

/* Reads the text of /proc/PID/stat, for process_field(). Returns false if no such process runs. */
bool process_read_stat(pid_t pid, char out[PROCESS_STAT_MAX]);

/* Numbers of fields in /proc/PID/stat, as in proc(5). */
enum process_field {
	PROCESS_PARENT = 4,
	PROCESS_FLAGS = 9,  /* flags of the process: the kernel's PF_* */
	PROCESS_START = 22, /* start time in clock ticks since boot */
	PROCESS_RESIDENT_PAGES = 24,
	PROCESS_ARGUMENTS_BEGIN = 48, /* address at which the command line begins */
	PROCESS_ARGUMENTS_END = 49,
};

/* Reads a field of a text that process_read_stat() gave; -1: the field is missing. */
int64_t process_field(const char *stat, enum process_field field);

/* Copies the name of the process from a text that process_read_stat() gave, cut to `size`. "" if
 * the name is missing. */
void process_name(const char *stat, char *out, size_t size);

/* True if the text of process_read_stat() shows a process that has ended and was not reaped yet. A
 * malformed text counts as such, too. */
bool process_has_ended(const char *stat);

/* Start time of a process in clock ticks since boot. Together with the pid it identifies a process
 * for ever. -1: no such process. */
int64_t process_start_time(pid_t pid);

/*
 * process_own_name() makes a new name for a folder that this process owns. The name is
 * "<prefix>-<number>-<pid>-<start time>", on the heap. It tells other processes if the owner has
 * ended. process_claim() locks the folder (flock(2)) until the returned descriptor is closed. It
 * returns -errno on failure.
 */
char *process_own_name(const char *prefix);
int process_claim(const char *folder);

/* True if a folder's name is from process_own_name(), its owner has ended, and no process holds
 * process_claim(). The pid alone is not enough: the owner may live in another pid or time
 * namespace. The flock alone is not enough: the owner may be about to claim. */
bool process_folder_is_stale(const char *folder);

#endif
