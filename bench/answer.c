/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for a language model's server when Fumehood's own speed is measured. It listens on a
 * free port of this machine and prints the port. It answers each request at once with the same
 * action: run `true`.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS_MAX 256
#define REQUEST_MAX (4 << 20)

static const char body[] =
		"{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"I do nothing, and "
		"that at once.\\n```\\ntrue\\n```\\n\"},\"finish_reason\":\"stop\"}],\"usage\":"
		"{\"prompt_tokens\":100,\"completion_tokens\":10}}";

struct client {
	char *text;
	size_t n;
};

static struct client clients[CLIENTS_MAX];
static struct pollfd fds[CLIENTS_MAX];
static nfds_t n_fds = 1;

/*
 * Length in bytes of the HTTP request at the start of the text, or 0 if the request is incomplete.
 */
static size_t request_length(const char *text, size_t n)
{
	const char *end = memmem(text, n, "\r\n\r\n", 4);
	const char *length;
	size_t total;

	if (!end)
		return 0;
	length = strcasestr(text, "\r\nContent-Length:");
	total = (size_t)(end - text) + 4;
	if (length && length < end)
		total += strtoul(length + strlen("\r\nContent-Length:"), NULL, 10);
	return n >= total ? total : 0;
}

static void answer(int fd)
{
	char text[1024];
	int n = snprintf(text, sizeof(text),
			"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
			strlen(body), body);

	if (write(fd, text, (size_t)n) != n)
		exit(1);
}

static void drop(nfds_t i)
{
	close(fds[i].fd);
	free(clients[i].text);
	fds[i] = fds[--n_fds];
	clients[i] = clients[n_fds];
}

static void serve(nfds_t i)
{
	struct client *c = &clients[i];
	ssize_t n = read(fds[i].fd, c->text + c->n, REQUEST_MAX - c->n);
	size_t length;

	if (n <= 0) {
		drop(i);
		return;
	}
	c->n += (size_t)n;
	c->text[c->n] = '\0';
	while ((length = request_length(c->text, c->n))) {
		answer(fds[i].fd);
		c->n -= length;
		memmove(c->text, c->text + length, c->n + 1);
	}
}

static void welcome(int server)
{
	int fd = accept(server, NULL, NULL);

	if (fd < 0 || n_fds == CLIENTS_MAX)
		exit(1);
	clients[n_fds] = (struct client){ .text = malloc(REQUEST_MAX + 1) };
	if (!clients[n_fds].text)
		exit(1);
	fds[n_fds++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

int main(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(address);
	int server = socket(AF_INET, SOCK_STREAM, 0);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (server < 0 || bind(server, (struct sockaddr *)&address, size) < 0 ||
			listen(server, 64) < 0 ||
			getsockname(server, (struct sockaddr *)&address, &size) < 0)
		return 1;
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	fds[0] = (struct pollfd){ .fd = server, .events = POLLIN };
	for (;;) {
		if (poll(fds, n_fds, -1) < 0)
			return 1;
		for (nfds_t i = n_fds; i-- > 1;)
			if (fds[i].revents)
				serve(i);
		if (fds[0].revents)
			welcome(server);
	}
}
