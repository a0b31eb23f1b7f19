/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "view/steps_cache.h"
#include "view/record_parts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fuzzes the text that the index keeps of a large record. Places lie in the record, and a text that
 * is written again stays the same. The first byte says which kind of record it is.
 */

static void check_places(const struct record *r)
{
	for (size_t i = 0; i < r->n_steps; i++) {
		const struct record_step *s = &r->steps[i];

		if (s->begin < 0 || s->end < s->begin || s->end > r->size || !s->head)
			__builtin_trap();
	}
	for (size_t i = 0; i < r->n_messages; i++)
		if (r->messages[i].begin < 0 || r->messages[i].end < r->messages[i].begin ||
				r->messages[i].end > r->size)
			__builtin_trap();
}

static void check_again(const struct record *r, const char *hash)
{
	struct record other = { .path = r->path, .events = r->events };
	auto_buf struct buf once = BUF_INIT(STEPS_CACHE_BYTES_MAX),
			    twice = BUF_INIT(STEPS_CACHE_BYTES_MAX);
	char same[STEPS_CACHE_HASH_BYTES];

	steps_cache_put(r, hash, &once);
	if (!steps_cache_parse(&other, buf_str(&once), once.len, same))
		__builtin_trap();
	steps_cache_put(&other, same, &twice);
	if (strcmp(buf_str(&once), buf_str(&twice)) != 0)
		__builtin_trap();
	parts_release(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char path[] = "events.jsonl", hash[STEPS_CACHE_HASH_BYTES];
	struct record record = { .path = path };
	char *copy;

	if (!n)
		return 0;
	record.events = *data & 1;
	/* A copy, so that a read behind its end is found. */
	copy = memcpy(malloc(n - 1), data + 1, n - 1);
	if (steps_cache_parse(&record, copy, n - 1, hash)) {
		check_places(&record);
		check_again(&record, hash);
	}
	parts_release(&record);
	free(copy);
	return 0;
}
