/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "view/record_parts.h"
#include "trajectory/splitter.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fuzzes the viewer's reader of records. The first byte says which kind of record the rest is, and
 * into pieces of which size it is cut. The parts of a record don't depend on the pieces.
 */

struct found {
	const char *data;
	struct record *record;
	size_t n;
	uint64_t sum;
};

static void take(void *user, enum record_part part, int64_t begin, int64_t end)
{
	struct found *f = user;
	struct run_part taken = { .part = part,
		.begin = begin,
		.end = end,
		.data = f->data + begin,
		.n = (size_t)(end - begin) };

	if (begin < 0 || end < begin)
		__builtin_trap();
	f->n++;
	f->sum = f->sum * 31 + (uint64_t)begin * 7 + (uint64_t)end + (uint64_t)part;
	if (!f->record)
		return;
	if (part == PART_MESSAGE)
		parts_add_message(f->record, begin, end);
	else
		parts_take(f->record, &taken);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char path[] = "model__task__agent__x/no-such-task.traj";
	struct record record = { .path = path };
	struct found whole = { .record = &record }, cut = { 0 };
	size_t piece, at;
	struct splitter s;

	if (!n)
		return 0;
	record.events = *data & 1;
	piece = (size_t)(*data >> 1) + 1;
	/* A copy, so that a read behind its end is found. */
	whole.data = cut.data = memcpy(malloc(n - 1), data + 1, n - 1);
	splitter_init(&s, record.events);
	splitter_bytes(&s, whole.data, n - 1, take, &whole);
	splitter_init(&s, record.events);
	for (at = 0; at < n - 1; at += piece)
		splitter_bytes(&s, cut.data + at, n - 1 - at < piece ? n - 1 - at : piece, take,
				&cut);
	if (whole.n != cut.n || whole.sum != cut.sum)
		__builtin_trap();
	parts_release(&record);
	free((void *)(uintptr_t)whole.data);
	return 0;
}
