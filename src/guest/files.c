/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "guest/files.h"

#include "base/fd.h"
#include "base/path.h"
#include "base/scope.h"
#include "proto/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Copies files in and out of a sandbox. The porter does so while the agent may move, link and swap
 * all that it can write. So every path is opened by openat2(), which follows no link of any kind
 * and does not leave the folder. Opening a FIFO never blocks. Checks use the opened descriptor,
 * never the path again. The owner gets no descriptor of an agent's file, but a copy in memory that
 * nobody can change.
 */

#define FILES_TRIES_MAX 64
#define HASH_BLOCK 65536

static int files_open_beneath(int folder, const char *path, uint64_t flags, mode_t mode)
{
	struct open_how how = { .flags = flags | O_CLOEXEC,
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	long fd;

	/* Add O_NOCTTY and O_NONBLOCK only without O_PATH: openat2() refuses them together. */
	if (!(flags & O_PATH))
		how.flags |= O_NOCTTY | O_NONBLOCK;
	/*
	 * Try again on EAGAIN. A folder of the path was moved during the walk, or the agent holds a
	 * lease on the file.
	 */
	for (int i = 0; i < FILES_TRIES_MAX; i++) {
		fd = syscall(SYS_openat2, folder, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd < 0 ? -errno : (int)fd;
}

/* Opens a folder whose path the owner chose. Refuses a path with a symbolic link in it. */
static int files_open_folder(const char *folder)
{
	auto_close int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	while (*folder == '/')
		folder++;
	return files_open_beneath(root, *folder ? folder : ".", O_PATH | O_DIRECTORY, 0);
}

static int files_say(struct fh_error *err, int error, const char *path)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return error_say(err, ENOENT, "'%s' does not exist", path);
	case ELOOP:
		return error_say(err, ELOOP, "'%s' is, or lies behind, a symbolic link", path);
	case EAGAIN:
		return error_say(err, EAGAIN,
				"'%s' can't be read: it is being moved, or leased by a process",
				path);
	case ENXIO: /* the path is a special file that can't be opened */
		return error_say(err, EINVAL, "'%s' is a socket or device, not a regular file",
				path);
	case EXDEV:
		return error_say(err, ELOOP, "'%s' leads out of the workspace", path);
	default:
		return error_set(err, error, "open '%s'", path);
	}
}

/* Opens a regular file to copy it. Fails if the file is larger than `most` bytes. */
static int files_open_to_copy(const char *folder, const char *path, uint64_t most, int *out_fd,
		struct fh_error *err)
{
	auto_close int dir = files_open_folder(folder);
	auto_close int fd = -1;
	struct stat st;

	if (dir < 0)
		return files_say(err, -dir, folder);
	fd = files_open_beneath(dir, path, O_RDONLY, 0);
	if (fd < 0)
		return files_say(err, -fd, path);
	if (fstat(fd, &st) < 0)
		return error_set(err, errno, "look at '%s'", path);
	if (!S_ISREG(st.st_mode))
		return error_say(err, EINVAL, "'%s' is a %s, not a regular file", path,
				S_ISDIR(st.st_mode)                    ? "folder"
						: S_ISFIFO(st.st_mode) ? "named pipe"
								       : "device");
	if ((uint64_t)st.st_size > most)
		return error_say(err, EFBIG,
				"'%s' has %lld bytes, more than the %llu that are allowed", path,
				(long long)st.st_size, (unsigned long long)most);
	*out_fd = take_fd(&fd);
	return 0;
}

/*
 * Returns the offset of the next block of a sparse file with data, from `at` on. If only holes
 * follow, returns the file's size.
 */
static off_t files_next_data(int fd, off_t at, off_t size)
{
	off_t data = lseek(fd, at, SEEK_DATA);

	return data < 0 ? size : data - data % HASH_BLOCK;
}

/*
 * Computes the SHA-256 of a file, but skips blocks that are all zero. Before a block that follows
 * skipped ones, its offset is hashed. So a file without zero blocks has its usual hash, and a large
 * hole takes no time.
 */
static int files_hash(int fd, uint8_t digest[SHA256_BYTES])
{
	char block[HASH_BLOCK];
	off_t size = lseek(fd, 0, SEEK_END), expected = 0;
	struct sha256 h;

	sha256_init(&h);
	for (off_t at = files_next_data(fd, 0, size); at < size;
			at = files_next_data(fd, at, size)) {
		ssize_t n = pread(fd, block, sizeof(block), at);

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		/* Hash the block unless it is all zero. */
		if (block[0] || memcmp(block, block + 1, (size_t)n - 1) != 0) {
			if (at != expected)
				sha256_add(&h, &at, sizeof(at));
			sha256_add(&h, block, (size_t)n);
			expected = at + n;
		}
		at += HASH_BLOCK;
	}
	if (expected != size)
		sha256_add(&h, &size, sizeof(size));
	sha256_end(&h, digest);
	return 0;
}

int files_get(const char *folder, const char *path, uint64_t most, int *out_fd,
		uint8_t out_digest[SHA256_BYTES], struct fh_error *err)
{
	auto_close int from = -1;
	auto_close int copy = memfd_create("file", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r = files_open_to_copy(folder, path, most, &from, err);

	if (r < 0)
		return r;
	if (copy < 0)
		return error_set(err, errno, "make a memory file");
	r = fd_copy_sparse(from, copy, (int64_t)most);
	if (r == -EFBIG)
		return error_say(err, EFBIG, "'%s' grew over %llu bytes while it was read", path,
				(unsigned long long)most);
	if (r < 0)
		return error_set(err, -r, "copy '%s'", path);
	r = files_hash(copy, out_digest);
	if (r < 0)
		return error_set(err, -r, "read the copy of '%s'", path);
	if (fcntl(copy, F_ADD_SEALS, GUEST_SEALS) < 0 || lseek(copy, 0, SEEK_SET) < 0)
		return error_set(err, errno, "seal the copy of '%s'", path);
	*out_fd = take_fd(&copy);
	return 0;
}

int files_make_folders(int top, const char *path, id_t owner)
{
	auto_close int at = fcntl(top, F_DUPFD_CLOEXEC, 3);
	const char *slash;

	while ((slash = strchr(path, '/'))) {
		char name[NAME_MAX + 1];
		size_t n = (size_t)(slash - path);
		int next;

		if (n == 0 || n > NAME_MAX)
			return -EINVAL;
		memcpy(name, path, n);
		name[n] = '\0';
		if (mkdirat(at, name, 0755) == 0) {
			if (fchownat(at, name, owner, owner, AT_SYMLINK_NOFOLLOW) < 0)
				return -errno;
		} else if (errno != EEXIST) {
			return -errno;
		}
		next = files_open_beneath(at, name, O_PATH | O_DIRECTORY, 0);
		if (next < 0)
			return next;
		close(at);
		at = next;
		path = slash + 1;
	}
	return take_fd(&at);
}

/* Says why a file can't be put there. */
static int files_say_put(struct fh_error *err, int error, const char *path)
{
	switch (error) {
	case ENXIO:
		return error_say(err, ENXIO, "'%s' is a pipe, socket or device, not a regular file",
				path);
	case EXDEV:
		return error_say(err, EXDEV, "'%s' leads out of its folder", path);
	case ELOOP:
		return files_say(err, error, path);
	default:
		return error_set(err, error, "create '%s'", path);
	}
}

/* Refuses a path that can't be a new file's, before any of its folders is made. */
static int files_check_new(const char *path)
{
	for (;;) {
		size_t n = strcspn(path, "/");

		if (n == 0)
			return *path ? -EINVAL : -ENOENT;
		if (n > NAME_MAX)
			return -ENAMETOOLONG;
		if (n == 2 && path[0] == '.' && path[1] == '.')
			return -EXDEV;
		if (!path[n])
			return 0;
		path += n + 1;
	}
}

/*
 * Opens an empty file for writing. `dir` is the folder of its path. If a file with content has this
 * name, replaces it by a new file. Truncating it could take long, since an agent may have mapped it
 * a million times.
 */
static int files_open_empty(int dir, const char *path, mode_t mode, struct fh_error *err)
{
	const char *name = path_basename(path);

	for (int i = 0; i < FILES_TRIES_MAX; i++) {
		auto_close int fd = files_open_beneath(dir, name, O_WRONLY | O_CREAT, mode);
		struct stat st;

		if (fd < 0)
			return files_say_put(err, -fd, path);
		if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
			return error_say(err, EINVAL, "'%s' is not a regular file", path);
		if (st.st_size == 0)
			return take_fd(&fd);
		if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
			return error_set(err, errno, "replace '%s'", path);
	}
	return error_say(err, EAGAIN, "'%s' can't be written: another process fills it each time",
			path);
}

int files_put(const char *folder, const char *path, mode_t mode, int from, struct fh_error *err)
{
	auto_close int top = files_open_folder(folder);
	auto_close int dir = -1;
	auto_close int fd = -1;
	int r;

	if (top < 0)
		return files_say(err, -top, folder);
	r = files_check_new(path);
	if (r < 0)
		return files_say_put(err, -r, path);
	dir = files_make_folders(top, path, GUEST_AGENT_ID);
	if (dir < 0)
		return files_say_put(err, -dir, path);
	fd = files_open_empty(dir, path, mode & 0777, err);
	if (fd < 0)
		return fd;
	if (fchown(fd, GUEST_AGENT_ID, GUEST_AGENT_ID) < 0 || fchmod(fd, mode & 0777) < 0)
		return error_set(err, errno, "prepare '%s'", path);
	r = fd_copy_sparse(from, fd, INT64_MAX);
	return r < 0 ? error_set(err, -r, "write '%s'", path) : 0;
}
