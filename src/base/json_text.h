/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include "base/buf.h"

/* Strings of JSON. Programs that don't link jansson can use this header, but not base/json.h. */
enum json_text_form {
	JSON_TEXT_UTF8,  /* control characters are escaped, others stay */
	JSON_TEXT_ASCII, /* as Python's json.dumps(): other characters become \uNNNN, too */
	JSON_TEXT_BYTES, /* UTF-8 of any bytes: NUL becomes the text \x00 */
};

/* Appends n bytes as a JSON string with its quotes. A byte that is no UTF-8 becomes the text
 * \xNN. */
void json_text_add(struct buf *out, const char *s, size_t n, enum json_text_form form);

/* Bytes of valid UTF-8 as JSON_TEXT_ASCII, without quotes. NULL has none. */
size_t json_text_bytes(const char *s);

#endif
