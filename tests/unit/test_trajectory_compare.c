/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/scope.h"
#include "trajectory/compare.h"

/* Compares observations of two runs: differences that any two runs may have, and real ones. */

#define THEN "1795255200" /* 2026-11-21T10:00:00Z */
#define NOW "1795687201"  /* 2026-11-26, five days later */
#define LATER "1800000000"

static const struct {
	const char *a, *b;
	enum compare_verdict verdict;
} cases[] = {
	{ "", "", COMPARE_EQUAL },
	{ "x 1\n", "x 2\n", COMPARE_DIFFERENT },
	{ "x\n", "x", COMPARE_DIFFERENT },
	{ "Sat Nov 21 10:00:01 UTC 2026", "Sun Nov 22 11:02:03 PM CET 2027", COMPARE_NORMALISED },
	{ "Sat, 21 Nov 2026 10:00:01 +0000", "Sun, 22 Nov 2026 10:00:03 GMT", COMPARE_NORMALISED },
	{ "Sat Nov 21 10:00:01 2026\n", "Mon Nov 23 10:00:01 2026\n", COMPARE_NORMALISED },
	{ "at " THEN ", " THEN ".25\n", "at " NOW ", " NOW ".1234567\n", COMPARE_NORMALISED },
	{ "m_" THEN ".pt " THEN "123 " THEN "123456 " THEN "123456789",
			"m_" NOW ".pt " NOW "321 " NOW "321456 " NOW "321456789",
			COMPARE_NORMALISED },
	{ "at " THEN, "at " LATER, COMPARE_DIFFERENT },       /* it isn't near */
	{ "at " THEN "1", "at " NOW "1", COMPARE_DIFFERENT }, /* 11 digits */
	{ "0." THEN, "0." NOW, COMPARE_DIFFERENT },
	{ "x" THEN, "x" NOW, COMPARE_DIFFERENT },
	{ THEN "ab", NOW "ab", COMPARE_DIFFERENT },
	{ "2026-11-21 10:00:01.5 a", "2025-01-02T03:04:05Z a", COMPARE_NORMALISED },
	{ "-rw-r--r-- 1 a b 12 Nov 21 09:19 f", "-rw-r--r-- 1 a b 12 Dec  1  2025 f",
			COMPARE_NORMALISED },
	{ "-rw-r--r-- 1 a b 12 Nov 21 09:19 f", "-rw-r--r-- 1 a b 13 Nov 21 09:19 f",
			COMPARE_DIFFERENT },
	{ "drwxr-xr-x 2 a b 4096 x", "drwxr-xr-x 2 a b 60 x", COMPARE_NORMALISED },
	{ "total 8\ntotal", "total 0\ntotal", COMPARE_NORMALISED },
	{ "<object object at 0x7f0a1b2c3d>", "<object object at 0x7f0a1b2c3e>",
			COMPARE_NORMALISED },
	{ "took 1.5 s, 20 steps", "took 0.1 s, 20 steps", COMPARE_NORMALISED },
	{ "took 1.5 s, 20 steps", "took 1.5 s, 21 steps", COMPARE_DIFFERENT },
	{ "real\t0m1.2s", "real\t0m0.1s", COMPARE_NORMALISED },
	{ "worker (pid(s) 12, 13) died", "worker (pid(s) 2) died", COMPARE_NORMALISED },
	{ "[1] 34\n[2] 35", "[1] 5\n[2] 6", COMPARE_NORMALISED },
	{ "bash: line 3: x", "bash: line 9: x", COMPARE_NORMALISED },
	{ "score 0.81234", "score 0.81235", COMPARE_DIFFERENT },
};

static struct compare_text then(const char *text)
{
	return (struct compare_text){ text, compare_time("2026-11-21T10:00:00.000Z") };
}

static struct compare_text now(const char *text)
{
	return (struct compare_text){ text, compare_time("2026-11-26T10:00:00.000Z") };
}

static void test_numbers_of_runs_without_a_time(void **state)
{
	struct compare_text a = { "at " THEN, compare_time(NULL) }, b = { "at " NOW, 0 };

	assert_int_equal(compare_texts(a, b), COMPARE_DIFFERENT);
	assert_int_equal(compare_time("yesterday"), 0);
}

static void test_verdicts(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (compare_texts(then(cases[i].a), now(cases[i].b)) != cases[i].verdict)
			fail_msg("'%s' and '%s' are not %s", cases[i].a, cases[i].b,
					compare_verdicts[cases[i].verdict]);
}

static void test_diff(void **state)
{
	auto_buf struct buf out = BUF_INIT(1000);

	compare_diff(&out, then("a\nb\nc\nd\n"), now("a\nB\nC\nX\nd\n"), 20);
	assert_string_equal(buf_str(&out), "- b\n- c\n+ B\n+ C\n+ X\n");
	buf_clear(&out);
	compare_diff(&out, then("a"), now("a\nb"), 20);
	assert_string_equal(buf_str(&out), "- a\n+ a\n+ b\n");
	buf_clear(&out);
	compare_diff(&out, then("1\n2\n3\n4\n5\n6\n"), now(""), 4);
	assert_string_equal(buf_str(&out), "- 1\n- 2\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_numbers_of_runs_without_a_time),
		cmocka_unit_test(test_diff),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
