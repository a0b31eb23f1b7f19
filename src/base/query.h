/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_QUERY_H
#define BASE_QUERY_H

#include <stddef.h>

/*
 * Finds an argument in the query of a URL, and decodes its value into n bytes. `name` ends with
 * "=". 1: found. 0: the query lacks it. -EINVAL: the value is too long, or has wrong escapes.
 */
int query_argument(const char *query, const char *name, char *value, size_t n);

#endif
