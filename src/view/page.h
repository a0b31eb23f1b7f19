/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_PAGE_H
#define VIEW_PAGE_H

#include "view/request.h"

/* Answers a request for a file of the page, or for recorded runs. */
void page_make(struct library *l, const struct page_request *q, struct page_answer *out);

#endif
