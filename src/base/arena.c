/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BLOCK_BYTES 4096

struct arena_block {
	struct arena_block *before;
	size_t used, size;
	_Alignas(max_align_t) char data[];
};

void *arena_alloc(struct arena *a, size_t n)
{
	struct arena_block *b = a->last;
	size_t align = _Alignof(max_align_t);

	if (n > SIZE_MAX - align)
		abort();
	n = (n + align - 1) & ~(align - 1);
	if (!b || b->size - b->used < n) {
		size_t size = n > ARENA_BLOCK_BYTES ? n : ARENA_BLOCK_BYTES;

		if (size > SIZE_MAX - sizeof(*b))
			abort();
		b = xcalloc(1, sizeof(*b) + size);
		b->size = size;
		b->before = a->last;
		a->last = b;
	}
	b->used += n;
	return b->data + b->used - n;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		abort();
	return arena_alloc(a, bytes);
}

void *arena_grow(struct arena *a, void *items, size_t n, size_t size)
{
	void *bigger;

	if (n & (n - 1)) /* the array is full when n is 0 or a power of two */
		return items;
	bigger = arena_array(a, n ? 2 * n : 1, size);
	return n ? memcpy(bigger, items, n * size) : bigger;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *copy = arena_alloc(a, n + 1);

	if (n)
		memcpy(copy, s, n);
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *format, ...)
{
	va_list ap, again;
	char *s;
	int n;

	va_start(ap, format);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0)
		abort();
	s = arena_alloc(a, (size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, format, again);
	va_end(again);
	return s;
}

void arena_wipe(struct arena *a)
{
	for (struct arena_block *b = a->last; b; b = b->before)
		explicit_bzero(b->data, b->used);
	arena_release(a);
}

void arena_release(struct arena *a)
{
	while (a->last) {
		struct arena_block *b = a->last;

		a->last = b->before;
		free(b);
	}
}
