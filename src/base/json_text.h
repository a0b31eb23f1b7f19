/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include "base/buf.h"

/* Writes JSON strings. Programs that don't link jansson can include this header, but not
 * base/json.h. */

enum json_text_form {
	JSON_TEXT_UTF8,  /* escape control characters, " and \; write others as UTF-8 */
	JSON_TEXT_ASCII, /* as Python's json.dumps(): characters outside of ASCII become \uNNNN */
	JSON_TEXT_BYTES, /* like JSON_TEXT_UTF8, but NUL becomes the text \x00 */
};

/* Appends n bytes as a JSON string with quotes. A byte that is not UTF-8 becomes the text \xNN. */
void json_text_add(struct buf *out, const char *s, size_t n, enum json_text_form form);

/* Length in bytes of s as a JSON_TEXT_ASCII string without quotes. s must be valid UTF-8; 0 for
 * NULL. */
size_t json_text_bytes(const char *s);

#endif
