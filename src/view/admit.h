/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_ADMIT_H
#define VIEW_ADMIT_H

#include "web/guard.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Decides which requests the viewer's server answers. A GET or HEAD needs the token and a local
 * Host. A POST can only give an order to a running episode. It also needs an Origin, which must be
 * the page's own. The body must be JSON, which no form of another site can send. Each POST is
 * refused if there are no episodes to take over.
 */

#define ADMIT_HEAD_BYTES_MAX (16L << 10)
#define ADMIT_BODY_BYTES_MAX (2L << 20)

struct admitted {
	int status;        /* 200, or the HTTP status of the refusal; 301: the path lacks its "/" */
	const char *path;  /* the path behind the token; NULL: refused */
	const char *query; /* the part behind "?"; "" if there is none */
	bool is_head;      /* the answer has no body */
	bool is_order;     /* a POST, whose body follows */
	size_t n_body;     /* length of that body */
	bool closes;       /* the connection ends after the answer */
};

/* Checks a request by its head of n bytes, which ends with "\r\n\r\n". The head is changed, and
 * holds what is returned. takes_orders: episodes can be taken over. */
struct admitted admit(char *text, size_t n, const struct guard *guard, bool takes_orders);

/* Checks a head that is not complete yet. Returns 0 if more bytes may come, or the HTTP status of
 * the refusal. The head has at least one byte, and at most ADMIT_HEAD_BYTES_MAX. */
int admit_partial(const char *head, size_t n);

/* A sentence that tells why a request is refused by this status; "": there is none. */
const char *admit_reason(int status);

#endif
