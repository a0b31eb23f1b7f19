/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define LINE_BYTES_MAX (16L * 1024 * 1024)

/* Reads lines from a descriptor. Lines over LINE_BYTES_MAX are skipped. */
struct lines {
	struct buf data;
	size_t given;  /* bytes at the start of `data` that lines_next() returned last */
	bool skipping; /* true while the rest of a line over LINE_BYTES_MAX is being skipped */
	bool ended;
};

#define LINES_INIT                                                                                 \
	{                                                                                          \
		.data = BUF_INIT(LINE_BYTES_MAX + 65536)                                           \
	}

enum lines_result {
	LINES_LINE,
	LINES_TOO_LONG, /* a line over LINE_BYTES_MAX was skipped */
	LINES_END,      /* end of input, or a read error */
	LINES_STOPPED,  /* stop_fd became readable */
};

/* Reads the next line, without its newline. The line is valid until the next call. The last line of
 * the input may lack a newline. */
enum lines_result lines_next(struct lines *l, int fd, int stop_fd, const char **out, size_t *out_n);
void lines_release(struct lines *l);
#define auto_lines __attribute__((cleanup(lines_release)))

#endif
