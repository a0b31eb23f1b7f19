/* SPDX-License-Identifier: Apache-2.0 */
#include "papers.h"

#include "fault.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
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

static void *serve(void *data)
{
	int server = *(int *)data;

	fault_spared = true;
	for (;;) {
		int fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			continue;
		answer(fd);
		close(fd);
	}
	return NULL;
}

uint16_t papers_serve(void)
{
	static int server;
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);
	pthread_t thread;

	server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server < 0 || bind(server, (struct sockaddr *)&at, n) < 0 || listen(server, 16) < 0 ||
			getsockname(server, (struct sockaddr *)&at, &n) < 0 ||
			pthread_create(&thread, NULL, serve, &server) != 0)
		return 0;
	return ntohs(at.sin_port);
}
