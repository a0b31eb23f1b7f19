/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_LENIENT_H
#define MODEL_LENIENT_H

#include "base/json.h"

/*
 * As json_parse(), for servers that cut texts at any byte. Half of a surrogate pair (\ud83d alone,
 * which Python's json accepts) and bytes that are no UTF-8 become U+FFFD. RFC 8259, 8.2 allows
 * this.
 */
int lenient_json(const char *what, const char *text, size_t n, json_t **out, struct fh_error *err);

#endif
