/* SPDX-License-Identifier: Apache-2.0 */
#include "editor.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "linter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The linter is a process of the agent in the sandbox, which runs linter.py. It starts when a
 * Python file is opened, or with the first edit, and serves later edits. The socket listens before
 * the linter runs, so that opening a file does not wait. Without flake8, or without an answer,
 * edits are not checked.
 *
 * A request renames the socket, and renames it back after the answer. So if a linter hangs, the
 * next edit finds no socket and starts another linter.
 */

#define SOCKET EDITOR_FOLDER "/linter"
#define ASKED EDITOR_FOLDER "/linter.asked"
#define LINT_PROGRAM EDITOR_FOLDER "/linter.py"
#define PYTHON "/usr/bin/python3"
#define FLAKE8 "/usr/lib/python3/dist-packages/flake8"
#define SOCKET_FD 3 /* descriptor of the listening socket in the linter */
#define WAITING_MAX 16
/* Time limit for a request to the linter. A text may take 5 s of CPU time. A start takes 100 ms, or
 * more if many agents start at once. */
#define TIMEOUT_NS (15 * NS_PER_S)
/* Time limit for the linter's start. It is shorter than the timeout of an episode's reset
 * script. */
#define READY_NS (5 * NS_PER_S)

static struct sockaddr_un lint_address(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return address;
}

static int lint_connect(const char *path, int64_t end_ns)
{
	int ms = clock_ms_left(end_ns) + 1; /* at least 1 ms: 0 would mean no timeout */
	struct timeval limit = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000L };
	struct sockaddr_un address = lint_address(path);
	auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* Limit the time of connect(), which blocks while the queue of the listening socket is
	 * full. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0 ||
			connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return take_fd(&fd);
}

/* Turns this process into the linter. Leaves the step's session and job, and closes all descriptors
 * of the step. */
static _Noreturn void lint_become_linter(int server, const char *inode)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	server = fcntl(server, F_DUPFD, SOCKET_FD + 1);
	if (null < 0 || server < 0 || fork() != 0)
		_exit(0);
	for (int fd = 0; fd < SOCKET_FD; fd++)
		dup2(null, fd);
	if (dup2(server, SOCKET_FD) == SOCKET_FD && close_range(SOCKET_FD + 1, ~0U, 0) == 0 &&
			chdir("/") == 0 &&
			fd_write_file(LINT_PROGRAM, linter_program, sizeof(linter_program) - 1,
					0600, NULL) == 0)
		execl(PYTHON, "python3", "-I", LINT_PROGRAM, SOCKET, inode, (char *)NULL);
	_exit(1);
}

/* Makes a listening socket. The socket listens before it appears at its path, so that each
 * connect() succeeds or fails at once. */
static int lint_listen(int *out_fd, ino_t *out_inode)
{
	auto_free char *new = xasprintf(SOCKET ".%d", getpid());
	struct sockaddr_un address = lint_address(new);
	auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	mkdir(EDITOR_FOLDER, 0700);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	if (listen(fd, WAITING_MAX) < 0 || lstat(new, &st) < 0 || rename(new, SOCKET) < 0) {
		int error = errno;

		unlink(new);
		return -error;
	}
	*out_inode = st.st_ino;
	*out_fd = take_fd(&fd);
	return 0;
}

static int lint_start(void)
{
	auto_close int server = -1;
	char inode[24];
	ino_t number = 0;
	pid_t pid;
	int r = lint_listen(&server, &number);

	if (r < 0)
		return r;
	snprintf(inode, sizeof(inode), "%llu", (unsigned long long)number);
	pid = fork();
	if (pid == 0)
		lint_become_linter(server, inode);
	return pid < 0 || waitpid(pid, NULL, 0) != pid ? -errno : 0;
}

void lint_prepare(const char *path)
{
	if (str_ends(path, ".py") && access(FLAKE8, F_OK) == 0 && access(SOCKET, F_OK) < 0 &&
			access(ASKED, F_OK) < 0)
		lint_start();
}

/* --- asking ----------------------------------------------------------------------------------- */

/* Waits for a socket. 0: it may be ready. Checks the time first, so that a slow peer can't extend
 * the timeout. */
static int lint_wait(int fd, short events, int64_t end_ns)
{
	struct pollfd p = { .fd = fd, .events = events };
	int left = clock_ms_left(end_ns);

	return left > 0 && poll(&p, 1, left) != 0 ? 0 : -ETIMEDOUT;
}

