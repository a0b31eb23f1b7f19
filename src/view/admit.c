/* SPDX-License-Identifier: Apache-2.0 */
#include "view/admit.h"

#include "base/request_head.h"
#include "base/scope.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define ORDER_PATH "api/order"
#define ORDER_TYPE "application/json"

/* Headers that are looked at; NULL: the request lacks the header. */
struct admit_headers {
	const char *host, *origin, *type, *length, *encoding, *connection;
};

/* Reads the headers. Returns 0, or the status of a refusal. None may come twice. */
static int admit_read(struct request_head *head, struct admit_headers *out)
{
	const struct {
		const char *name, **value;
	} known[] = {
		{ "host", &out->host },
		{ "origin", &out->origin },
		{ "content-type", &out->type },
		{ "content-length", &out->length },
		{ "transfer-encoding", &out->encoding },
		{ "connection", &out->connection },
	};
	const char *name, *value;
	int status;

	while ((status = request_head_next(head, &name, &value)) == 1)
		for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
			if (strcasecmp(name, known[i].name) != 0)
				continue;
			if (*known[i].value)
				return 400;
			*known[i].value = value;
		}
	return status;
}

/* Finds the path behind the token. NULL: the request lacks the token, or is of another site. */
static char *admit_path(const struct admit_headers *h, const struct guard *guard, char *path)
{
	const struct guard_request q = { .host = h->host, .origin = h->origin };
	size_t n;

	if (guard_check_place(guard, &q) != GUARD_OK)
		return NULL;
	n = strcspn(++path, "/?");
	return guard_token_is(guard, path, n) ? path + n : NULL;
}

/* True for an Origin of this machine. admit_path() has compared it with Host. */
static bool admit_is_local(const char *origin)
{
	static const char *const names[] = { "http://127.0.0.1", "http://localhost" };

	for (size_t i = 0; origin && i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);

		if (strncmp(origin, names[i], n) == 0 && (!origin[n] || origin[n] == ':'))
			return true;
	}
	return false;
}

static bool admit_is_json(const char *type)
{
	return type && strncasecmp(type, ORDER_TYPE, strlen(ORDER_TYPE)) == 0 &&
			strchr("; ", type[strlen(ORDER_TYPE)]);
}

/* Length of the body: 0 if the request names none. -1: it is unknown. */
static int64_t admit_length(const struct admit_headers *h)
{
	int64_t n = 0;

	if (h->encoding || (h->length && (!str_to_i64(h->length, &n) || n < 0)))
		return -1;
	return n;
}

static int admit_order(const struct admit_headers *h, const char *path)
{
	int64_t n = admit_length(h);

	if (!str_eq(path, ORDER_PATH))
		return 405;
	if (!admit_is_local(h->origin))
		return 403;
	if (!admit_is_json(h->type))
		return 415;
	if (n == 0)
		return 411;
	return n > 0 && n <= ADMIT_BODY_BYTES_MAX ? 200 : 413;
}

/* Checks a request for what follows the token in a path. */
static void admit_check(const struct request_head *head, const struct admit_headers *h, char *rest,
		bool takes_orders, struct admitted *a)
{
	char *query = strchr(rest, '?');

	a->query = query ? query + 1 : "";
	if (query)
		*query = '\0';
	a->is_order = takes_orders && str_eq(head->method, "POST");
	if (a->is_order)
		a->status = admit_order(h, rest + (*rest == '/'));
	else if (!a->is_head && !str_eq(head->method, "GET"))
		a->status = 405;
	else if (admit_length(h) != 0)
		a->status = 413;
	else /* the page's links are relative to a folder */
		a->status = *rest ? 200 : 301;
	if (a->status != 200)
		return;
	a->path = rest + 1;
	a->n_body = (size_t)admit_length(h);
	a->closes = head->is_old || (h->connection && strcasecmp(h->connection, "close") == 0);
}

struct admitted admit(char *text, size_t n, const struct guard *guard, bool takes_orders)
{
	struct admit_headers headers = { 0 };
	struct request_head head;
	struct admitted a = { .status = request_head_begin(&head, text, n) };
	char *rest;

	if (!a.status)
		a.status = admit_read(&head, &headers);
	if (a.status)
		return a;
	a.is_head = str_eq(head.method, "HEAD");
	a.status = 403;
	rest = admit_path(&headers, guard, head.path);
	if (rest)
		admit_check(&head, &headers, rest, takes_orders, &a);
	return a;
}

int admit_partial(const char *head, size_t n)
{
	const char *end = memchr(head, '\n', n);

	if (!isupper((unsigned char)*head) || (end && end[-1] != '\r'))
		return 400;
	if (n < ADMIT_HEAD_BYTES_MAX)
		return 0;
	return end ? 431 : 414;
}

const char *admit_reason(int status)
{
	static const struct {
		int status;
		const char *reason;
	} reasons[] = {
		{ 301, "The address of the page ends with '/'.\n" },
		{ 400, "The request is not one of HTTP, or its address does not begin with '/'.\n" },
		{ 403,
				"The address lacks the token, or another site sent the request. "
				"Open the address that the command printed.\n" },
		{ 404, "There is no such page.\n" },
		{ 405, "Runs are only read, by GET or HEAD. To act in a run, play it by `run --web`.\n" },
		{ 411, "The request has no Content-Length.\n" },
		{ 413, "The request has a body that is not expected, or too long.\n" },
		{ 414, "The address is too long.\n" },
		{ 415, "The body has to be JSON, with the Content-Type " ORDER_TYPE ".\n" },
		{ 431, "The request's headers are too long.\n" },
		{ 505, "The server speaks HTTP/1.0 and 1.1.\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "";
}
