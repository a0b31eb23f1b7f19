/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_SSE_H
#define MODEL_SSE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * A parser of server-sent events. Bytes may arrive in any pieces. Lines end with LF, CR or CRLF.
 * Lines of data are joined by a newline. A blank line ends an event. Comments, ids and retry times
 * are ignored.
 *
 *   sse_feed(&s, data, n);
 *   while (sse_next(&s, &text, &length)) ...
 */
#define SSE_EVENT_BYTES_MAX (16L * 1024 * 1024)

struct sse {
	struct buf waiting; /* bytes that arrived */
	size_t given;       /* how many of these were used */
	size_t scanned;     /* how many of the unused ones hold no line end */
	struct buf event;   /* data of the current event */
	bool any;           /* the event has data, perhaps empty */
	bool begun;         /* a byte order mark can't follow any more */
	bool after_cr;      /* an LF that comes next belongs to the CR before it */
	bool fresh;         /* `event` was given out: the next line begins a new one */
};

void sse_init(struct sse *s);
void sse_release(struct sse *s);
void sse_feed(struct sse *s, const char *data, size_t n);

/* At the end of input: completes the last line and its event. */
void sse_end(struct sse *s);

/* Gives the data of the next complete event; valid until the next call. Skips events without
 * data. */
bool sse_next(struct sse *s, const char **out, size_t *out_n);

/* True if a line or an event exceeded the cap, so that data was lost. */
bool sse_is_too_long(const struct sse *s);

#endif
