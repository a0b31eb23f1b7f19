/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_PAGE_EDITS_H
#define VIEW_PAGE_EDITS_H

#include "view/request.h"

/* Answers with the files that a run edited, and with the text of each version. */

void page_edits(struct page *p);       /* the files of a run, and their versions */
void page_edited_file(struct page *p); /* the text of a version */

#endif
