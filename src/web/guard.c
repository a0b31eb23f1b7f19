/* SPDX-License-Identifier: Apache-2.0 */
#include "web/guard.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#define HOST_BYTES_MAX 256
#define GUARD_TOKEN_BYTES_MAX 512
#define GUARD_USER_BYTES_MAX 256 /* the name before a token in a URL, which does not matter */

static bool guard_lists(const struct texts *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcasecmp(list->items[i], name) == 0)
			return true;
	return false;
}

/* Copies the name in "name", "name:80" or "[address]:80". False: the text has another form. */
static bool guard_host_name(const char *host, char name[HOST_BYTES_MAX])
{
	bool bracket = *host == '[';
	size_t n = strcspn(host + bracket, bracket ? "]" : ":");
	const char *rest = host + bracket + n;

	if (n == 0 || n >= HOST_BYTES_MAX)
		return false;
	memcpy(name, host + bracket, n);
	name[n] = '\0';
	if (bracket && *rest++ != ']')
		return false;
	if (!*rest)
		return true;
	return *rest == ':' && rest[1] && !rest[1 + strspn(rest + 1, "0123456789")];
}

/* Nobody can make an address, or localhost, lead to another machine. */
static bool guard_host_ok(const struct guard *g, const char *host)
{
	char name[HOST_BYTES_MAX];
	struct in6_addr address;

	if (!host || !guard_host_name(host, name))
		return false;
	return inet_pton(AF_INET, name, &address) == 1 ||
			inet_pton(AF_INET6, name, &address) == 1 ||
			strcasecmp(name, "localhost") == 0 || guard_lists(&g->hosts, name);
}

enum guard_verdict guard_check_place(const struct guard *g, const struct guard_request *q)
{
	if (!guard_host_ok(g, q->host))
		return GUARD_WRONG_HOST;
	if (!q->origin || guard_lists(&g->origins, q->origin))
		return GUARD_OK;
	/* The origin of this server's own pages is "http://" and the server's name. */
	return str_starts(q->origin, "http://") && strcasecmp(q->origin + 7, q->host) == 0
			? GUARD_OK
			: GUARD_WRONG_ORIGIN;
}

/* Compares in a time that does not depend on where the texts differ. */
static bool guard_same(const char *a, size_t n_a, const char *b)
{
	size_t n_b = strlen(b);
	unsigned char different = n_a != n_b;

	for (size_t i = 0; i < n_a; i++)
		different |= (unsigned char)(a[i] ^ b[n_b ? i % n_b : 0]);
	return !different;
}

bool guard_token_is(const struct guard *g, const char *given, size_t n)
{
	return guard_same(given, n, g->token);
}

static int guard_digit(char c)
{
	static const char digits[] =
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decodes base64. Returns the number of bytes; a text that is not base64 gives fewer. */
static size_t guard_decode(const char *text, char *out, size_t max)
{
	unsigned bits = 0, n_bits = 0;
	size_t n = 0;
	int digit;

	for (; (digit = guard_digit(*text)) >= 0 && n < max; text++) {
		bits = bits << 6 | (unsigned)digit;
		n_bits += 6;
		if (n_bits < 8)
			continue;
		n_bits -= 8;
		out[n++] = (char)(bits >> n_bits);
	}
	return n;
}

/* Finds what follows the scheme of an Authorization header, in any case. */
static const char *guard_scheme(const char *authorization, const char *scheme)
{
	size_t n = strlen(scheme);

	if (strncasecmp(authorization, scheme, n) != 0 || authorization[n] != ' ')
		return NULL;
	return authorization + n + strspn(authorization + n, " ");
}

static bool guard_token_ok(const struct guard *g, const char *authorization)
{
	char pair[GUARD_USER_BYTES_MAX + 1 + GUARD_TOKEN_BYTES_MAX];
	const char *given, *colon;
	size_t n;

	if (!g->token)
		return true;
	if (!authorization)
		return false;
	given = guard_scheme(authorization, "Bearer");
	if (given)
		return guard_same(given, strlen(given), g->token);
	given = guard_scheme(authorization, "Basic");
	if (!given)
		return false;
	n = guard_decode(given, pair, sizeof(pair));
	colon = memchr(pair, ':', n);
	return colon && guard_same(colon + 1, n - (size_t)(colon + 1 - pair), g->token);
}

enum guard_verdict guard_check(const struct guard *g, const struct guard_request *q)
{
	enum guard_verdict place = guard_check_place(g, q);

	if (place != GUARD_OK)
		return place;
	return guard_token_ok(g, q->authorization) ? GUARD_OK : GUARD_WRONG_TOKEN;
}
