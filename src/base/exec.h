/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_EXEC_H
#define BASE_EXEC_H

#include <stdint.h>

/*
 * Gives a list of strings the type that execve(2), posix_spawn(3), fts_open(3) and environ have.
 * Their types have no const, but nobody changes the list or its strings. The cast is only here.
 */
static inline char **exec_list(const char *const *list)
{
	return (char **)(uintptr_t)list;
}

#endif
