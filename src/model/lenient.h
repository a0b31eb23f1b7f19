/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_LENIENT_H
#define MODEL_LENIENT_H

#include "base/json.h"

/*
 * Parses JSON like json_parse(), but accepts strings that a server has cut at any byte. In them,
 * invalid UTF-8 and half of a surrogate pair become U+FFFD. Python's json module accepts half a
 * pair too, and RFC 8259, 8.2 allows this.
 */
int lenient_json(const char *what, const char *text, size_t n, json_t **out, struct fh_error *err);

#endif
