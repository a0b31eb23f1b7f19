/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_ADMIT_H
#define VIEW_ADMIT_H

#include "base/request_reader.h"
#include "web/guard.h"

/*
 * Decides which requests the viewer's server answers. A GET or HEAD needs the token and a local
 * Host. A POST can only give an order to a running episode. It also needs an Origin, which must be
 * the page's own. The body must be JSON, which no form of another site can send. Each POST is
 * refused if there are no episodes to take over.
 */

#define ADMIT_BODY_BYTES_MAX (2L << 20)

/*
 * Checks a request whose head was read. 0: *out_path is the path behind the token, which lies in
 * the request. Else the HTTP status of the refusal, which is 301 for a path that lacks its "/".
 * takes_orders: episodes can be taken over.
 */
int admit(const struct request_reader *r, const struct guard *guard, bool takes_orders,
		const char **out_path);

/* A sentence that tells why a request is refused by this status; "": there is none. */
const char *admit_reason(int status);

#endif
