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
	struct buf waiting; /* bytes of the stream that arrived, from which lines are read */
	size_t given;       /* number of bytes of `waiting` that were read as complete lines */
	/* number of bytes of `waiting` after `given` that were searched: no line ends in them */
	size_t scanned;
	struct buf event; /* data of the event that is being read */
	bool any;         /* a line of data of the event was read, maybe an empty one */
	bool begun;       /* the start of the stream was checked for a byte order mark */
	bool after_cr; /* the last line ended with a CR: an LF that follows belongs to that end */
	/* sse_next() has returned `event`, so it must be cleared before the next line is added */
	bool fresh;
};

void sse_init(struct sse *s);
void sse_release(struct sse *s);
void sse_feed(struct sse *s, const char *data, size_t n);

/* Call it at the end of the stream, to complete its last line and event. */
void sse_end(struct sse *s);

/* Gives the data of the next complete event; false if there is none. Valid until the next call.
 * Skips events without data. */
bool sse_next(struct sse *s, const char **out, size_t *out_n);

/* True if a line or an event exceeded the cap, so that some of it was dropped. */
bool sse_is_too_long(const struct sse *s);

#endif
