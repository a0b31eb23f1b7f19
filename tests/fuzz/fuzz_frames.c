/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/str.h"
#include "serve/frames.h"

#include <stdlib.h>
#include <string.h>

/*
 * Fuzzes the reader of a WebSocket's frames. The first byte of the input is the size of the pieces
 * in which the rest comes. The pieces must not make a difference.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define TEXT_MAX 1000

static void check(bool ok)
{
	if (!ok)
		__builtin_trap();
}

struct result {
	size_t n_events[FRAMES_WRONG + 1], n_bytes;
	long status;
};

static void take(struct frames *f, enum frames_event event, struct result *out)
{
	out->n_events[event]++;
	check(f->n_control <= FRAME_CONTROL_MAX && f->text.len <= TEXT_MAX);
	if (event == FRAMES_PING)
		out->n_bytes += f->n_control;
	if (event != FRAMES_TEXT)
		return;
	check(str_utf8_invalid(buf_str(&f->text), f->text.len) < 0);
	out->n_bytes += f->text.len;
	buf_clear(&f->text);
}

static struct result read_all(const uint8_t *data, size_t n, size_t piece)
{
	struct result out = { 0 };
	struct frames f;

	frames_init(&f, TEXT_MAX);
	while (n && !out.status) {
		size_t size = n < piece ? n : piece, left = size;
		/* a copy of the exact size, so that a read beyond it is found */
		char *bytes = xcalloc(1, size);
		const char *at = bytes;
		enum frames_event event = FRAMES_PONG;

		memcpy(bytes, data, size);
		while (event != FRAMES_MORE && !out.status) {
			event = frames_take(&f, &at, &left);
			check(at + left == bytes + size && (event != FRAMES_MORE || !left));
			if (event != FRAMES_MORE)
				take(&f, event, &out);
			if (event == FRAMES_CLOSE || event == FRAMES_WRONG)
				out.status = f.status;
		}
		free(bytes);
		data += size;
		n -= size;
	}
	check(!out.status || (out.status >= 1000 && out.status < 5000));
	frames_release(&f);
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct result whole, pieces;

	if (n < 2 || n > 65536)
		return 0;
	whole = read_all(data + 1, n - 1, n);
	pieces = read_all(data + 1, n - 1, 1 + data[0]);
	check(memcmp(&whole, &pieces, sizeof(whole)) == 0);
	return 0;
}
