/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Noreturn static void mem_exhausted(void)
{
	static const char said[] = "fumehood: no memory is left\n";
	ssize_t n = write(STDERR_FILENO, said, sizeof(said) - 1);

	(void)n;
	abort();
}

static void *mem_must(void *p)
{
	if (!p)
		mem_exhausted();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	return mem_must(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n, size_t size)
{
	return mem_must(reallocarray(p, n ? n : 1, size ? size : 1));
}

void *xgrow(void *items, size_t n, size_t size)
{
	/* The array is full when n is 0 or a power of two. */
	return n & (n - 1) ? items : xrealloc(items, n ? 2 * n : 1, size);
}

char *xstrdup(const char *s)
{
	return mem_must(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return mem_must(strndup(s, n));
}

void xstrset(char **field, const char *s)
{
	char *copy = xstrdup(s);

	free(*field);
	*field = copy;
}

char *xasprintf(const char *format, ...)
{
	char *s = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&s, format, ap) < 0)
		mem_exhausted();
	va_end(ap);
	return s;
}

void xfree_strings(char **strings)
{
	for (char **s = strings; s && *s; s++)
		free(*s);
	free(strings);
}

void *mem_share(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}
