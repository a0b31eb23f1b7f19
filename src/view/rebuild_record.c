/* SPDX-License-Identifier: Apache-2.0 */
#include "view/rebuild_record.h"

#include "base/scope.h"
#include "base/str.h"
#include "view/record.h"

#include <string.h>

/* Returns the working directory of a state, which is an object or its text. */
static const char *rebuild_record_folder(struct arena *a, const struct pyjson *state)
{
	struct pyjson_source source = { .name = "state", .data = pyjson_string(state) };

	if (source.data) {
		source.n = strlen(source.data);
		if (pyjson_read(a, &source, &state, NULL) < 0)
			return NULL;
	}
	return pyjson_string(pyjson_get(state, "working_dir"));
}

/* 1: the command succeeded, 0: it failed, -1: unknown. */
static int rebuild_record_succeeded(const struct pyjson *info)
{
	int64_t code;

	if (!pyjson_i64(pyjson_get(info, "exit_code"), &code))
		return -1;
	return code == 0 && str_eq(pyjson_text(pyjson_get(info, "outcome")), "ok");
}

static void rebuild_record_take(
		struct rebuild *b, struct arena *a, const struct pyjson *step, bool mlgym)
{
	const struct pyjson *info = pyjson_get(step, "info");
	struct rebuilt_step s = {
		.action = run_text_of(step, "action"),
		.observation = run_text_of(step, "observation"),
		.folder = rebuild_record_folder(a, pyjson_get(step, "state")),
		.folder_after = rebuild_record_folder(a, pyjson_get(info, "state")),
		.succeeded = rebuild_record_succeeded(info),
		.mlgym = mlgym,
	};

	rebuild_step(b, &s);
}

void rebuild_record(struct rebuild *b, const struct record *r, size_t n)
{
	auto_buf struct buf text = BUF_INIT(RECORD_PART_BYTES_MAX);

	while (b->steps < n && b->steps < r->n_steps) {
		const struct record_step *s = &r->steps[b->steps];
		struct pyjson_source source = { .name = "step" };
		struct arena arena = ARENA_INIT;
		const struct pyjson *step = NULL;

		buf_clear(&text);
		if (record_read(r, s->begin, s->end, &text, NULL) >= 0) {
			source.data = buf_str(&text);
			source.n = text.len;
			if (pyjson_read(&arena, &source, &step, NULL) < 0)
				step = NULL;
		}
		rebuild_record_take(b, &arena, step, !r->events);
		arena_release(&arena);
	}
}
