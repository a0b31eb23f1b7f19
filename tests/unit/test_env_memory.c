/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/mem.h"
#include "base/scope.h"
#include "env/memory.h"

#include <errno.h>

/* What is kept of an agent's memory: all of it, or beside what others have kept meanwhile. */

struct merge {
	const char *began, *now, *ours;
	const char *kept; /* NULL: nothing, and... */
	const char *why;
};

#define OLD "{\"texts\":[\"a\"],\"tags\":[\"x\"]}"

static const struct merge merges[] = {
	/* nobody else: as it is */
	{ "", "", " { } ", " { } " },
	{ OLD, OLD, "{\"texts\":[],\"own\":1}", "{\"texts\":[],\"own\":1}" },
	{ "[]", "[]", "", "" },
	/* somebody else: their notes, then ours */
	{ "", OLD, "{\"texts\":[\"b\"]}", "{\"texts\":[\"a\",\"b\"],\"tags\":[\"x\"]}" },
	{ OLD, "{\"texts\":[\"a\",\"b\"],\"tags\":[\"x\",\"\"]}",
			"{\"texts\":[\"a\",\"c\"],\"tags\":[\"x\",\"y\"]}",
			"{\"texts\":[\"a\",\"b\",\"c\"],\"tags\":[\"x\",\"\",\"y\"]}" },
	{ "", OLD, OLD, OLD },
	{ "", OLD, "{\"texts\":[\"a\",\"a\"],\"tags\":[\"y\",\"x\"]}",
			"{\"texts\":[\"a\",\"a\"],\"tags\":[\"x\",\"y\"]}" },
	{ "", "{\"texts\":[\"a\",\"b\"]}", "{\"texts\":[\"c\"],\"embeddings\":[[1]],\"n\":2}",
			"{\"texts\":[\"a\",\"b\",\"c\"],\"embeddings\":[null,null,[1]]}" },
	{ OLD, "", OLD, OLD },
	/* what is no memory */
	{ "", "", "{", NULL, "the agent's memory:1:1: " },
	{ "", "", "[]", NULL, "the agent's memory is no JSON object" },
	{ "", "", "{\"texts\":3}", NULL, "'texts' of the agent's memory is no list" },
	{ "", "[]", "{}", NULL, "the memory that is there is no JSON object" },
	{ "", "{\"tags\":{}}", "{}", NULL, "'tags' of the memory that is there is no list" },
};

static struct buf buf_of(const char *text)
{
	struct buf b = BUF_INIT(4096);

	buf_add_str(&b, text);
	return b;
}

static void notes_of_all_are_kept(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(merges); i++) {
		const struct merge *m = &merges[i];
		auto_buf struct buf began = buf_of(m->began), now = buf_of(m->now);
		auto_buf struct buf ours = buf_of(m->ours), out = BUF_INIT(4096);
		struct fh_error err = FH_ERROR_INIT;
		int r = memory_merge(&(struct memory_change){ &began, &now, &ours }, &out, &err);

		if (m->kept && r < 0)
			fail_msg("%s", err.message);
		assert_int_equal(r, m->kept ? 0 : -EINVAL);
		if (m->kept)
			assert_string_equal(buf_str(&out), m->kept);
		else
			assert_non_null(strstr(err.message, m->why));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(notes_of_all_are_kept) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
