/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "view/replayed.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fuzzes the files that the viewer rebuilds. The input is a list of actions and observations, each
 * ended by the byte 30. The whole input is also read as the notes of a replay. Unknown lines are
 * counted rightly, and steps of versions never go back.
 */

#define END 30

static struct run_text next_text(const char **at, const char *end)
{
	const char *begin = *at, *stop = memchr(begin, END, (size_t)(end - begin));

	*at = stop ? stop + 1 : end;
	return (struct run_text){ begin, (size_t)((stop ? stop : end) - begin) };
}

static void check_file(const struct rebuild *b, const struct rebuilt_file *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct rebuilt_version *v = &f->versions[i];
		size_t unknown = 0, sum = 0;

		for (size_t k = 0; k < v->n; k++) {
			unknown += !v->lines[k].text;
			for (size_t c = 0; v->lines[k].text && c < v->lines[k].n; c++)
				sum += (unsigned char)v->lines[k].text[c];
		}
		if (unknown != v->unknown || v->step > b->steps || sum == SIZE_MAX ||
				(i && v->step < f->versions[i - 1].step))
			__builtin_trap();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	/* A copy, so that a read behind its end is found. */
	auto_free char *copy = memcpy(malloc(n ? n : 1), data, n);
	struct rebuild *b = rebuild_new(0);
	const char *at = copy, *end = copy + n;

	while (at < end) {
		struct rebuilt_step step = { .action = next_text(&at, end) };
		int kind = step.action.n ? step.action.text[0] & 3 : 0;

		step.observation = next_text(&at, end);
		step.succeeded = kind - 1 > 1 ? 1 : kind - 1;
		rebuild_step(b, &step);
	}
	for (size_t i = 0; i < b->n; i++)
		check_file(b, &b->files[i]);
	replayed_read(b, copy, n, 0);
	for (size_t i = 0; i < b->n; i++)
		check_file(b, &b->files[i]);
	rebuild_free(b);
	return 0;
}
