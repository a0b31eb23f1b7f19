/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "base/scope.h"
#include "guest/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Removes folders of ended episodes. Only the nursery can remove them, because their files belong
 * to ids of its user namespace. A child process does the work, so that the nursery can go on. A
 * process of the episode that is still ending can keep a folder from becoming empty. Then another
 * child process tries again.
 */

#define PATHS_MAX 256
#define REMOVALS_TRIES_MAX 50

struct removals {
	char *paths[PATHS_MAX];
	unsigned tries[PATHS_MAX];
	size_t n, in_worker;
	pid_t worker;
};

struct removals *removals_new(void)
{
	return xcalloc(1, sizeof(struct removals));
}

void removals_add(struct removals *r, const char *path)
{
	/* The list is full. The folder stays until the next owner starts and removes it. */
	if (r->n == PATHS_MAX)
		return;
	r->tries[r->n] = 0;
	r->paths[r->n++] = xstrdup(path);
}

static DIR *removals_open(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Returns the name of the next entry of a folder, without "." and ".."; NULL after the last. */
static const char *removals_next(DIR *dir)
{
	const struct dirent *e = readdir(dir);

	while (e && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0))
		e = readdir(dir);
	return e ? e->d_name : NULL;
}

/*
 * Removes the folder `name` in `top`. An agent may nest folders as deep as it likes, so this
 * function does not recurse. It moves nested folders that are not empty up into `top`, under new
 * names, until each is empty.
 */
static void removals_flatten(int top, const char *name, unsigned *serial)
{
	DIR *dir = removals_open(top, name);
	const char *entry;

	while (dir && (entry = removals_next(dir))) {
		char moved[32];

		if (unlinkat(dirfd(dir), entry, 0) == 0 ||
				unlinkat(dirfd(dir), entry, AT_REMOVEDIR) == 0)
			continue;
		snprintf(moved, sizeof(moved), ".gone-%u", (*serial)++);
		renameat(dirfd(dir), entry, top, moved);
	}
	if (dir)
		closedir(dir);
	unlinkat(top, name, AT_REMOVEDIR);
}

int removals_remove(const char *path)
{
	auto_close int top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	unsigned serial = 0, before;
	const char *entry;
	bool any;

	if (top < 0)
		return errno == ENOENT ? 0 : -errno;
	do { /* repeat until a pass moves no folder up: all that can be removed is then removed */
		DIR *dir = removals_open(top, ".");

		any = false;
		before = serial;
		while (dir && (entry = removals_next(dir))) {
			any = true;
			if (unlinkat(top, entry, 0) < 0)
				removals_flatten(top, entry, &serial);
		}
		if (dir)
			closedir(dir);
	} while (any && serial != before);
	return rmdir(path) < 0 ? -errno : 0;
}

_Noreturn static void removals_work(const struct removals *r, const struct trees *trees)
{
	int status = 0;

	if (tree_enter(trees->host, NULL) < 0)
		_exit(1);
	/*
	 * Close this child's copies of the nursery's sockets. As long as they are open, the owner
	 * can't see that the nursery has ended.
	 */
	close_range(3, ~0U, 0);
	for (size_t i = 0; i < r->n; i++)
		if (removals_remove(r->paths[i]) < 0)
			status = 1;
	_exit(status);
}

int removals_turn(struct removals *r, const struct trees *trees)
{
	pid_t pid;

	if (!r->n || r->worker)
		return 0;
	r->in_worker = r->n;
	pid = guest_clone(0);
	if (pid == 0)
		removals_work(r, trees);
	if (pid < 0)
		return 0;
	r->worker = pid;
	return 1;
}

void removals_reaped(struct removals *r, pid_t pid, int status)
{
	size_t kept = 0;

	if (pid != r->worker)
		return;
	r->worker = 0;
	for (size_t i = 0; i < r->n; i++) {
		bool tried = i < r->in_worker;

		if (tried && (status == 0 || ++r->tries[i] > REMOVALS_TRIES_MAX)) {
			free(r->paths[i]);
			continue;
		}
		r->tries[kept] = r->tries[i];
		r->paths[kept++] = r->paths[i];
	}
	r->n = kept;
}

bool removals_left(const struct removals *r)
{
	return r->n > 0;
}

void removals_forget(struct removals *r)
{
	for (size_t i = 0; i < r->n; i++)
		explicit_bzero(r->paths[i], strlen(r->paths[i]));
}
