/* SPDX-License-Identifier: Apache-2.0 */
#include "view/watch.h"

#include "base/scope.h"
#include "web/lws.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define EVENTS_MOST 64 /* served before the next look */

int watch_listen(int port, int *out_fd, int *out_port, struct fh_error *err)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons((in_port_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t n = sizeof(at);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) < 0 ||
			bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
			listen(fd, SOMAXCONN) < 0 ||
			getsockname(fd, (struct sockaddr *)&at, &n) < 0)
		return error_set(err, errno, "can't listen on 127.0.0.1 port %d", port);
	*out_port = ntohs(at.sin_port);
	*out_fd = take_fd(&fd);
	return 0;
}

int watch_open(int *out_fd, struct fh_error *err)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return error_set(err, errno, "create an epoll");
	*out_fd = fd;
	return 0;
}

void watch_add(int watch_fd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	/* A descriptor that can't be watched is served by libwebsockets' own looks. */
	(void)!epoll_ctl(watch_fd, EPOLL_CTL_ADD, fd, &event);
}

int watch_serve(int watch_fd, struct lws_context *context, int wait_ms)
{
	struct epoll_event events[EVENTS_MOST];
	int n = epoll_wait(watch_fd, events, EVENTS_MOST, wait_ms);

	for (int i = 0; i < n; i++) {
		/* libwebsockets finds out itself that a connection is broken: a read says so. */
		struct lws_pollfd ready = {
			.fd = events[i].data.fd, .events = LWS_POLLIN, .revents = LWS_POLLIN
		};

		lws_api.service_fd(context, &ready);
	}
	return n;
}
