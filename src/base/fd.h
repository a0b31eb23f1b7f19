/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FD_H
#define BASE_FD_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Whole reads and writes, which repeat after EINTR and short counts, and messages over unix
 * sockets. Functions without `err` return -errno and are safe after fork.
 */

/* Bytes read, fewer than n only at the end of the file. */
ssize_t fd_read_full(int fd, void *data, size_t n);
int fd_write_full(int fd, const void *data, size_t n);

/* Reads to the end, or to the cap of `out`, which then is `truncated`. */
int fd_read_all(int fd, struct buf *out);

/* Copies the rest of the file `from` by sendfile(2). */
int fd_copy(int from, int to);

/* Copies the file `from` into the empty file `to`, with its holes. -EFBIG if it is longer than
 * `most`. The offsets of both are undefined after it. */
int fd_copy_sparse(int from, int to, int64_t most);

/* Makes a pipe. Only the reading end is O_NONBLOCK. `flags`: O_DIRECT for messages. */
int fd_pipe(int *out_read, int *out_write, int flags);

#define FD_MESSAGE_FDS_MAX 64

/* Sends a message with up to FD_MESSAGE_FDS_MAX descriptors, which the caller keeps. Only the type
 * of sendmsg(2) wants `data` not const. */
int fd_send_message(int sock, void *data, size_t n, const int *fds, size_t n_fds, int flags);

/*
 * Receives a message, and returns its length. 0: the peer has closed; -EMSGSIZE: it did not fit. At
 * most max_fds descriptors are kept, close-on-exec; others are closed.
 */
ssize_t fd_recv_message(int sock, void *data, size_t n, int *fds, size_t max_fds, size_t *out_n_fds,
		int flags);

/* Opens a regular file to read. Refuses FIFOs and devices (-EINVAL), which might never end. */
int fd_open_file(const char *path, struct fh_error *err);

/* Opens so, and reads the whole file. -EFBIG if it is larger than the cap of `out`. */
int fd_read_file(const char *path, struct buf *out, struct fh_error *err);

/* The same for files in untrusted folders. A symbolic link is refused (-ELOOP): it could name any
 * file of the user. Folders in the path may be links. */
int fd_open_plain(const char *path, struct fh_error *err);
int fd_read_plain(const char *path, struct buf *out, struct fh_error *err);

/* Replaces the file at path, all or nothing, and keeps the mode of an existing file. Kills leave no
 * other file if path is new and the file system has O_TMPFILE. */
int fd_write_file(const char *path, const void *data, size_t n, mode_t mode, struct fh_error *err);

#endif
