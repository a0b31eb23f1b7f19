/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answer_head.h"

#include "base/http_phrase.h"

/* Nothing but the page's own files can run or be loaded, and no other page can show this one. */
static const char head_lines[] =
		"content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; "
		"connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
		"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'\r\n"
		"cache-control: no-store\r\n"
		"cross-origin-opener-policy: same-origin\r\n"
		"cross-origin-resource-policy: same-origin\r\n"
		"referrer-policy: no-referrer\r\n"
		"x-content-type-options: nosniff\r\n";

void head_put(struct buf *out, const struct page_answer *a, bool closes, const char *token)
{
	buf_printf(out, "HTTP/1.1 %d %s\r\ncontent-type: %s\r\n", a->status, http_phrase(a->status),
			a->stream ? "text/event-stream" : a->mime);
	buf_add_str(out, head_lines);
	if (closes)
		buf_add_str(out, "connection: close\r\n");
	if (!a->stream)
		buf_printf(out, "content-length: %zu\r\n", a->text.len);
	if (a->status == 301)
		buf_printf(out, "location: /%s/\r\n", token);
	buf_add_str(out, "\r\n");
}
