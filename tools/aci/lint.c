/* SPDX-License-Identifier: Apache-2.0 */
#include "editor.h"

#include "base/fd.h"
#include "base/scope.h"
#include "linter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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
 * The linter is a process of the agent's sandbox, and the agent's own: started by the first edit that needs
 * it (linter.py, which is in this program), and warm for the next ones. Where there is no flake8, or no
 * answer, edits go unlinted.
 */
#define SOCKET EDITOR_FOLDER "/linter"
#define PROGRAM EDITOR_FOLDER "/linter.py"
#define PYTHON "/usr/bin/python3"
#define FLAKE8 "/usr/lib/python3/dist-packages/flake8"
#define READY_FD 3     /* of the linter: a byte goes there when it listens */
#define START_MS 15000 /* some 100 ms are enough, but for a hundred agents who begin at once */
#define ANSWER_S 20    /* the linter gives up before, after 10 s of CPU time */

static int connect_to_it(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = SOCKET };
	struct timeval limit = { .tv_sec = ANSWER_S };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
			setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0 &&
			setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0)
		return fd;
	close_fd(&fd);
	return -1;
}

/* Away from the step: nothing of it stays open, and it is nobody's job. */
static _Noreturn void become_linter(int ready)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	if (null < 0 || fork() != 0)
		_exit(0);
	for (int fd = 0; fd < READY_FD; fd++)
		dup2(null, fd);
	if (dup2(ready, READY_FD) == READY_FD && close_range(READY_FD + 1, ~0U, 0) == 0 &&
			chdir("/") == 0 &&
			fd_write_file(PROGRAM, linter_program, sizeof(linter_program) - 1, 0600,
					NULL) == 0)
		execl(PYTHON, "python3", "-I", PROGRAM, SOCKET, (char *)NULL);
	_exit(1);
}

/* True once it listens; false if it ends before, which closes its end of the pipe. */
static bool wait_for_it(int pipe)
{
	struct pollfd p = { .fd = pipe, .events = POLLIN };
	char byte;

	return poll(&p, 1, START_MS) == 1 && read(pipe, &byte, 1) == 1;
}

static int start_it(void)
{
	int ends[2];
	pid_t pid;
	bool ok;

	mkdir(EDITOR_FOLDER, 0700);
	unlink(SOCKET);
	if (pipe(ends) < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		become_linter(ends[1]);
	close(ends[1]);
	ok = pid > 0 && waitpid(pid, NULL, 0) == pid && wait_for_it(ends[0]);
	close(ends[0]);
	return ok ? connect_to_it() : -1;
}

static int send_text(int fd, const struct buf *text)
{
	uint32_t n = htonl((uint32_t)text->len);
	int r = fd_write_full(fd, &n, sizeof(n));

	return r < 0 ? r : fd_write_full(fd, buf_str(text), text->len);
}

/* Lines up to an empty one. */
static int receive(int fd, struct buf *out, struct buf *rest)
{
	for (;;) {
		const char *text = buf_str(rest);
		const char *end = *text == '\n' ? text : strstr(text, "\n\n");
		char part[4096];
		ssize_t n;

		if (end) {
			size_t length = (size_t)(end - text) + (*text != '\n');

			buf_add(out, text, length);
			buf_consume(rest, length + 1);
			return 0;
		}
		n = read(fd, part, sizeof(part));
		if (n <= 0)
			return n < 0 ? -errno : -ECONNRESET;
		buf_add(rest, part, (size_t)n);
		if (rest->truncated)
			return -EFBIG;
	}
}

/* 0, -EAGAIN if there was no answer in time, or another negative errno. */
static int ask(int fd, const struct buf *before, const struct buf *after, struct buf *out_before,
		struct buf *out_after)
{
	auto_buf struct buf rest = BUF_INIT(EDITOR_FILE_BYTES_MAX);
	int r = fd < 0 ? -ECONNREFUSED : send_text(fd, before);

	buf_clear(out_before);
	buf_clear(out_after);
	if (r == 0)
		r = receive(fd, out_before, &rest);
	if (r == 0)
		r = send_text(fd, after);
	if (r == 0)
		r = receive(fd, out_after, &rest);
	return r;
}

bool lint_texts(const struct buf *before, const struct buf *after, struct buf *out_before,
		struct buf *out_after)
{
	auto_close int warm = -1, fresh = -1;
	int r;

	if (access(FLAKE8, F_OK) < 0)
		return false;
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	warm = connect_to_it();
	r = ask(warm, before, after, out_before, out_after);
	if (r < 0 && r != -EAGAIN) { /* it may have ended by the text before, or idle */
		fresh = start_it();
		r = ask(fresh, before, after, out_before, out_after);
	}
	if (r < 0)
		puts("(flake8 gave no answer: the change is not checked.)");
	return r == 0;
}
