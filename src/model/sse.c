/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of server-sent events is written by hand. libcurl has none, and C libraries that have
 * one bring an HTTP client of their own. */
#include "model/sse.h"

#include <string.h>

void sse_init(struct sse *s)
{
	*s = (struct sse){
		.waiting = BUF_INIT(SSE_EVENT_BYTES_MAX + 65536),
		.event = BUF_INIT(SSE_EVENT_BYTES_MAX),
	};
}

void sse_release(struct sse *s)
{
	buf_release(&s->waiting);
	buf_release(&s->event);
}

void sse_feed(struct sse *s, const char *data, size_t n)
{
	buf_consume(&s->waiting, s->given);
	s->given = 0;
	buf_add(&s->waiting, data, n);
}

void sse_end(struct sse *s)
{
	sse_feed(s, "\n\n", 2);
}

bool sse_is_too_long(const struct sse *s)
{
	return s->waiting.truncated || s->event.truncated;
}

/*
 * Skips a byte order mark at the start of the stream. Returns false if too few bytes have arrived
 * to tell.
 */
static bool sse_skip_mark(struct sse *s)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t n = s->waiting.len < 3 ? s->waiting.len : 3;

	if (s->begun || !n)
		return true;
	if (memcmp(s->waiting.data, mark, n) == 0) {
		if (n < 3)
			return false;
		s->given = 3;
	}
	s->begun = true;
	return true;
}

/* Gives the next complete line of the stream, without its end. Returns false if there is none
 * yet. */
static bool sse_next_line(struct sse *s, const char **out, size_t *out_n)
{
	const char *line, *at, *end;

	if (!s->waiting.data)
		return false;
	if (s->after_cr && s->given < s->waiting.len) {
		s->after_cr = false;
		if (s->waiting.data[s->given] == '\n')
			s->given++;
	}
	line = s->waiting.data + s->given;
	end = s->waiting.data + s->waiting.len;
	for (at = line + s->scanned; at < end && *at != '\n' && *at != '\r';)
		at++;
	if (at == end) {
		s->scanned = (size_t)(end - line);
		return false;
	}
	s->scanned = 0;
	s->after_cr = *at == '\r';
	*out = line;
	*out_n = (size_t)(at - line);
	s->given += *out_n + 1;
	return true;
}

/* Handles a line of a stream of server-sent events. Appends the text of "data: text" or "data" to
 * the event. Ignores other lines. */
static void sse_take_line(struct sse *s, const char *line, size_t n)
{
	if (n < 4 || memcmp(line, "data", 4) != 0 || (n > 4 && line[4] != ':'))
		return;
	line += n > 4 ? 5 : 4;
	n -= n > 4 ? 5 : 4;
	if (n && *line == ' ') {
		line++;
		n--;
	}
	if (s->any)
		buf_add_char(&s->event, '\n');
	buf_add(&s->event, line, n);
	s->any = true;
}

bool sse_next(struct sse *s, const char **out, size_t *out_n)
{
	const char *line;
	size_t n;

	if (s->fresh) {
		buf_clear(&s->event);
		s->any = s->fresh = false;
	}
	if (!sse_skip_mark(s))
		return false;
	while (sse_next_line(s, &line, &n)) {
		if (n) {
			sse_take_line(s, line, n);
		} else if (s->any) {
			s->fresh = true;
			*out = buf_str(&s->event);
			*out_n = s->event.len;
			return true;
		}
	}
	return false;
}
