/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/event_log.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "trajectory/flusher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct event_log {
	struct flushed_file file;
	char *path;
	off_t end; /* offset in the file of the end of the last complete event */
	int error; /* errno of a write that failed; 0: none failed */
};

/*
 * Starts an event log. On success the log owns the descriptor. flock() keeps other processes from
 * resuming the run. The lock of fcntl() tells readers that the log is open: event_log_is_open()
 * looks for it without taking it. A file system may have no locks.
 */
static int event_log_start(
		int fd, const char *path, off_t end, struct event_log **out, struct fh_error *err)
{
	struct event_log *log;
	int r;

	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return error_say(err, EBUSY, "'%s' is being written by another process", path);
	fcntl(fd, F_OFD_SETLK, &(struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET });
	log = xcalloc(1, sizeof(*log));
	log->file.fd = fd;
	log->end = end;
	r = flusher_add(&log->file, err);
	if (r < 0) {
		free(log);
		return r;
	}
	log->path = xstrdup(path);
	*out = log;
	return 0;
}

int event_log_open(const char *path, struct event_log **out, struct fh_error *err)
{
	auto_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
	int r;

	if (fd < 0)
		return error_set(err, errno, "create '%s'", path);
	r = event_log_start(fd, path, 0, out, err);
	if (r < 0)
		return r;
	take_fd(&fd);
	return 0;
}

/* Returns the offset in the log file at which the last complete line ends. */
static off_t event_log_whole_end(int fd)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char chunk[4096];

	while (end > 0) {
		size_t n = end < (off_t)sizeof(chunk) ? (size_t)end : sizeof(chunk);
		const char *newline;

		if (pread(fd, chunk, n, end - (off_t)n) != (ssize_t)n)
			return -1;
		newline = memrchr(chunk, '\n', n);
		end -= (off_t)n;
		if (newline)
			return end + (newline - chunk) + 1;
	}
	return end;
}

int event_log_resume(const char *path, struct event_log **out, struct fh_error *err)
{
	auto_close int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	struct event_log *log;
	off_t end;
	int r;

	if (fd < 0)
		return error_set(err, errno, "open '%s'", path);
	r = event_log_start(fd, path, 0, &log, err);
	if (r < 0)
		return r;
	take_fd(&fd);
	end = event_log_whole_end(log->file.fd);
	if (end < 0 || ftruncate(log->file.fd, end) < 0) {
		r = error_set(err, errno, "continue '%s'", path);
		event_log_close(log);
		return r;
	}
	log->end = end;
	*out = log;
	return 0;
}

static int event_log_fail(struct event_log *log, int error, struct fh_error *err)
{
	/* Cut off a part of an event that a failed write left at the file's end. If ftruncate()
	 * fails too, readers skip the part. */
	if (!log->error && ftruncate(log->file.fd, log->end) < 0)
		lseek(log->file.fd, 0, SEEK_END);
	log->error = error;
	return error_set(err, error, "write '%s'", log->path);
}

int event_log_add(struct event_log *log, const struct buf *lines, struct fh_error *err)
{
	int r;

	if (log->error)
		return event_log_fail(log, log->error, err);
	if (lines->truncated)
		return error_say(err, EFBIG, "an event for '%s' is larger than %zu bytes",
				log->path, lines->cap);
	r = fd_write_full(log->file.fd, buf_str(lines), lines->len);
	if (r < 0)
		return event_log_fail(log, -r, err);
	log->end += (off_t)lines->len;
	r = flusher_mark(&log->file);
	if (r)
		return event_log_fail(log, r, err);
	return 0;
}

int event_log_sync(struct event_log *log, struct fh_error *err)
{
	if (log->error)
		return event_log_fail(log, log->error, err);
	/* Ignore errors of fdatasync() on files that can't be synced: EINVAL for pipes and
	 * /dev/null, and EROFS. */
	if (fdatasync(log->file.fd) < 0 && errno != EINVAL && errno != EROFS)
		return event_log_fail(log, errno, err);
	return 0;
}

bool event_log_is_open(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void event_log_close(struct event_log *log)
{
	if (!log)
		return;
	flusher_remove(&log->file);
	close(log->file.fd);
	free(log->path);
	free(log);
}
