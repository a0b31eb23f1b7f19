/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_PAGE_REPORT_H
#define VIEW_PAGE_REPORT_H

#include "view/request.h"

/* Answers with the report of all runs, as a stream with one event `report`. */
void page_report(struct page *p);

#endif
