/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_STREAM_H
#define VIEW_STREAM_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * An answer that goes on: server-sent events. The loop asks each stream for news four times a
 * second. It waits until the page has taken the last ones, so changes are merged for slow pages.
 */
struct stream {
	const struct stream_kind *kind;
};

struct stream_kind {
	/* Appends events. Returns false after the last one. */
	bool (*more)(struct stream *s, struct buf *out);
	/* Frees the stream. False: it can't be freed yet, and is to be closed again later. */
	bool (*close)(struct stream *s);
};

/* Appends an event. `json` is a text in one line. */
static inline void stream_add_event(struct buf *out, const char *name, const struct buf *json)
{
	buf_printf(out, "event: %s\ndata: ", name);
	buf_add(out, json->data, json->len);
	buf_add_str(out, "\n\n");
}

#endif
