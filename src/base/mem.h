/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/*
 * Small allocations, which never return NULL: running out of memory ends the process. For large
 * sizes, or sizes from input, use malloc or a struct buf with a cap, and return an error.
 */
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
/* Makes room for one more item, of `size` bytes, behind the n items of an array. The array must
 * have grown from NULL by this function alone. */
void *xgrow(void *items, size_t n, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull, nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull, nonnull));
/* Frees the string *field, which may be NULL, and sets *field to a copy of s. */
void xstrset(char **field, const char *s) __attribute__((nonnull));
char *xasprintf(const char *format, ...)
		__attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

/* Frees a NULL-terminated heap array of heap strings. `strings` may be NULL. */
void xfree_strings(char **strings);

static inline void scope_strings(char **const *strings)
{
	xfree_strings(*strings);
}

#define auto_strings __attribute__((cleanup(scope_strings)))

/* Allocates zeroed memory that forked processes share. Release it with munmap(). NULL on
 * failure. */
void *mem_share(size_t size);

#endif
