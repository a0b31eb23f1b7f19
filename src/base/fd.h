/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FD_H
#define BASE_FD_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Reads and writes of whole buffers and files, and messages over unix sockets. Calls repeat after
 * EINTR and short counts. Functions without `err` return -errno. All of these but fd_read_all(),
 * which allocates, are safe after fork.
 */

/* Reads n bytes. Returns how many were read: fewer than n only at the end of the file. */
ssize_t fd_read_full(int fd, void *data, size_t n);
int fd_write_full(int fd, const void *data, size_t n);

/* Reads to the end of the file. Stops and sets out->truncated at the cap of `out`. */
int fd_read_all(int fd, struct buf *out);

/* Copies the file `from`, from its offset to its end, into `to` by sendfile(2). */
int fd_copy(int from, int to);

/* Copies the file `from` into the empty file `to` and keeps holes. -EFBIG if `from` is longer than
 * `most` bytes. Leaves the offsets of both files undefined. Others may copy from the same open file
 * meanwhile. */
int fd_copy_sparse(int from, int to, int64_t most);

/* Makes a pipe. Only the reading end is O_NONBLOCK. */
int fd_pipe(int *out_read, int *out_write);

#define FD_MESSAGE_FDS_MAX 64

/* Sends a message with up to FD_MESSAGE_FDS_MAX descriptors, which stay open here. `data` is not
 * const only because sendmsg(2) has no const. */
int fd_send_message(int sock, void *data, size_t n, const int *fds, size_t n_fds, int flags);

/*
 * Receives a message, and returns its length. 0: the peer has closed. -EMSGSIZE: the message did
 * not fit into n bytes. Keeps at most max_fds of its descriptors, close-on-exec, and closes the
 * others.
 */
ssize_t fd_recv_message(int sock, void *data, size_t n, int *fds, size_t max_fds, size_t *out_n_fds,
		int flags);

/* Opens a regular file for reading. Refuses FIFOs and devices (-EINVAL), because reading them might
 * never end. */
int fd_open_file(const char *path, struct fh_error *err);

/* Reads a whole regular file into `out`. -EFBIG if the file is larger than the cap of `out`. */
int fd_read_file(const char *path, struct buf *out, struct fh_error *err);

/* Like fd_open_file() and fd_read_file(), but for files in untrusted folders. Refuses a symbolic
 * link (-ELOOP), which could name any file of the user. Folders in the path may be links. */
int fd_open_plain(const char *path, struct fh_error *err);
int fd_read_plain(const char *path, struct buf *out, struct fh_error *err);

/* Replaces the file at `path`, all or nothing, and keeps the mode of an existing file. If this
 * process is killed, a temporary file may stay beside an existing file. For a new path none stays
 * if the file system has O_TMPFILE. */
int fd_write_file(const char *path, const void *data, size_t n, mode_t mode, struct fh_error *err);

/*
 * A file that is written piece by piece, and appears at its path when it is complete. Write to
 * `fd`, then end it. Closing drops a file that was not ended. A struct of zeros may be closed.
 */
struct fd_whole {
	char *path, *beside; /* `beside` is a temporary name; NULL: the file has none */
	mode_t mode;
	bool in_place; /* a pipe or device, which is written at once */
	int fd;
};

int fd_whole_open(const char *path, mode_t mode, struct fd_whole *out, struct fh_error *err);
/* For a path that a user named: a pipe or device there is written, not replaced. */
int fd_whole_open_out(const char *path, mode_t mode, struct fd_whole *out, struct fh_error *err);
int fd_whole_end(struct fd_whole *w, struct fh_error *err);
void fd_whole_close(struct fd_whole *w);
#define auto_whole __attribute__((cleanup(fd_whole_close)))

/* Writes a whole file to a path that a user named. A pipe or a device is written to. Another file
 * is replaced, as by fd_write_file(). */
int fd_write_out(const char *path, const void *data, size_t n, mode_t mode, struct fh_error *err);

#endif
