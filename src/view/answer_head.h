/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_ANSWER_HEAD_H
#define VIEW_ANSWER_HEAD_H

#include "view/request.h"

/* Appends the head of an answer. `closes`: the connection ends with it. A redirect leads to the
 * page, whose address has the token. */
void head_put(struct buf *out, const struct page_answer *a, bool closes, const char *token);

#endif
