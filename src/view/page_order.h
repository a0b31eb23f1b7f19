/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_PAGE_ORDER_H
#define VIEW_PAGE_ORDER_H

#include "view/request.h"

/* Takes over running episodes (run/takeover.h) by the page. */

/* Answers which run goes on: {"run": ID}, or null. */
void page_live(struct page *p);

/* Puts the member "control": the desk of the page's run. Puts nothing if this server's run does not
 * play it. */
void page_put_control(struct page *p);

/* Gives an order to an episode. The body of the request is an object. It has the members
 * `run` (an ID), `order` (a name), `step`, `text` and `thought`. */
void page_order(struct library *l, struct takeover *t, const struct buf *body,
		struct page_answer *out);

#endif
