/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Lines from a descriptor, however they arrive; a line has a cap, and what is longer is skipped. */
#define LINE_BYTES_MAX (16L * 1024 * 1024)

struct lines {
	struct buf data;
	size_t given;  /* bytes at its beginning that were given out */
	bool skipping; /* within a line that is too long */
	bool ended;
};

#define LINES_INIT                                                                                 \
	{                                                                                          \
		.data = BUF_INIT(LINE_BYTES_MAX + 65536)                                           \
	}

enum lines_result {
	LINES_LINE,
	LINES_TOO_LONG, /* said once for the whole line */
	LINES_END,      /* of input, or it can't be read any more */
	LINES_STOPPED,  /* stop_fd became readable */
};

/* The line without its end, valid until the next call. The last one may lack its newline. */
enum lines_result lines_next(struct lines *l, int fd, int stop_fd, const char **out, size_t *out_n);
void lines_release(struct lines *l);

#endif
