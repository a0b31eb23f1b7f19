/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/scope.h"
#include "data/transfer.h"

/* Parses headers of servers that send files, also hostile ones. */

static void test_ranges(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t begin, size;
	} cases[] = {
		{ "bytes 5-9/10", true, 5, 10 },
		{ "bytes 5-9/*", true, 5, -1 },
		{ "bytes 5-9/9", false },
		{ "bytes 9-5/10", false },
		{ "bytes */10", false },
		{ "bytes -5-9/10", false },
		{ "bytes 5-99999999999999999999/*", false },
		{ "items 5-9/10", false },
		{ "", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t begin = 0, size = 0;

		assert_int_equal(transfer_read_range(cases[i].text, &begin, &size), cases[i].ok);
		assert_int_equal(begin, cases[i].begin);
		assert_int_equal(size, cases[i].size);
	}
}

static void test_etags(void **state)
{
	char out[8] = "before";

	assert_true(transfer_read_etag("\"abc\"", out, sizeof(out)));
	assert_string_equal(out, "abc");
	assert_true(transfer_read_etag("1234567", out, sizeof(out)));
	assert_false(transfer_read_etag("12345678", out, sizeof(out)));
	assert_false(transfer_read_etag("W/\"abc\"", out, sizeof(out)));
	assert_false(transfer_read_etag("\"\"", out, sizeof(out)));
	assert_string_equal(out, "1234567");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_etags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
