/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_GUARD_H
#define WEB_GUARD_H

#include "base/str.h"

#include <stdbool.h>

/*
 * Refuses requests by their token, Host and Origin. A browser names the page's server in Origin,
 * and this server in Host. So a page of another site can't reach the server. A name that it points
 * to this machine does not help.
 */
struct guard {
	const char *token;    /* secret that each request must show; NULL: none */
	struct texts hosts;   /* names in Host that are allowed beside addresses and localhost */
	struct texts origins; /* origins that are allowed beside the server's own */
};

/* Headers of a request; NULL: the request lacks the header. */
struct guard_request {
	const char *host, *origin, *authorization;
};

enum guard_verdict {
	GUARD_OK,
	GUARD_WRONG_HOST,
	GUARD_WRONG_ORIGIN,
	GUARD_WRONG_TOKEN,
};

/* Checks host and origin. */
enum guard_verdict guard_check_place(const struct guard *g, const struct guard_request *q);

/* True if these n bytes are the token. */
bool guard_token_is(const struct guard *g, const char *given, size_t n);

/* Checks host, origin and token. The token may be a bearer token, or the password of basic
 * authentication with any name. */
enum guard_verdict guard_check(const struct guard *g, const struct guard_request *q);

#endif
