/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_PAGE_SEARCH_H
#define VIEW_PAGE_SEARCH_H

#include "view/request.h"

/* Answers with events `found`: ids of runs that have a text in an action or an observation. */
void page_search(struct page *p);

#endif
