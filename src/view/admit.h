/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_ADMIT_H
#define VIEW_ADMIT_H

#include "web/guard.h"
#include "web/lws.h"

/*
 * Decides which requests the viewer's server answers. A GET needs the token and a local Host. A
 * POST can only give an order to a running episode. It also needs an Origin, which must be the
 * page's own. The body must be JSON, which no form of another site can send. Each POST is refused
 * if there are no episodes to take over.
 */

#define ADMIT_BODY_BYTES_MAX (2L << 20)

struct admitted {
	int status;       /* 200, or the HTTP status of the refusal */
	const char *path; /* the path behind the token; NULL: refused */
	bool is_order;    /* a POST, whose body follows */
};

/* Checks a request for `path`. takes_orders: episodes can be taken over. */
struct admitted admit(
		struct lws *wsi, const struct guard *guard, const char *path, bool takes_orders);

/* A sentence that tells why a request is refused. */
const char *admit_reason(int status);

#endif
