/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_SSE_H
#define MODEL_SSE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define SSE_EVENT_BYTES_MAX (16L * 1024 * 1024)

/*
 * A parser of server-sent events. Bytes may arrive in any pieces. Lines end with LF, CR or CRLF.
 * Lines of data are joined by a newline. A blank line ends an event. Comments, ids and retry times
 * are ignored.
 *
 *   sse_feed(&s, data, n);
 *   while (sse_next(&s, &text, &length)) ...
 */
struct sse {
	struct buf waiting; /* bytes of the stream that arrived, in which lines are searched */
	/* number of bytes at the start of `waiting` that were read as complete lines */
	size_t given;
	/* number of bytes of `waiting` after the first `given` that contain no line end */
	size_t scanned;
	struct buf event; /* data of the server-sent event that is being read */
	bool any;         /* a line of data of the current event was read, maybe an empty one */
	bool begun;       /* the start of the stream was checked for a byte order mark */
	/* the last line ended with a CR, so that an LF that follows belongs to the same line end */
	bool after_cr;
	/* sse_next() has returned `event`, so it must be cleared before the next line is added */
	bool fresh;
};

void sse_init(struct sse *s);
void sse_release(struct sse *s);
void sse_feed(struct sse *s, const char *data, size_t n);

/* Completes the last line and event at the end of a stream of server-sent events. */
void sse_end(struct sse *s);

/* Gives the data of the next complete event, which is valid until the next call. Returns false if
 * there is none. Skips events without data. */
bool sse_next(struct sse *s, const char **out, size_t *out_n);

/* Returns true if a line or an event of the stream was longer than the cap and was cut. */
bool sse_is_too_long(const struct sse *s);

#endif
