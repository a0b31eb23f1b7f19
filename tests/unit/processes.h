/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROCESSES_H
#define PROCESSES_H

#include "base/fd.h"
#include "base/str.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* For tests that look at processes of this machine, those of sandboxes among them. */
#define PROCESSES_MAX 4096

struct processes {
	pid_t list[PROCESSES_MAX];
	size_t n;
};

/* Its parent, and its name if `name` has room for it; -1 if it is gone, or a zombie. */
static inline pid_t process_parent(pid_t pid, char *name, size_t size)
{
	struct buf text = BUF_INIT(4096);
	const char *open, *close;
	char path[64], state = 'Z';
	int parent = -1;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (fd_read_file(path, &text, NULL) == 0) {
		open = strchr(buf_str(&text), '(');
		close = strrchr(buf_str(&text), ')');
		if (open && close && sscanf(close + 1, " %c %d", &state, &parent) != 2)
			parent = -1;
		if (open && close && name)
			snprintf(name, size, "%.*s", (int)(close - open - 1), open + 1);
	}
	buf_release(&text);
	return state == 'Z' ? -1 : parent;
}

static inline bool process_has(const struct processes *p, pid_t pid)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i] == pid)
			return true;
	return false;
}

/* All that descend from `root`, without it, parents first. */
static inline void process_descendants(pid_t root, struct processes *out)
{
	size_t before;

	out->list[0] = root;
	out->n = 1;
	do {
		DIR *proc = opendir("/proc");
		const struct dirent *e;

		before = out->n;
		while (proc && (e = readdir(proc))) {
			pid_t pid = isdigit((unsigned char)e->d_name[0])
					? (pid_t)strtol(e->d_name, NULL, 10)
					: 0;

			if (pid && out->n < PROCESSES_MAX && !process_has(out, pid) &&
					process_has(out, process_parent(pid, NULL, 0)))
				out->list[out->n++] = pid;
		}
		if (proc)
			closedir(proc);
	} while (out->n != before);
	out->n--;
	memmove(out->list, out->list + 1, out->n * sizeof(out->list[0]));
}

/* The first of them with this name; 0 if there is none. */
static inline pid_t process_named(const struct processes *p, const char *name)
{
	char own[64];

	for (size_t i = 0; i < p->n; i++)
		if (process_parent(p->list[i], own, sizeof(own)) > 0 && str_eq(own, name))
			return p->list[i];
	return 0;
}

#endif
