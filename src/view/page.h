/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_PAGE_H
#define VIEW_PAGE_H

#include "view/library.h"

#define PAGE_VALUE_BYTES 64
#define PAGE_ANSWER_BYTES_MAX (600L << 20)

/* Gives the value of an argument "name=" in the request's URL. It lies somewhere in `room`. NULL:
 * the URL lacks the argument, or it is too long. */
typedef const char *page_argument(void *user, const char *name, char room[PAGE_VALUE_BYTES]);

struct page_request {
	const char *path; /* without the token: "", "app.js", "api/runs" */
	page_argument *argument;
	void *user;
};

struct page_answer {
	int status; /* HTTP status */
	const char *mime;
	struct buf text;
};

/* Answers a request for a file of the page, or for recorded runs. */
void page_answer(struct library *l, const struct page_request *q, struct page_answer *out);

#endif
