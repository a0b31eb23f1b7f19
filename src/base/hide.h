/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HIDE_H
#define BASE_HIDE_H

#include "base/buf.h"

/* A secret of at least this many bytes is hidden: what is shorter keeps nobody out, and is a word ("EMPTY",
 * "not-needed") that a text may well need. */
#define HIDE_BYTES_MIN 12

/* The same in a sentence that complains of a key, which needs no such word. */
#define HIDE_COMPLAINT_BYTES_MIN 6

/*
 * "[key]" takes the place of a secret wherever the text says it, be its characters escaped as in JSON (\u0073, \/) or
 * as in addresses (%2F), and be that escaped again: what reads the text later may decode it. JSON stays JSON. NULL: there is no secret.
 */
void hide_secret(struct buf *text, const char *secret);
void hide_in_complaint(struct buf *text, const char *secret);

/* The same of a string, which gets no longer. */
void hide_in_text(char *text, const char *secret);

#endif
