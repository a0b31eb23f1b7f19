/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/scope.h"
#include "env/observe.h"

#include <time.h>

/* Converts output to what MLGym shows, after Python's splitlines() and MLGym's search for progress
 * bars. */

static void test_output(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "", "" },
		{ "\n\n", "" },
		{ "one\n", "one" },
		{ "one\n\n  two", "one\n  two" },
		{ "a\r\nb\rc\vd\fe", "a\nb\nc\nd\ne" },
		{ "a\x1c"
		  "b\x1d"
		  "c\x1e"
		  "d\x1f"
		  "e",
				"a\nb\nc\nd\x1f"
				"e" },
		{ "a\xc2\x85"
		  "b\xe2\x80\xa8"
		  "c\xe2\x80\xa9"
		  "d\xe2\x80\xaa",
				"a\nb\nc\nd\xe2\x80\xaa" },
		{ "a\xc2", "a\xc2" },
		{ " \n\t\n", " \n\t" },
		{ "x\n 40%|####      | 4/10 [00:01<00:02,  3.1it/s]\ny\n", "x\ny" },
		{ "Epoch 3: 100%|##########| 10/10 [00:01]\r", "" },
		{ "words 7%||[]", "" },
		{ "7%|no bracket|\n%|a|[b]\n7% |a|[b]", "7%|no bracket|\n%|a|[b]\n7% |a|[b]" },
		{ "7%|a[b]|", "7%|a[b]|" },
		{ "5%, 7%|a|b[c]", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf struct buf out = BUF_INIT(4096);

		observe_mlgym_output(&out, cases[i].text, strlen(cases[i].text));
		assert_string_equal(buf_str(&out), cases[i].expected);
	}
}

static void test_nul(void **state)
{
	auto_buf struct buf out = BUF_INIT(4096);

	observe_mlgym_output(&out, "a\0b\n", 4);
	assert_int_equal(out.len, 3);
	assert_memory_equal(out.data, "a\0b", 3);
}

/* Many beginnings of progress bars in a line must take linear time. Reading the rest at each would
 * take a minute. */
static void test_long_line(void **state)
{
	enum { N = 300000 };
	auto_buf struct buf text = BUF_INIT(4 * N), out = BUF_INIT(4 * N);
	clock_t begin = clock();

	for (int i = 0; i < N; i++)
		buf_add_str(&text, "1%|[");
	observe_mlgym_output(&out, buf_str(&text), text.len);
	assert_true(buf_equal(&out, &text));
	assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_long_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
