/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fd.h"
#include "base/scope.h"
#include "base/str.h"
#include "guest/start.h"
#include "inside/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Packs a folder of the sandbox for another sandbox, as struct pack_entry. This process, the
 * packer, may read only files that the agent may read. But the agent can neither signal nor trace
 * it: see confine_become().
 *
 * Meanwhile the agent may move, link and swap all files. So nothing is opened through a link, or on
 * another mount. Files that can't be read are left out. If a file shrinks while it is read, the
 * packer writes zeros for the missing bytes.
 */
/* deepest nesting of folders that is packed: each open folder takes a descriptor */
#define FOLDERS_DEEP_MAX 256
#define PACK_CHUNK_BYTES 65536

struct pack {
	int out;
	char path[GUEST_PATH_MAX];
	char chunk[PACK_CHUNK_BYTES];
};

static int pack_open(int folder, const char *name, uint64_t flags)
{
	struct open_how how = { .flags = flags | O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV };

	return (int)syscall(SYS_openat2, folder, name, &how, sizeof(how));
}

/* Writes to the pipe that leads to the other sandbox. Ends this process if nobody reads the pipe
 * any more. */
static void pack_put(const struct pack *p, const void *data, size_t n)
{
	if (fd_write_full(p->out, data, n) < 0)
		_exit(1);
}

static void pack_put_entry(const struct pack *p, enum pack_kind kind, mode_t mode, uint64_t bytes)
{
	const struct pack_entry entry = { kind, mode & 0777, strlen(p->path), bytes };

	pack_put(p, &entry, sizeof(entry));
	pack_put(p, p->path, entry.path_bytes);
}

static void pack_file(struct pack *p, int folder, const char *name)
{
	auto_close int fd = pack_open(folder, name, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	pack_put_entry(p, PACK_FILE, st.st_mode, (uint64_t)st.st_size);
	for (uint64_t left = (uint64_t)st.st_size; left > 0;) {
		size_t wanted = left < PACK_CHUNK_BYTES ? (size_t)left : PACK_CHUNK_BYTES;
		ssize_t n = read(fd, p->chunk, wanted);

		if (n <= 0) {
			memset(p->chunk, 0, wanted);
			n = (ssize_t)wanted;
		}
		pack_put(p, p->chunk, (size_t)n);
		left -= (uint64_t)n;
	}
}

static void pack_link(struct pack *p, int folder, const char *name)
{
	ssize_t n = readlinkat(folder, name, p->chunk, GUEST_PATH_MAX);

	if (n <= 0 || n >= GUEST_PATH_MAX)
		return;
	pack_put_entry(p, PACK_LINK, 0777, (uint64_t)n);
	pack_put(p, p->chunk, (size_t)n);
}

static void pack_content(struct pack *p, DIR *folder, const char *const *left_out, unsigned deep);

static void pack_folder(struct pack *p, int above, const char *name, unsigned deep)
{
	static const char *const nothing[] = { NULL };
	int fd = deep < FOLDERS_DEEP_MAX ? pack_open(above, name, O_DIRECTORY) : -1;
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	struct stat st;

	if (!folder) {
		close_fd(&fd);
		return;
	}
	if (fstat(fd, &st) == 0) {
		pack_put_entry(p, PACK_FOLDER, st.st_mode, 0);
		pack_content(p, folder, nothing, deep);
	}
	closedir(folder);
}

static void pack_content(struct pack *p, DIR *folder, const char *const *left_out, unsigned deep)
{
	static const char *const self[] = { ".", "..", NULL };
	size_t n = strlen(p->path);
	const struct dirent *found;
	struct stat st;

	while ((found = readdir(folder))) {
		const char *name = found->d_name;

		if (str_index(name, self) >= 0 || str_index(name, left_out) >= 0 ||
				n + strlen(name) + 2 > sizeof(p->path) ||
				fstatat(dirfd(folder), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		snprintf(p->path + n, sizeof(p->path) - n, "%s%s", n ? "/" : "", name);
		if (S_ISREG(st.st_mode))
			pack_file(p, dirfd(folder), name);
		else if (S_ISLNK(st.st_mode))
			pack_link(p, dirfd(folder), name);
		else if (S_ISDIR(st.st_mode))
			pack_folder(p, dirfd(folder), name, deep + 1);
		p->path[n] = '\0';
	}
}

int pack_write(const char *path, const char *const *left_out, int out)
{
	static struct pack p;
	const struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;

	if (!folder) {
		int error = errno;

		close_fd(&fd);
		return -error;
	}
	p.out = out;
	pack_content(&p, folder, left_out, 0);
	closedir(folder);
	pack_put_entry(&p, PACK_END, 0, 0);
	return 0;
}
