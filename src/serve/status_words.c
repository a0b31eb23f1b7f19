/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/status_words.h"

static const struct status_words all_status_words[] = {
	{ 200, "OK", "" },
	{ 202, "Accepted", "" },
	{ 400, "Bad Request", "bad request" },
	{ 401, "Unauthorized", "a token is needed: Authorization: Bearer TOKEN" },
	{ 403, "Forbidden", "this host or origin is not allowed" },
	{ 404, "Not Found", "not found" },
	{ 405, "Method Not Allowed", "method not allowed" },
	{ 409, "Conflict", "" },
	{ 411, "Length Required", "Content-Length is missing" },
	{ 413, "Content Too Large", "the body is too large" },
	{ 422, "Unprocessable Content", "" },
	{ 500, "Internal Server Error", "" },
	{ 503, "Service Unavailable", "" },
	{ 0, "Unknown", "refused" },
};

const struct status_words *status_words(int number)
{
	const struct status_words *s = all_status_words;

	while (s->number && s->number != number)
		s++;
	return s;
}
