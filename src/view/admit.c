/* SPDX-License-Identifier: Apache-2.0 */
#include "view/admit.h"

#include "base/scope.h"
#include "base/str.h"

#include <string.h>
#include <strings.h>

#define ORDER_PATH "api/order"
#define ORDER_TYPE "application/json"

/* True for an Origin of this machine. admit() has compared it with Host. */
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

static int admit_order(const struct request_reader *r, const char *path)
{
	if (!str_eq(path, ORDER_PATH))
		return 405;
	if (!admit_is_local(request_reader_header(r, "origin")))
		return 403;
	if (!admit_is_json(request_reader_header(r, "content-type")))
		return 415;
	if (r->is_chunked)
		return 413;
	return r->n_body ? 0 : 411;
}

int admit(const struct request_reader *r, const struct guard *guard, bool takes_orders,
		const char **out_path)
{
	const struct guard_request q = { .host = request_reader_header(r, "host"),
		.origin = request_reader_header(r, "origin") };
	const char *token = r->path + 1, *rest = token + strcspn(token, "/");
	bool is_order = takes_orders && str_eq(r->method, "POST");
	int status = 0;

	if (guard_check_place(guard, &q) != GUARD_OK ||
			!guard_token_is(guard, token, (size_t)(rest - token)))
		return 403;
	if (is_order)
		status = admit_order(r, rest + (*rest == '/'));
	else if (!str_eq(r->method, "GET") && !str_eq(r->method, "HEAD"))
		status = 405;
	else if (r->n_body || r->is_chunked)
		status = 413;
	else if (!*rest)
		status = 301; /* the page's links are relative to a folder */
	if (status)
		return status;
	*out_path = rest + 1;
	return 0;
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
		{ 415,
				"The body has to be JSON, with the Content-Type " ORDER_TYPE
				" and without a Content-Encoding.\n" },
		{ 417, "The server meets no expectation but 100-continue.\n" },
		{ 431, "There are more than 100 headers, or the headers are too long.\n" },
		{ 501, "The request has a Transfer-Encoding other than chunked.\n" },
		{ 505, "The server speaks HTTP/1.0 and 1.1.\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "";
}
