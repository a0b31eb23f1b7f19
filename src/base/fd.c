/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t fd_read_full(int fd, void *data, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = read(fd, (char *)data + done, n - done);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		done += (size_t)r;
	}
	return (ssize_t)done;
}

int fd_write_full(int fd, const void *data, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = write(fd, (const char *)data + done, n - done);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		done += (size_t)r;
	}
	return 0;
}

int fd_pipe(int *out_read, int *out_write)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
		int error = errno;

		close(ends[0]);
		close(ends[1]);
		return -error;
	}
	*out_read = ends[0];
	*out_write = ends[1];
	return 0;
}

int fd_read_all(int fd, struct buf *out)
{
	char chunk[65536];
	ssize_t n = 0;

	while (!out->truncated && (n = fd_read_full(fd, chunk, sizeof(chunk))) > 0)
		buf_add(out, chunk, (size_t)n);
	return n < 0 ? (int)n : 0;
}

/* most bytes of one sendfile(), so that a signal does not wait long */
#define FD_COPY_BYTES (16U << 20)

int fd_copy(int from, int to)
{
	ssize_t n;

	while ((n = sendfile(to, from, NULL, FD_COPY_BYTES)) != 0)
		if (n < 0 && errno != EINTR)
			return -errno;
	return 0;
}

/* Reads at an offset of its own, because other processes may read from the same open file. */
static int fd_copy_range(int from, int to, off_t at, off_t end)
{
	char chunk[65536];

	if (lseek(to, at, SEEK_SET) < 0)
		return -errno;
	while (at < end) {
		size_t left = (size_t)(end - at);
		ssize_t n = pread(from, chunk, left < sizeof(chunk) ? left : sizeof(chunk), at);
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		r = fd_write_full(to, chunk, (size_t)n);
		if (r < 0)
			return r;
		at += n;
	}
	return 0;
}

/* Copies a file in whose file system SEEK_DATA does not work, such as /proc and /sys. */
static int fd_copy_plain(int from, int to, int64_t most)
{
	int r = fd_copy_range(from, to, 0, most);
	char more;

	if (r < 0)
		return r;
	return pread(from, &more, 1, most) > 0 ? -EFBIG : 0;
}

/* The copy loop advances at least this many bytes in each round. Otherwise it could go on forever
 * if another process changes the file. */
#define DATA_BYTES_MIN 4096

int fd_copy_sparse(int from, int to, int64_t most)
{
	off_t at = 0;
	struct stat st;

	while ((at = lseek(from, at, SEEK_DATA)) >= 0) {
		off_t end = lseek(from, at, SEEK_HOLE);
		int r;

		if (end < at + DATA_BYTES_MIN)
			end = at + DATA_BYTES_MIN;
		if (at >= most)
			return -EFBIG;
		r = fd_copy_range(from, to, at, end < most ? end : most);
		if (r < 0)
			return r;
		at = end;
	}
	if (errno == EINVAL)
		return fd_copy_plain(from, to, most);
	if (errno != ENXIO || fstat(from, &st) < 0) /* ENXIO from SEEK_DATA: the rest is a hole */
		return -errno;
	if (st.st_size > most)
		return -EFBIG;
	return ftruncate(to, st.st_size) < 0 ? -errno : 0;
}

int fd_send_message(int sock, void *data, size_t n, const int *fds, size_t n_fds, int flags)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FD_MESSAGE_FDS_MAX * sizeof(int))];
	struct iovec iov = { .iov_base = data, .iov_len = n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t r;

	if (n_fds > FD_MESSAGE_FDS_MAX)
		return -E2BIG;
	if (n_fds) {
		struct cmsghdr *c;

		memset(control, 0, sizeof(control));
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
	}
	do {
		r = sendmsg(sock, &msg, flags | MSG_NOSIGNAL);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	return (size_t)r == n ? 0 : -EIO;
}

static size_t fd_collect_fds(struct msghdr *msg, int *fds, size_t max_fds)
{
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t count;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (n < max_fds)
				fds[n++] = fd;
			else
				close(fd);
		}
	}
	return n;
}

ssize_t fd_recv_message(int sock, void *data, size_t n, int *fds, size_t max_fds, size_t *out_n_fds,
		int flags)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FD_MESSAGE_FDS_MAX * sizeof(int))];
	struct iovec iov = { .iov_base = data, .iov_len = n };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	size_t n_fds;
	ssize_t r;

	do {
		r = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	n_fds = fd_collect_fds(&msg, fds, max_fds);
	if (msg.msg_flags & MSG_TRUNC) {
		for (size_t i = 0; i < n_fds; i++)
			close(fds[i]);
		return -EMSGSIZE;
	}
	*out_n_fds = n_fds;
	return r;
}

static int fd_open_regular(const char *path, int flags, struct fh_error *err)
{
	/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
	struct stat st;

	if (fd < 0 && errno == ELOOP && (flags & O_NOFOLLOW))
		return error_say(err, ELOOP, "'%s' is a symbolic link, which is not followed here",
				path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, errno, "open '%s'", path);
	if (S_ISDIR(st.st_mode))
		return error_set(err, EISDIR, "read '%s'", path);
	if (!S_ISREG(st.st_mode))
		return error_say(err, EINVAL, "'%s' is not a regular file", path);
	return take_fd(&fd);
}

