/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HIDE_H
#define BASE_HIDE_H

#include "base/buf.h"

/* Shorter secrets are not hidden: "EMPTY" or "not-needed" are words that a text may need. */
#define HIDE_BYTES_MIN 12

/* For error messages about a key, which don't need such words. */
#define HIDE_COMPLAINT_BYTES_MIN 6

/*
 * Replace a secret in a text by "[key]". They find it escaped as in JSON (\u0073, \/) or URLs
 * (%2F). They find it escaped twice, too, because a later reader may decode it. JSON stays valid.
 * NULL: no secret.
 */
void hide_secret(struct buf *text, const char *secret);
void hide_in_complaint(struct buf *text, const char *secret);

/* The same for a string, in place: it gets no longer. */
void hide_in_text(char *text, const char *secret);

#endif
