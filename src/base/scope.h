/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SCOPE_H
#define BASE_SCOPE_H

#include <stdlib.h>
#include <unistd.h>

/*
 * Release by scope, transfer by name. The end of a scope releases variables with these attributes,
 * unless take_fd() or take_ptr() has moved the value out.
 */

static inline void scope_free(void *p)
{
	free(*(void **)p);
}

static inline void scope_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define auto_free __attribute__((cleanup(scope_free)))
#define auto_close __attribute__((cleanup(scope_close)))

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(p) *take_ptr_from = &(p);                                               \
		__typeof__(p) take_ptr_value = *take_ptr_from;                                     \
		*take_ptr_from = NULL;                                                             \
		take_ptr_value;                                                                    \
	})

/* Safe to call twice. */
static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
