/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_PAGE_MESSAGES_H
#define VIEW_PAGE_MESSAGES_H

#include "view/request.h"

/* Answers with the messages that a model had before a step. Those that the history processor of the
 * agent shortened come in both forms. */
void page_messages(struct page *p);

/* Puts an object with a reply that was rejected, and the complaint about it. */
void page_put_fault(struct page *p, const struct record_fault *fault);

#endif
