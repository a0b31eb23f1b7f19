/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "env/memory_merge.h"
#include "inside/tools.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fuzzes the merging of agents' memories. Takes the input as two memories, one a line, and merges
 * the second into the first. The result must be a memory itself. To merge an empty memory into it
 * must change nothing.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int merge(const struct buf *now, const struct buf *ours, struct buf *out)
{
	auto_buf struct buf began = BUF_INIT(1);

	return memory_merge(&(struct memory_change){ &began, now, ours }, out, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_buf struct buf now = BUF_INIT(GUEST_MEMORY_BYTES_MAX), ours = now, none = now;
	auto_buf struct buf both = now, again = now;
	const uint8_t *line = memchr(data, '\n', n);
	size_t first = line ? (size_t)(line - data) : n;

	buf_add(&now, data, first);
	if (line)
		buf_add(&ours, line + 1, n - first - 1);
	if (!now.len || merge(&now, &ours, &both) < 0)
		return 0;
	if (merge(&both, &none, &again) < 0 || !buf_equal(&both, &again))
		abort();
	return 0;
}
