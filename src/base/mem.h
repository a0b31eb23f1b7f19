/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/*
 * Small allocations of our own: they never return NULL, out of memory ends the process. What is
 * large, or sized by someone else, uses malloc or a capped struct buf and returns an error.
 */
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull, nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull, nonnull));
/* A copy takes the place of what is there, which is freed; NULL: nothing is. */
void xstrset(char **field, const char *s) __attribute__((nonnull));
char *xasprintf(const char *format, ...)
		__attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

/* Zeroed memory that the process shares with what it forks; NULL if there is none. For munmap(). */
void *mem_share(size_t size);

#endif
