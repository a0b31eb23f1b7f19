/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUF_FIRST_BYTES 256

void buf_init(struct buf *b, size_t cap)
{
	*b = (struct buf)BUF_INIT(cap);
}

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf)BUF_INIT(b->cap);
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->truncated = false;
	if (b->data)
		b->data[0] = '\0';
}

size_t buf_reserve(struct buf *b, size_t n)
{
	size_t room = b->cap - b->len;
	size_t want, size;
	char *data;

	if (n > room) {
		n = room;
		b->truncated = true;
	}
	want = b->len + n + 1;
	if (want > b->size) {
		size = b->size ? b->size : BUF_FIRST_BYTES;
		while (size < want)
			size *= 2;
		data = realloc(b->data, size);
		if (!data) {
			b->truncated = true;
			return b->size ? b->size - b->len - 1 : 0;
		}
		b->data = data;
		b->size = size;
		b->data[b->len] = '\0';
	}
	return n;
}

void buf_add(struct buf *b, const void *data, size_t n)
{
	size_t room = buf_reserve(b, n);

	if (room < n)
		n = room;
	if (!b->data)
		return;
	if (n)
		memcpy(b->data + b->len, data, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_add_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_add_char(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *format, va_list ap)
{
	char small[256];
	va_list again;
	char *text;
	int n;

	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), format, ap);
	if (n >= 0 && (size_t)n < sizeof(small)) {
		buf_add(b, small, (size_t)n);
	} else if (vasprintf(&text, format, again) >= 0) {
		buf_add_str(b, text);
		free(text);
	}
	va_end(again);
}

void buf_printf(struct buf *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	buf_vprintf(b, format, ap);
	va_end(ap);
}

void buf_consume(struct buf *b, size_t n)
{
	if (n > b->len)
		n = b->len;
	if (!n)
		return;
	memmove(b->data, b->data + n, b->len - n);
	b->len -= n;
	b->data[b->len] = '\0';
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

bool buf_equal(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

char *buf_take(struct buf *b)
{
	char *s = b->data ? b->data : xstrdup("");

	b->data = NULL;
	buf_release(b);
	return s;
}
