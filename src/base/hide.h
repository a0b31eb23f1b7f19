/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HIDE_H
#define BASE_HIDE_H

#include "base/buf.h"

/* Least length of a secret to hide. Shorter keys such as "EMPTY" or "not-needed" may be ordinary
 * words of a text. */
#define HIDE_BYTES_MIN 12

/* Least length of a secret to hide in error messages about a key. It is shorter than
 * HIDE_BYTES_MIN, because such a message stays readable if an ordinary word is hidden in it. */
#define HIDE_COMPLAINT_BYTES_MIN 6

/*
 * Replace a secret in a text by "[key]". The secret is also found if it is escaped as in JSON
 * (\u0073, \/) or URLs (%2F). It is found even if escaped twice, because a reader of the text may
 * decode it. JSON stays valid. `secret` may be NULL: nothing is hidden.
 */
void hide_secret(struct buf *text, const char *secret);
void hide_in_complaint(struct buf *text, const char *secret);

/* Like hide_secret() for a C string, in place: the text never grows. */
void hide_in_text(char *text, const char *secret);

#endif
