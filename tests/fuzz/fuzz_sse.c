/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "model/sse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fuzzes the reader of server-sent events. Takes the input as a stream. The events must be the same
 * whether they come whole, byte by byte or in pieces. The first byte is the length of the pieces.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define FOUND_BYTES_MAX (64 * 1024 * 1024)

static void add_events(struct sse *s, struct buf *out)
{
	const char *text;
	size_t n;

	while (sse_next(s, &text, &n)) {
		buf_printf(out, "%zu:", n);
		buf_add(out, text, n);
	}
}

static void read_in_pieces(const char *data, size_t n, size_t piece, struct buf *out)
{
	struct sse s;

	sse_init(&s);
	for (size_t i = 0; i < n; i += piece) {
		sse_feed(&s, data + i, n - i < piece ? n - i : piece);
		add_events(&s, out);
	}
	sse_end(&s);
	add_events(&s, out);
	sse_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_buf struct buf whole = BUF_INIT(FOUND_BYTES_MAX);
	size_t pieces[2] = { 1, 1 };

	if (!n)
		return 0;
	pieces[1] += *data;
	read_in_pieces((const char *)data, n, n, &whole);
	for (size_t i = 0; i < 2; i++) {
		auto_buf struct buf other = BUF_INIT(FOUND_BYTES_MAX);

		read_in_pieces((const char *)data, n, pieces[i], &other);
		if (other.len != whole.len ||
				(whole.len && memcmp(other.data, whole.data, whole.len) != 0))
			abort();
	}
	return 0;
}
