/* SPDX-License-Identifier: Apache-2.0 */
#include "editor.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/scope.h"
#include "linter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The linter is a process of the agent's sandbox, and the agent's own: started by the first edit that needs
 * it (linter.py, which is in this program), and warm for the next ones. Where there is no flake8, or no
 * answer in time, edits go unlinted.
 */
#define SOCKET EDITOR_FOLDER "/linter"
#define PROGRAM EDITOR_FOLDER "/linter.py"
#define PYTHON "/usr/bin/python3"
#define START_MS 5000
#define ANSWER_MS 10000

static int connect_to_it(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = SOCKET };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close_fd(&fd);
	return -1;
}

/* Away from the step: nothing of it stays open, and it is nobody's job. */
static void become_linter(void)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	if (null < 0 || fork() != 0)
		_exit(0);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	close_range(3, ~0U, 0);
	if (chdir("/") == 0 &&
			fd_write_file(PROGRAM, linter_program, sizeof(linter_program) - 1, 0600,
					NULL) == 0)
		execl(PYTHON, "python3", "-I", PROGRAM, SOCKET, (char *)NULL);
	_exit(1);
}

static int start_it(void)
{
	int64_t end_ns = clock_now_ns() + START_MS * NS_PER_MS;
	struct stat st;
	pid_t pid;
	int fd;

	mkdir(EDITOR_FOLDER, 0700);
	unlink(SOCKET);
	if (stat("/usr/lib/python3/dist-packages/flake8", &st) < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		become_linter();
	if (pid < 0 || waitpid(pid, NULL, 0) < 0)
		return -1;
	while ((fd = connect_to_it()) < 0 && clock_now_ns() < end_ns)
		usleep(2000);
	return fd;
}

static bool send_text(int fd, const struct buf *text)
{
	uint32_t n = htonl((uint32_t)text->len);

	return fd_write_full(fd, &n, sizeof(n)) == 0 &&
			fd_write_full(fd, buf_str(text), text->len) == 0;
}

/* Lines up to an empty one. */
static bool receive(int fd, struct buf *out, struct buf *rest)
{
	for (;;) {
		const char *text = buf_str(rest);
		const char *end = *text == '\n' ? text : strstr(text, "\n\n");
		struct pollfd p = { .fd = fd, .events = POLLIN };
		char part[4096];
		ssize_t n;

		if (end) {
			size_t length = (size_t)(end - text) + (*text != '\n');

			buf_add(out, text, length);
			buf_consume(rest, length + 1);
			return true;
		}
		if (poll(&p, 1, ANSWER_MS) <= 0)
			return false;
		n = read(fd, part, sizeof(part));
		if (n <= 0 || rest->truncated)
			return false;
		buf_add(rest, part, (size_t)n);
	}
}

bool lint_texts(const struct buf *before, const struct buf *after, struct buf *out_before,
		struct buf *out_after)
{
	auto_buf struct buf rest = BUF_INIT(EDITOR_FILE_BYTES_MAX);
	auto_close int fd = connect_to_it();

	if (fd < 0)
		fd = start_it();
	return fd >= 0 && send_text(fd, before) && receive(fd, out_before, &rest) &&
			send_text(fd, after) && receive(fd, out_after, &rest);
}
