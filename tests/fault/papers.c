/* SPDX-License-Identifier: Apache-2.0 */
#include "papers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER                                                                                     \
	"{\"total\":1,\"token\":null,\"data\":[{\"paperId\":\"1\",\"title\":\"" PAPERS_TITLE       \
	"\",\"abstract\":\"None.\",\"openAccessPdf\":{\"url\":\"https://example.org/1.pdf\"}}]}"

static void answer(int fd)
{
	char request[8192] = "", reply[1024];
	size_t n = 0;

	while (!strstr(request, "\r\n\r\n") && n < sizeof(request) - 1) {
		ssize_t more = read(fd, request + n, sizeof(request) - 1 - n);

		if (more <= 0)
			return;
		n += (size_t)more;
		request[n] = '\0';
	}
	n = (size_t)snprintf(reply, sizeof(reply),
			"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
			"Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
			strlen(ANSWER), ANSWER);
	(void)!send(fd, reply, n, MSG_NOSIGNAL);
}

_Noreturn static void serve(int server, int owner)
{
	struct pollfd waits[] = { { .fd = server, .events = POLLIN }, { .fd = owner } };

	while (poll(waits, 2, -1) > 0 && !waits[1].revents) {
		int fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);

		if (fd >= 0) {
			answer(fd);
			close(fd);
		}
	}
	_exit(0);
}

/* Forks twice, so that the server is not a child of the test, which waits for all its children. */
static void start(int server, const int owner[2])
{
	pid_t pid = fork();

	if (pid == 0 && fork() == 0) {
		close(owner[1]);
		serve(server, owner[0]);
	}
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

uint16_t papers_serve(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof(at);
	int owner[2];

	if (server < 0 || bind(server, (struct sockaddr *)&at, n) < 0 || listen(server, 16) < 0 ||
			getsockname(server, (struct sockaddr *)&at, &n) < 0 ||
			pipe2(owner, O_CLOEXEC) < 0)
		return 0;
	fflush(stdout);
	/* The server ends when this process and all its children have closed their end of the
	 * pipe. */
	start(server, owner);
	close(server);
	close(owner[0]);
	return ntohs(at.sin_port);
}
