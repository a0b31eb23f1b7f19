/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_SSE_H
#define MODEL_SSE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Server-sent events, however their bytes arrive. Lines end with LF, CR or CRLF; lines of data are
 * joined by a newline; a blank line ends an event. Comments, ids, and retry times are nothing to us.
 *
 *   sse_feed(&s, data, n);
 *   while (sse_next(&s, &text, &length)) ...
 */
#define SSE_EVENT_BYTES_MAX (16L * 1024 * 1024)

struct sse {
	struct buf waiting; /* bytes that came, and are no whole line yet */
	size_t given;       /* of those, how many were used */
	size_t scanned;     /* of those after them, in how many there is no end of a line */
	struct buf event;   /* data of the event that is being put together */
	bool any;           /* data, though it may be empty */
	bool begun;         /* the first bytes have come: no byte order mark any more */
	bool after_cr;      /* an LF that comes next belongs to the CR before it */
	bool fresh;         /* `event` was given out: the next line begins a new one */
};

void sse_init(struct sse *s);
void sse_release(struct sse *s);
void sse_feed(struct sse *s, const char *data, size_t n);

/* What is left when the bytes are over counts as a line, and the event as whole. */
void sse_end(struct sse *s);

/* The data of the next whole event; valid until the next call. Events without data are skipped. */
bool sse_next(struct sse *s, const char **out, size_t *out_n);

/* A line or an event was longer than the cap: what is given out is not the whole of it. */
bool sse_is_too_long(const struct sse *s);

#endif
