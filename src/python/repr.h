/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PYTHON_REPR_H
#define PYTHON_REPR_H

#include "base/buf.h"
#include "base/json.h"

#include <stddef.h>

/*
 * Texts and JSON values exactly as repr() of CPython shows them:
 *
 *   {'Score': 1.25, 'ok': True, 'x': None, 'l': ['a', "it's", 'bell \x07']}
 *
 * The build asks its Python which characters are printable, because that changes with Unicode.
 */

/* Appends n bytes as a str in quotes. Bytes that are no UTF-8 show as \udcNN, as Python decodes
 * the names of files. */
void repr_add_text(struct buf *out, const char *s, size_t n);

void repr_add_json(struct buf *out, json_t *value);

#endif
