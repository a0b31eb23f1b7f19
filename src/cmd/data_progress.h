/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_DATA_PROGRESS_H
#define CMD_DATA_PROGRESS_H

#include "base/buf.h"

#include <stdint.h>

/*
 * Progress line of a file that is fetched: the bytes that it has, the rate and the time left.
 *   [#########           ]   45%  54.0 MB of 119.7 MB  12.3 MB/s  0:05 left  train.parquet
 */
struct data_progress {
	const char *name; /* name_copy, the file's name; NULL: no line is drawn */
	char name_copy[80];
	int64_t began_bytes; /* bytes that the file had when its progress was drawn first */
	int64_t began_ns, drawn_ns;
};

/* Draws the progress line of a fetched file on stderr, a terminal, a few times a second. */
void data_progress_draw(
		struct data_progress *p, const char *name, int64_t done_bytes, int64_t size_bytes);

/* Removes the progress line from stderr, if one is drawn. */
void data_progress_clear(struct data_progress *p);

/* Appends a size as "54.0 MB". */
void data_add_size(struct buf *out, int64_t bytes);

#endif