static bool lint_is_passing(int error)
{
	return error == EAGAIN || error == EINTR;
}

static int lint_send_all(int fd, const void *data, size_t n, int64_t end_ns)
{
	size_t done = 0;

	while (done < n) {
		int r = lint_wait(fd, POLLOUT, end_ns);
		ssize_t sent;

		if (r < 0)
			return r;
		sent = send(fd, (const char *)data + done, n - done, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && !lint_is_passing(errno))
			return -errno;
		done += sent > 0 ? (size_t)sent : 0;
	}
	return 0;
}

/* Reads the next part of the linter's answer into `rest`. */
static int lint_receive_part(int fd, struct buf *rest, int64_t end_ns)
{
	int r = lint_wait(fd, POLLIN, end_ns);
	char part[4096];
	ssize_t n;

	if (r < 0)
		return r;
	n = recv(fd, part, sizeof(part), MSG_DONTWAIT);
	if (n == 0)
		return -ECONNRESET;
	if (n < 0)
		return lint_is_passing(errno) ? 0 : -errno;
	buf_add(rest, part, (size_t)n);
	return rest->truncated ? -EFBIG : 0;
}

/* Reads one list of errors, which an empty line ends. */
static int lint_receive(int fd, struct buf *out, struct buf *rest, int64_t end_ns)
{
	for (;;) {
		const char *text = buf_str(rest);
		const char *end = *text == '\n' ? text : strstr(text, "\n\n");
		int r;

		if (end) {
			size_t length = (size_t)(end - text) + (*text != '\n');

			buf_add(out, text, length);
			buf_consume(rest, length + 1);
			return 0;
		}
		r = lint_receive_part(fd, rest, end_ns);
		if (r < 0)
			return r;
	}
}

static int lint_ask_about(
		int fd, const struct buf *text, struct buf *out, struct buf *rest, int64_t end_ns)
{
	uint32_t n = htonl((uint32_t)text->len);
	int r = lint_send_all(fd, &n, sizeof(n), end_ns);

	if (r < 0)
		return r;
	r = lint_send_all(fd, buf_str(text), text->len, end_ns);
	buf_clear(out);
	return r < 0 ? r : lint_receive(fd, out, rest, end_ns);
}

static int lint_ask_about_both(const struct buf *before, const struct buf *after,
		struct buf *out_before, struct buf *out_after, int64_t end_ns)
{
	auto_buf struct buf rest = BUF_INIT(EDITOR_FILE_BYTES_MAX);
	auto_close int fd = lint_connect(ASKED, end_ns);
	int r;

	if (fd < 0)
		return fd;
	r = lint_ask_about(fd, before, out_before, &rest, end_ns);
	if (r < 0)
		return r;
	return lint_ask_about(fd, after, out_after, &rest, end_ns);
}

/* Asks a linter about two texts. Removes the socket of a linter that gives no answer. */
static int lint_ask(const struct buf *before, const struct buf *after, struct buf *out_before,
		struct buf *out_after, int64_t end_ns)
{
	int r;

	if (rename(SOCKET, ASKED) < 0)
		return -errno;
	r = lint_ask_about_both(before, after, out_before, out_after, end_ns);
	if (r < 0)
		remove(ASKED);
	else
		rename(ASKED, SOCKET);
	return r;
}

static int lint_until(int64_t end_ns, const struct buf *before, const struct buf *after,
		struct buf *out_before, struct buf *out_after)
{
	int r = lint_ask(before, after, out_before, out_after, end_ns);

	if (r >= 0 || clock_ms_left(end_ns) <= 0)
		return r;
	/* The linter may have ended: it was idle, or failed at the last text. Start another. */
	r = lint_start();
	return r < 0 ? r : lint_ask(before, after, out_before, out_after, end_ns);
}

bool lint_texts(const struct buf *before, const struct buf *after, struct buf *out_before,
		struct buf *out_after)
{
	int r;

	if (access(FLAKE8, F_OK) < 0)
		return false;
	r = lint_until(clock_now_ns() + TIMEOUT_NS, before, after, out_before, out_after);
	if (r < 0)
		puts("(flake8 gave no answer: the change is not checked.)");
	return r == 0;
}

void lint_ready(void)
{
	auto_buf struct buf none = BUF_INIT(1), out = BUF_INIT(EDITOR_FILE_BYTES_MAX);

	if (access(FLAKE8, F_OK) == 0)
		lint_until(clock_now_ns() + READY_NS, &none, &none, &out, &out);
}
