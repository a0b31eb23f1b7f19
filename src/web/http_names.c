/* SPDX-License-Identifier: Apache-2.0 */
#include "web/http_inside.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/*
 * A name server is asked in a thread of libcurl's (getaddrinfo() does it, which waits as long as resolv.conf says)
 * that nothing can end. So who stops waiting for it, for its time is over or it was cancelled, leaves the call
 * behind: unheard, without a limit in time, until the thread has ended, when it is refused a socket. As long as that
 * is counted, threads are.
 */

/* Requests have like times, so that its place is at the end, or near it. */
int names_on_ask(void *resolver, void *reserved, void *user)
{
	struct http_call *call = user;
	struct call_list *list = &call->http->asking;
	struct http_call *before = TAILQ_LAST(list, call_list);

	if (call->is_asking || call->is_left)
		return 0;
	while (before && before->ask_end_ns > call->ask_end_ns)
		before = TAILQ_PREV(before, call_list, link);
	if (before)
		TAILQ_INSERT_AFTER(list, before, call, link);
	else
		TAILQ_INSERT_HEAD(list, call, link);
	call->is_asking = true;
	return 0;
}

void names_note_asked(struct http_call *call)
{
	if (call->is_asking && !call->is_left)
		TAILQ_REMOVE(&call->http->asking, call, link);
	call->is_asking = false;
}

static bool is_public4(uint32_t address)
{
	/* Of IANA's special-purpose registry (RFC 6890), what is somebody's own or nobody's; from 224 on, all is. */
	static const struct {
		uint32_t net;
		int bits;
	} others[] = {
		{ 0x00000000, 8 },
		{ 0x0a000000, 8 },
		{ 0x64400000, 10 },
		{ 0x7f000000, 8 },
		{ 0xa9fe0000, 16 },
		{ 0xac100000, 12 },
		{ 0xc0000000, 24 },
		{ 0xc0a80000, 16 },
		{ 0xc6120000, 15 },
		{ 0xe0000000, 3 },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if ((address ^ others[i].net) >> (32 - others[i].bits) == 0)
			return false;
	return true;
}

static uint32_t address4(const uint8_t *bytes)
{
	uint32_t address;

	memcpy(&address, bytes, sizeof(address));
	return ntohl(address);
}

/* The public ones begin with 001 (RFC 4291); some hold one of version 4. */
static bool is_public6(const uint8_t *a)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	static const uint8_t translated[12] = { 0x00, 0x64, 0xff, 0x9b };

	if (memcmp(a, mapped, sizeof(mapped)) == 0 ||
			memcmp(a, translated, sizeof(translated)) == 0)
		return is_public4(address4(a + 12));
	if (a[0] == 0x20 && a[1] == 0x02) /* 6to4 */
		return is_public4(address4(a + 2));
	return a[0] >> 5 == 1;
}

static bool is_public(const struct sockaddr *address)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	switch (address->sa_family) {
	case AF_INET:
		memcpy(&in, address, sizeof(in));
		return is_public4(ntohl(in.sin_addr.s_addr));
	case AF_INET6:
		memcpy(&in6, address, sizeof(in6));
		return is_public6(in6.sin6_addr.s6_addr);
	}
	return false;
}

static bool has_proxy(void)
{
	static const char *const names[] = { "http_proxy", "https_proxy", "all_proxy",
		"HTTPS_PROXY", "ALL_PROXY" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *proxy = getenv(names[i]);

		if (proxy && *proxy)
			return true;
	}
	return false;
}

/* libcurl's own sockets would stay open across exec. */
curl_socket_t names_open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http_call *call = user;

	names_note_asked(call);
	if (call->is_left)
		return CURL_SOCKET_BAD;
	if (call->request.is_public && !has_proxy() && !is_public(&address->addr)) {
		call->is_inward = true;
		return CURL_SOCKET_BAD;
	}
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Some proxies' sockets are open before a name is asked for. */
int names_on_connected(void *user, char *ip, char *own_ip, int port, int own_port)
{
	struct http_call *call = user;

	names_note_asked(call);
	return call->is_left ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

void names_leave(struct http_call *call)
{
	TAILQ_REMOVE(&call->http->asking, call, link);
	TAILQ_INSERT_TAIL(&call->http->left, call, link);
	call->is_left = true;
	libcurl.easy_setopt(call->easy, CURLOPT_TIMEOUT_MS, 0L);
	libcurl.easy_setopt(call->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)INT_MAX);
	libcurl.easy_setopt(call->easy, CURLOPT_HTTPHEADER, NULL); /* which are the caller's */
}

bool http_is_asking(const struct http *h)
{
	return !TAILQ_EMPTY(&h->left);
}
