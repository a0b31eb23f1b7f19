/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A growing byte buffer with a cap. Bytes over the cap are dropped and set `truncated`, so that
 * untrusted input can't make it grow further. Running out of memory counts as hitting the cap.
 * `data` is NULL until something is added. After that a NUL byte follows it, which `len` leaves
 * out.
 */
struct buf {
	char *data;
	size_t len;
	size_t size; /* allocated */
	size_t cap;  /* most bytes that len may reach */
	bool truncated;
};

#define BUF_INIT(most)                                                                             \
	{                                                                                          \
		.cap = (most)                                                                      \
	}

void buf_init(struct buf *b, size_t cap);
void buf_release(struct buf *b);

/* Empties the buffer and keeps its memory. */
void buf_clear(struct buf *b);

void buf_add(struct buf *b, const void *data, size_t n);
void buf_add_str(struct buf *b, const char *s);
void buf_add_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list ap)
		__attribute__((format(printf, 2, 0)));

/* Makes room for n more bytes at data + len, or fewer at the cap. Returns how many. */
size_t buf_reserve(struct buf *b, size_t n);

/* Removes the first n bytes. */
void buf_consume(struct buf *b, size_t n);

/* The text; "" if nothing was added. Valid until the next change. */
const char *buf_str(const struct buf *b);

bool buf_equal(const struct buf *a, const struct buf *b); /* the same bytes */

/* Moves the text out as a heap string, and leaves the buffer empty. */
char *buf_take(struct buf *b);

#define auto_buf __attribute__((cleanup(buf_release)))

#endif
