/* SPDX-License-Identifier: Apache-2.0 */
#include "web/http_names.h"

#include "base/scope.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

void http_name_answered(struct http_name *n)
{
	if (n->is_asking && !n->is_left)
		TAILQ_REMOVE(&n->names->asking, n, link);
	n->is_asking = false;
}

/* Callback when libcurl begins to look up a name: adds the name to `asking`, sorted by deadline. It
 * searches the list from the end, because timeouts are similar. */
static int http_name_on_ask(void *resolver, void *reserved, void *user)
{
	struct http_name *n = user;
	struct http_name_list *list = &n->names->asking;
	struct http_name *before = TAILQ_LAST(list, http_name_list);

	if (n->is_asking || n->is_left)
		return 0;
	while (before && before->deadline_ns > n->deadline_ns)
		before = TAILQ_PREV(before, http_name_list, link);
	if (before)
		TAILQ_INSERT_AFTER(list, before, n, link);
	else
		TAILQ_INSERT_HEAD(list, n, link);
	n->is_asking = true;
	return 0;
}

static bool http_name_is_public4(const uint8_t *bytes)
{
	/* IPv4 addresses that are not public: the private, local and shared ones of RFC 6890, and
	 * all from 224.0.0.0 on. */
	static const struct {
		uint32_t net;
		int bits;
	} special[] = {
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
	uint32_t address;

	memcpy(&address, bytes, sizeof(address));
	for (size_t i = 0; i < ARRAY_SIZE(special); i++)
		if ((ntohl(address) ^ special[i].net) >> (32 - special[i].bits) == 0)
			return false;
	return true;
}

static bool http_name_is_public(const struct sockaddr *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	static const uint8_t translated[12] = { 0x00, 0x64, 0xff, 0x9b };
	const uint8_t *a = (const void *)address;

	if (address->sa_family == AF_INET)
		return http_name_is_public4(a + offsetof(struct sockaddr_in, sin_addr));
	if (address->sa_family != AF_INET6)
		return false;
	/* IPv6 addresses are public if they begin with the bits 001 (RFC 4291). If an address
	 * contains an IPv4 address, the IPv4 address decides. */
	a += offsetof(struct sockaddr_in6, sin6_addr);
	if (memcmp(a, mapped, sizeof(mapped)) == 0 ||
			memcmp(a, translated, sizeof(translated)) == 0)
		return http_name_is_public4(a + 12);
	if (a[0] == 0x20 && a[1] == 0x02) /* a 6to4 address, which contains an IPv4 address */
		return http_name_is_public4(a + 2);
	return a[0] >> 5 == 1;
}

/* Returns true if a proxy is set. The proxy looks names up, and its own address may be private. */
static bool http_name_has_proxy(void)
{
	static const char *const names[] = { "http_proxy", "https_proxy", "all_proxy",
		"HTTPS_PROXY", "ALL_PROXY" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *proxy = getenv(names[i]);

		if (proxy && *proxy)
			return true;
	}
	return false;
}

/*
 * Opens a socket for libcurl with close-on-exec: sockets that libcurl opens would stay open across
 * exec.
 */
static curl_socket_t http_name_open_socket(
		void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http_name *n = user;

	http_name_answered(n);
	if (n->is_left)
		return CURL_SOCKET_BAD;
	if (n->needs_public && !http_name_has_proxy() && !http_name_is_public(&address->addr)) {
		n->is_private = true;
		return CURL_SOCKET_BAD;
	}
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Callback when a socket of libcurl is connected: the name lookup has ended then. With a proxy, the
 * socket may be older than the lookup. */
static int http_name_on_connected(void *user, char *ip, char *own_ip, int port, int own_port)
{
	struct http_name *n = user;

	http_name_answered(n);
	return n->is_left ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

void http_name_follow(struct http_name *n)
{
	libcurl.easy_setopt(n->easy, CURLOPT_RESOLVER_START_FUNCTION, http_name_on_ask);
	libcurl.easy_setopt(n->easy, CURLOPT_RESOLVER_START_DATA, n);
	libcurl.easy_setopt(n->easy, CURLOPT_OPENSOCKETFUNCTION, http_name_open_socket);
	libcurl.easy_setopt(n->easy, CURLOPT_OPENSOCKETDATA, n);
	libcurl.easy_setopt(n->easy, CURLOPT_PREREQFUNCTION, http_name_on_connected);
	libcurl.easy_setopt(n->easy, CURLOPT_PREREQDATA, n);
}

void http_name_forget(struct http_name *n)
{
	http_name_answered(n);
	if (n->is_left)
		TAILQ_REMOVE(&n->names->left, n, link);
}

void http_name_leave(struct http_name *n)
{
	TAILQ_REMOVE(&n->names->asking, n, link);
	TAILQ_INSERT_TAIL(&n->names->left, n, link);
	n->is_left = true;
	libcurl.easy_setopt(n->easy, CURLOPT_TIMEOUT_MS, 0L);
	libcurl.easy_setopt(n->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)INT_MAX);
	/* Clear the headers: the call outlives its owner, and the owner frees them. */
	libcurl.easy_setopt(n->easy, CURLOPT_HTTPHEADER, NULL);
}
