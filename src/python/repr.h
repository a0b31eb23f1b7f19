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
 * The build asks its Python for the printable characters, because new versions of Unicode add some.
 */

/* Appends n bytes as Python shows a str in quotes. Bytes that are not UTF-8 become \udcNN, as in
 * Python's names of files. */
void repr_add_text(struct buf *out, const char *s, size_t n);

void repr_add_json(struct buf *out, json_t *value);

#endif
