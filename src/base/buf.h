/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A growing byte buffer with a cap. Bytes over the cap are dropped and set `truncated`, so that
 * untrusted input can't make the buffer grow further. Running out of memory counts as hitting the
 * cap. `data` is NULL until something is added. After that a NUL byte follows the data. `len` does
 * not count the NUL.
 */
struct buf {
	char *data;
	size_t len;
	size_t size; /* bytes allocated for `data` */
	size_t cap;  /* upper limit of `len` */
	bool truncated;
};

#define BUF_INIT(most)                                                                             \
	{                                                                                          \
		.cap = (most)                                                                      \
	}

void buf_init(struct buf *b, size_t cap);
void buf_release(struct buf *b);

/* Empties the buffer and keeps the allocated memory for new data. */
void buf_clear(struct buf *b);

void buf_add(struct buf *b, const void *data, size_t n);
void buf_add_str(struct buf *b, const char *s);
void buf_add_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list ap)
		__attribute__((format(printf, 2, 0)));

/* Makes room for n more bytes at data + len, or for fewer if the cap comes first. Returns how many
 * bytes may be written there. */
size_t buf_reserve(struct buf *b, size_t n);

/* Removes the first n bytes of the buffer and moves the rest to the front. */
void buf_consume(struct buf *b, size_t n);

/* The buffer as a C string; "" if nothing was added. Valid until the next change of the buffer. */
const char *buf_str(const struct buf *b);

bool buf_equal(const struct buf *a, const struct buf *b); /* true if both hold equal bytes */

/* Moves the buffer's text out as a heap string, and leaves the buffer empty. */
char *buf_take(struct buf *b);

#define auto_buf __attribute__((cleanup(buf_release)))

#endif
