/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads lines from a descriptor. Longer lines than LINE_BYTES_MAX are skipped. */
#define LINE_BYTES_MAX (16L * 1024 * 1024)

struct lines {
	struct buf data;
	size_t given;  /* bytes of `data` that the last line took */
	bool skipping; /* inside of a line that is too long */
	bool ended;
};

#define LINES_INIT                                                                                 \
	{                                                                                          \
		.data = BUF_INIT(LINE_BYTES_MAX + 65536)                                           \
	}

enum lines_result {
	LINES_LINE,
	LINES_TOO_LONG, /* once for each such line */
	LINES_END,      /* end of input, or an error */
	LINES_STOPPED,  /* stop_fd became readable */
};

/* Gives the next line without its newline, valid until the next call. The last may have none. */
enum lines_result lines_next(struct lines *l, int fd, int stop_fd, const char **out, size_t *out_n);
void lines_release(struct lines *l);

#endif
