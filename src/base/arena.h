/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

/*
 * Memory for objects with the same lifetime: a config, a plan, a request. arena_release() frees
 * all of them. Allocations are zeroed, aligned for any type, and never NULL.
 */
struct arena {
	struct arena_block *last;
};

#define ARENA_INIT                                                                                 \
	{                                                                                          \
		.last = NULL                                                                       \
	}

void *arena_alloc(struct arena *a, size_t n) __attribute__((returns_nonnull));
void *arena_array(struct arena *a, size_t n, size_t size) __attribute__((returns_nonnull));
/* Makes room for one more item, of `size` bytes, behind the n items of an array. The array must
 * have grown from NULL by this function alone. Returns `items`, or a copy with twice the room. */
void *arena_grow(struct arena *a, void *items, size_t n, size_t size)
		__attribute__((returns_nonnull));
char *arena_strdup(struct arena *a, const char *s) __attribute__((returns_nonnull, nonnull));
char *arena_strndup(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));
char *arena_printf(struct arena *a, const char *format, ...)
		__attribute__((returns_nonnull, format(printf, 2, 3)));
void arena_release(struct arena *a);
void arena_wipe(struct arena *a); /* overwrites all of the memory with zeros, then releases it */

#define auto_arena __attribute__((cleanup(arena_release)))

#endif
