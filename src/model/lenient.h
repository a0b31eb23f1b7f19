/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_LENIENT_H
#define MODEL_LENIENT_H

#include "base/json.h"

/*
 * JSON of servers that cut texts anywhere: half a pair of surrogates (\ud83d alone, which Python's json takes)
 * and bytes that are no UTF-8 become U+FFFD, as RFC 8259, 8.2 leaves open. Otherwise as json_parse().
 */
int lenient_json(const char *what, const char *text, size_t n, json_t **out, struct fh_error *err);

#endif
