/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "env/memory_merge.h"
#include "inside/tools.h"

#include <errno.h>
#include <malloc.h>

/* An agent's memory is kept whole, or merged with notes that others kept meanwhile. */

struct merge {
	const char *began, *now, *ours;
	const char *kept; /* NULL: nothing is kept, and `why` is reported */
	const char *why;
};

#define OLD "{\"texts\":[\"a\"],\"tags\":[\"x\"]}"

static const struct merge merges[] = {
	/* no other agent kept notes: the memory is kept as it is */
	{ "", "", " { } ", " { } " },
	{ OLD, OLD, "{\"texts\":[],\"own\":1}", "{\"texts\":[],\"own\":1}" },
	{ "[]", "[]", "", "" },
	/* another agent kept notes: theirs come first, then ours */
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
	/* invalid memories */
	{ "", "", "{", NULL, "the agent's memory:1:1: " },
	{ "", "", "[]", NULL, "the agent's memory is not a JSON object" },
	{ "", "", "{\"texts\":3}", NULL, "'texts' of the agent's memory is not a list" },
	{ "", "[]", "{}", NULL, "the kept memory is not a JSON object" },
	{ "", "{\"tags\":{}}", "{}", NULL, "'tags' of the kept memory is not a list" },
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

/* --- merging large memories ------------------------------------------------------------------- */

/* Counters of all memory that jansson allocates. */
static size_t n_bytes, most_bytes;
static long n_left = -1; /* allocations until all fail; negative: none fails */

static void *take(size_t n)
{
	void *p = n_left == 0 ? NULL : malloc(n);

	if (n_left > 0)
		n_left--;
	if (p)
		n_bytes += malloc_usable_size(p);
	if (n_bytes > most_bytes)
		most_bytes = n_bytes;
	return p;
}

static void give(void *p)
{
	if (p)
		n_bytes -= malloc_usable_size(p);
	free(p);
}

/* Describes a memory of `n_lists` lists of `n` notes. The first list is named `texts`. Each note is
 * `value`, or its own number if `value` is NULL. */
struct shape {
	size_t n, n_lists;
	const char *value;
};

static struct buf memory_of(const struct shape *shape)
{
	struct buf b = BUF_INIT(GUEST_MEMORY_BYTES_MAX);

	for (size_t l = 0; l < shape->n_lists; l++) {
		buf_printf(&b, l ? ",\"%zx\":[" : "{\"texts\":[", l);
		for (size_t i = 0; i < shape->n; i++) {
			buf_add_str(&b, i ? "," : "");
			if (shape->value)
				buf_add_str(&b, shape->value);
			else
				buf_printf(&b, "\"%zx\"", i);
		}
		buf_add_char(&b, ']');
	}
	buf_add_char(&b, '}');
	assert_false(b.truncated);
	return b;
}

struct large {
	struct shape now, ours;
	int result;
	const char *why;
};

static const struct large larges[] = {
	{ { 20000, 1, "\"x\"" }, { 20000, 5, NULL }, 0, NULL },
	{ { 200000, 1, "0" }, { 1, 16, "[]" }, 0, NULL }, /* [] counts like the note "" */
	{ { 200000, 1, "0" }, { 1, 16, NULL }, -EFBIG, "is larger than 4194304 bytes" },
	{ { 10, 1, NULL }, { 130000, 1, "{}" }, 0, NULL },
	{ { 200000, 1, NULL }, { 100000, 1, "\"x\"" }, -EINVAL,
			"the merged memory has more than 262144 values" },
	{ { 1000000, 1, "0" }, { 1, 16, NULL }, -EINVAL,
			"the kept memory has more than 262144 values" },
	{ { 1, 1, NULL }, { 1000000, 1, "{}" }, -EINVAL, "memory has more than 262144 values" },
	{ { 20000, 1, NULL }, { 1, 20000, NULL }, -EINVAL, "memory has more than 16 members" },
	{ { 1, 10, "\"x\"" }, { 1, 17, NULL }, -EINVAL, "memory has more than 16 members" },
};

/* Time and memory of a merge must be linear in the files' sizes. Quadratic ones would be minutes or
 * gigabytes. */
static void a_large_memory_takes_little(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(larges); i++) {
		const struct large *l = &larges[i];
		auto_buf struct buf began = BUF_INIT(1), now = memory_of(&l->now);
		auto_buf struct buf ours = memory_of(&l->ours);
		auto_buf struct buf out = BUF_INIT(GUEST_MEMORY_BYTES_MAX);
		struct fh_error err = FH_ERROR_INIT;
		clock_t start = clock();
		int r;

		most_bytes = 0;
		r = memory_merge(&(struct memory_change){ &began, &now, &ours }, &out, &err);
		if (r != l->result)
			fail_msg("%zu: %d, %s", i, r, err.message);
		if (l->why)
			assert_has(err.message, l->why);
		assert_int_equal(n_bytes, 0);
		assert_in_range(most_bytes, 0, 128 << 20);
		assert_in_range(clock() - start, 0, 5 * CLOCKS_PER_SEC);
	}
}

static void one_without_memory_ends(void **state)
{
	auto_buf struct buf began = BUF_INIT(1), now = buf_of("{\"texts\":[\"a\",\"b\"]}");
	auto_buf struct buf ours = buf_of("{\"texts\":[\"c\"],\"tags\":[\"x\"]}");
	long n = 0;
	int r;

	do {
		auto_buf struct buf out = BUF_INIT(4096);
		struct fh_error err = FH_ERROR_INIT;

		n_left = n++;
		r = memory_merge(&(struct memory_change){ &began, &now, &ours }, &out, &err);
		assert_true(r == 0 || (*err.message && !out.len));
		assert_int_equal(n_bytes, 0);
	} while (r < 0);
	n_left = -1;
	assert_in_range(n, 20, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_of_all_are_kept),
		cmocka_unit_test(a_large_memory_takes_little),
		cmocka_unit_test(one_without_memory_ends),
	};

	json_set_alloc_funcs(take, give);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