int fd_open_file(const char *path, struct fh_error *err)
{
	return fd_open_regular(path, 0, err);
}

int fd_open_plain(const char *path, struct fh_error *err)
{
	return fd_open_regular(path, O_NOFOLLOW, err);
}

static int fd_read_regular(const char *path, int flags, struct buf *out, struct fh_error *err)
{
	auto_close int fd = fd_open_regular(path, flags, err);
	int r;

	if (fd < 0)
		return fd;
	r = fd_read_all(fd, out);
	if (r < 0)
		return error_set(err, -r, "read '%s'", path);
	if (out->truncated)
		return error_say(err, EFBIG, "'%s' is larger than %zu bytes", path, out->cap);
	return 0;
}

int fd_read_file(const char *path, struct buf *out, struct fh_error *err)
{
	return fd_read_regular(path, 0, out, err);
}

int fd_read_plain(const char *path, struct buf *out, struct fh_error *err)
{
	return fd_read_regular(path, O_NOFOLLOW, out, err);
}

/* --- whole files ------------------------------------------------------------------------------ */

static int fd_give_name(int fd, const char *name)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* Gives a file a temporary name in the folder of `path`. Makes the file if *fd is -1. */
static int fd_put_beside(const char *path, mode_t mode, int *fd, char **out_name)
{
	unsigned number;
	int r;

	do {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -EIO;
		free(*out_name);
		*out_name = xasprintf("%s.%08x", path, number);
		if (*fd >= 0) {
			r = fd_give_name(*fd, *out_name);
		} else {
			*fd = open(*out_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
					mode);
			r = *fd < 0 ? -errno : 0;
		}
	} while (r == -EEXIST);
	if (r < 0)
		free(take_ptr(*out_name));
	return r;
}

int fd_whole_open(const char *path, mode_t mode, struct fd_whole *out, struct fh_error *err)
{
	auto_free char *folder = path_dirname(path);
	struct fd_whole w = { .path = xstrdup(path), .mode = mode };
	int r;

	/* A file without a name vanishes when this process is killed. Not all file systems support
	 * O_TMPFILE. */
	w.fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	r = w.fd < 0 ? fd_put_beside(path, mode, &w.fd, &w.beside) : 0;
	if (r < 0) {
		free(w.path);
		return error_set(err, -r, "create '%s'", path);
	}
	*out = w;
	return 0;
}

int fd_whole_open_out(const char *path, mode_t mode, struct fd_whole *out, struct fh_error *err)
{
	struct stat st;
	int fd;

	if (stat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return fd_whole_open(path, mode, out, err);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "open '%s'", path);
	*out = (struct fd_whole){ .path = xstrdup(path), .in_place = true, .fd = fd };
	return 0;
}

/* Moves the new file to its path. */
static int fd_whole_place(struct fd_whole *w)
{
	struct stat st;
	int r;

	if (lstat(w->path, &st) == 0 && S_ISREG(st.st_mode) && fchmod(w->fd, st.st_mode & 0777) < 0)
		return -errno;
	if (!w->beside) {
		r = fd_give_name(w->fd, w->path);
		if (r != -EEXIST)
			return r;
		r = fd_put_beside(w->path, w->mode, &w->fd, &w->beside);
		if (r < 0)
			return r;
	}
	if (rename(w->beside, w->path) < 0)
		return -errno;
	free(take_ptr(w->beside));
	return 0;
}

int fd_whole_end(struct fd_whole *w, struct fh_error *err)
{
	int r = w->in_place ? 0 : fd_whole_place(w);

	return r < 0 ? error_set(err, -r, "write '%s'", w->path) : 0;
}

void fd_whole_close(struct fd_whole *w)
{
	if (!w->path)
		return;
	if (w->beside)
		unlink(w->beside);
	close(w->fd);
	free(w->beside);
	free(w->path);
	*w = (struct fd_whole){ 0 };
}

static int fd_whole_fill(struct fd_whole *w, const void *data, size_t n, struct fh_error *err)
{
	int r = fd_write_full(w->fd, data, n);

	if (r < 0)
		return error_set(err, -r, "write '%s'", w->path);
	return fd_whole_end(w, err);
}

int fd_write_file(const char *path, const void *data, size_t n, mode_t mode, struct fh_error *err)
{
	auto_whole struct fd_whole w = { 0 };
	int r = fd_whole_open(path, mode, &w, err);

	return r < 0 ? r : fd_whole_fill(&w, data, n, err);
}

int fd_write_out(const char *path, const void *data, size_t n, mode_t mode, struct fh_error *err)
{
	auto_whole struct fd_whole w = { 0 };
	int r = fd_whole_open_out(path, mode, &w, err);

	return r < 0 ? r : fd_whole_fill(&w, data, n, err);
}
