/* SPDX-License-Identifier: Apache-2.0 */
#include "view/admit.h"

#include "base/scope.h"
#include "base/str.h"

#include <string.h>
#include <strings.h>

#define ORDER_PATH "api/order"
#define ORDER_TYPE "application/json"
#define VALUE_BYTES 512

/* Copies a header. A header that is too long becomes "?", which no check allows. */
static const char *admit_header(
		struct lws *wsi, enum lws_token_indexes token, char text[VALUE_BYTES])
{
	int copied = lws_api.hdr_copy(wsi, text, VALUE_BYTES, token);

	if (copied < 0)
		memcpy(text, "?", 2);
	return copied ? text : NULL;
}

/* Finds the path behind the token. NULL: the request lacks the token, or is of another site. */
static const char *admit_path(struct lws *wsi, const struct guard *guard, const char *path)
{
	char host[VALUE_BYTES], origin[VALUE_BYTES];
	const struct guard_request q = {
		.host = admit_header(wsi, WSI_TOKEN_HOST, host),
		.origin = admit_header(wsi, WSI_TOKEN_ORIGIN, origin),
	};
	size_t n;

	if (guard_check_place(guard, &q) != GUARD_OK)
		return NULL;
	path += *path == '/';
	n = strcspn(path, "/");
	return guard_token_is(guard, path, n) ? path + n : NULL;
}

/* True for an Origin of this machine. admit_path() has compared it with Host. */
static bool admit_is_local(struct lws *wsi)
{
	static const char *const names[] = { "http://127.0.0.1", "http://localhost" };
	char origin[VALUE_BYTES];

	if (!admit_header(wsi, WSI_TOKEN_ORIGIN, origin))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);

		if (strncmp(origin, names[i], n) == 0 && (!origin[n] || origin[n] == ':'))
			return true;
	}
	return false;
}

static bool admit_is_json(struct lws *wsi)
{
	char type[VALUE_BYTES];

	return admit_header(wsi, WSI_TOKEN_HTTP_CONTENT_TYPE, type) &&
			strncasecmp(type, ORDER_TYPE, strlen(ORDER_TYPE)) == 0 &&
			strchr("; ", type[strlen(ORDER_TYPE)]);
}

/* Length of the body: 0 if the request names none. -1: it is not a number. */
static int64_t admit_length(struct lws *wsi)
{
	char text[VALUE_BYTES];
	int64_t n;

	if (!admit_header(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH, text))
		return 0;
	return str_to_i64(text, &n) && n >= 0 ? n : -1;
}

static int admit_order(struct lws *wsi, const char *path)
{
	int64_t n = admit_length(wsi);

	if (!str_eq(path, ORDER_PATH))
		return 405;
	if (!admit_is_local(wsi))
		return 403;
	if (!admit_is_json(wsi))
		return 415;
	if (n == 0)
		return 411;
	return n > 0 && n <= ADMIT_BODY_BYTES_MAX ? 200 : 413;
}

struct admitted admit(
		struct lws *wsi, const struct guard *guard, const char *path, bool takes_orders)
{
	struct admitted a = { .status = 403 };
	const char *rest = admit_path(wsi, guard, path);

	if (!rest)
		return a;
	a.is_order = takes_orders && lws_api.hdr_total_length(wsi, WSI_TOKEN_POST_URI) > 0;
	if (a.is_order)
		a.status = admit_order(wsi, rest + (*rest == '/'));
	else if (lws_api.hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0)
		a.status = 405;
	else if (admit_length(wsi) != 0)
		a.status = 413;
	else /* the page's links are relative to a folder */
		a.status = *rest == '/' ? 200 : 404;
	if (a.status == 200)
		a.path = rest + 1;
	return a;
}

const char *admit_reason(int status)
{
	switch (status) {
	case 403:
		return "The address lacks the token that was printed, or the request is of another site. "
		       "An order needs the page's own Origin.\n";
	case 405:
		return "Records are only read, by GET. A POST gives orders to episodes of `run --web`.\n";
	case 411:
		return "The request has no Content-Length.\n";
	case 413:
		return "The request has a body that is not expected, or too long.\n";
	case 415:
		return "An order is JSON, with the Content-Type " ORDER_TYPE ".\n";
	default:
		return "There is no such page.\n";
	}
}
