/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/connection.h"

static const char *connection_header(
		struct connection *c, enum lws_token_indexes token, char *text, size_t n)
{
	int copied = lws_api.hdr_copy(c->wsi, text, (int)n, token);

	if (copied < 0) {
		/* The header is longer than any that is right. */
		text[0] = '?';
		text[1] = '\0';
	}
	return copied ? text : NULL;
}

enum guard_verdict connection_guard(struct connection *c, struct guard_texts *t, bool with_token)
{
	const struct guard *g = &c->net->guard;
	struct guard_request q = {
		.host = connection_header(c, WSI_TOKEN_HOST, t->host, sizeof(t->host)),
		.origin = connection_header(c, WSI_TOKEN_ORIGIN, t->origin, sizeof(t->origin)),
		.authorization = connection_header(c, WSI_TOKEN_HTTP_AUTHORIZATION,
				t->authorization, sizeof(t->authorization)),
	};

	return with_token ? guard_check(g, &q) : guard_check_place(g, &q);
}
