/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/scope.h"
#include "base/str.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

/* --- buffers ---------------------------------------------------------------------------------- */

static void test_growing(void **state)
{
	auto_buf struct buf b = BUF_INIT(1000000);

	(void)state;
	assert_string_equal(buf_str(&b), "");
	assert_null(b.data);
	for (int i = 0; i < 10000; i++) {
		buf_add_str(&b, "ab");
		buf_add_char(&b, 'c');
		assert_int_equal(b.data[b.len], '\0');
	}
	assert_int_equal(b.len, 30000);
	assert_false(b.truncated);
	assert_memory_equal(b.data + 29997, "abc", 4);
	buf_clear(&b);
	assert_string_equal(buf_str(&b), "");
	buf_add(&b, "x\0y", 3);
	assert_int_equal(b.len, 3);
	assert_memory_equal(b.data, "x\0y", 4);
}

static void test_the_cap_holds(void **state)
{
	static const size_t caps[] = { 0, 1, 5, 255, 256, 257, 5000 };
	static char text[10000];

	(void)state;
	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		auto_buf struct buf whole = BUF_INIT(caps[i]);
		auto_buf struct buf pieces = BUF_INIT(caps[i]);

		buf_add(&whole, text, caps[i]);
		assert_false(whole.truncated);
		assert_int_equal(whole.len, caps[i]);
		buf_add_char(&whole, 'y');
		assert_true(whole.truncated);
		assert_int_equal(whole.len, caps[i]);
		for (int j = 0; j < 1000; j++)
			buf_add(&pieces, text, 7);
		assert_int_equal(pieces.len, caps[i] < 7000 ? caps[i] : 7000);
		assert_int_equal(strlen(buf_str(&pieces)), pieces.len);
		assert_true(pieces.size <= 2 * caps[i] + 256);
	}
}

static void test_printf(void **state)
{
	auto_buf struct buf b = BUF_INIT(100000);
	auto_buf struct buf small = BUF_INIT(4);
	static char text[1000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	buf_printf(&b, "%d-%s", 7, "a");
	assert_string_equal(buf_str(&b), "7-a");
	buf_printf(&b, "%s", text);
	assert_int_equal(b.len, 3 + 999);
	buf_printf(&small, "%d", 123456);
	assert_string_equal(buf_str(&small), "1234");
	assert_true(small.truncated);
}

static void test_reserve(void **state)
{
	auto_buf struct buf b = BUF_INIT(10);

	(void)state;
	assert_int_equal(buf_reserve(&b, 4), 4);
	assert_string_equal(buf_str(&b), "");
	assert_false(b.truncated);
	memcpy(b.data, "abcd", 4);
	b.len = 4;
	assert_int_equal(buf_reserve(&b, 7), 6);
	assert_true(b.truncated);
}

static void test_consume(void **state)
{
	auto_buf struct buf b = BUF_INIT(100);

	(void)state;
	buf_consume(&b, 3);
	buf_add_str(&b, "abcdef");
	buf_consume(&b, 2);
	assert_string_equal(buf_str(&b), "cdef");
	buf_consume(&b, 100);
	assert_string_equal(buf_str(&b), "");
	buf_add_str(&b, "new");
	assert_string_equal(buf_str(&b), "new");
}

static void test_take(void **state)
{
	struct buf b = BUF_INIT(100);
	auto_free char *nothing = buf_take(&b);
	char *text;

	(void)state;
	assert_string_equal(nothing, "");
	buf_add_str(&b, "text");
	text = buf_take(&b);
	assert_string_equal(text, "text");
	free(text);
	assert_null(b.data);
	buf_add_str(&b, "more");
	assert_string_equal(buf_str(&b), "more");
	buf_release(&b);
	assert_int_equal(b.cap, 100);
}

/* --- arenas ----------------------------------------------------------------------------------- */

static void test_arena(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	char *all[1000];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		size_t n = i % 7 ? i % 50 : 3 * i;

		all[i] = arena_alloc(&a, n);
		assert_int_equal((uintptr_t)all[i] % _Alignof(max_align_t), 0);
		for (size_t j = 0; j < n; j++)
			assert_int_equal(all[i][j], 0);
		memset(all[i], (int)i, n);
	}
	/* No allocated block may have written into another. */
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		for (size_t j = 0; j < (i % 7 ? i % 50 : 3 * i); j++)
			assert_int_equal(all[i][j], (char)i);
}

static void test_arena_strings(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	static char text[10000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	assert_string_equal(arena_strdup(&a, text), text);
	assert_string_equal(arena_strndup(&a, "abc", 2), "ab");
	assert_string_equal(arena_printf(&a, "%s-%d", "a", 5), "a-5");
	assert_int_equal(strlen(arena_printf(&a, "%s%s", text, text)), 19998);
	arena_release(&a);
	assert_null(a.last);
	assert_string_equal(arena_strdup(&a, "again"), "again");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_growing),
		cmocka_unit_test(test_the_cap_holds),
		cmocka_unit_test(test_printf),
		cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_consume),
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_arena),
		cmocka_unit_test(test_arena_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
