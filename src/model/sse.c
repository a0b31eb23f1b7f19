/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sse.h"

#include "base/str.h"

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

/* A byte order mark may come before all, and in pieces: false while that can't be told. */
static bool skip_mark(struct sse *s)
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

static const char *find_end(const char *text, size_t n)
{
	/* One way through: a search for each of the two would read all of many short lines for each. */
	for (const char *end = text + n; text < end; text++)
		if (*text == '\n' || *text == '\r')
			return text;
	return NULL;
}

/* A whole line, without its end. */
static bool next_line(struct sse *s, const char **out, size_t *out_n)
{
	const char *line, *end;

	if (!s->waiting.data)
		return false;
	if (s->after_cr && s->given < s->waiting.len) {
		s->after_cr = false;
		if (s->waiting.data[s->given] == '\n')
			s->given++;
	}
	line = s->waiting.data + s->given;
	end = find_end(line + s->scanned, s->waiting.len - s->given - s->scanned);
	if (!end) {
		s->scanned = s->waiting.len - s->given;
		return false;
	}
	s->scanned = 0;
	s->after_cr = *end == '\r';
	*out = line;
	*out_n = (size_t)(end - line);
	s->given += *out_n + 1;
	return true;
}

/* "data: text" or "data"; anything else says nothing to us. */
static void take_line(struct sse *s, const char *line, size_t n)
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
	if (!skip_mark(s))
		return false;
	while (next_line(s, &line, &n)) {
		if (n) {
			take_line(s, line, n);
		} else if (s->any) {
			s->fresh = true;
			*out = buf_str(&s->event);
			*out_n = s->event.len;
			return true;
		}
	}
	return false;
}
