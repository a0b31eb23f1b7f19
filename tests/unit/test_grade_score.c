/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "grade/key.h"
#include "grade/score.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Reading of scores that graders write, comparing them, and keys for judges' random numbers. */

static int read_text(const char *text, struct score_reading *out)
{
	struct fh_error err;

	return score_read(text, strlen(text), out, &err);
}

static void test_scores(void **state)
{
	auto_buf struct buf text = BUF_INIT(1000);
	struct score copy = { 0 };
	struct score_reading r;
	struct fh_error err;

	assert_int_equal(read_text("{\"Score\": 1.25, \"n\": 3, \"small\": 1e-7}", &r), 0);
	assert_null(r.rejection);
	assert_int_equal(r.score.n, 3);
	assert_true(*score_find(&r.score, "Score") == 1.25);
	assert_true(*score_find(&r.score, "N") == 3);
	assert_null(score_find(&r.score, "Scor"));
	score_add_repr(&text, &r.score);
	assert_string_equal(buf_str(&text), "{'Score': 1.25, 'n': 3, 'small': 1e-07}");
	score_copy(&copy, r.score.metrics, r.score.n);
	score_release(&r.score);
	buf_clear(&text);
	score_add_json(&text, &copy);
	assert_non_null(strstr(buf_str(&text), "\"n\":3,"));
	assert_int_equal(read_text(buf_str(&text), &r), 0);
	assert_true(*score_find(&r.score, "small") == 1e-7);
	assert_int_equal(score_increase(&r.score, "Time", 0.5, &err), 0);
	assert_true(*score_find(&r.score, "Time") == 0.5);
	assert_int_equal(score_increase(&r.score, "n", 0.5, &err), 0);
	assert_true(*score_find(&r.score, "n") == 3.5 && !r.score.metrics[1].whole);
	assert_int_equal(score_increase(&r.score, "n", HUGE_VAL, &err), -EPROTO);
	score_release(&copy);
	score_release(&r.score);
}

/* A judge in Python may write integers that exceed 64 bits. */
static void test_large_integers(void **state)
{
	static const struct {
		const char *text, *repr;
	} cases[] = {
		{ "{\"a\": 123456789012345678901234, \"b\": 5, \"c\": 1.5}",
				"{'a': 1.2345678901234569e+23, 'b': 5, 'c': 1.5}" },
		{ "{\"a\":-98765432109876543210}", "{'a': -9.876543210987654e+19}" },
		{ "{\"a\": 98765432109876543210, \"b\": 0.01234567890123456789012}",
				"{'a': 9.876543210987654e+19, 'b': 0.012345678901234568}" },
		{ "{\"12345678901234567890\": 98765432109876543210e0}",
				"{'12345678901234567890': 9.876543210987654e+19}" },
		{ "{\"a\\\\\": 98765432109876543210.25}", "{'a\\\\': 9.876543210987654e+19}" },
		{ "{\"a\": 9223372036854775807}", "{'a': 9.223372036854776e+18}" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		auto_buf struct buf text = BUF_INIT(1000);
		struct score_reading r;

		assert_int_equal(read_text(cases[i].text, &r), 0);
		score_add_repr(&text, &r.score);
		assert_string_equal(buf_str(&text), cases[i].repr);
		score_release(&r.score);
	}
}

/* If a score has two names that differ in case only, the exact name is used. */
static void test_exact_name_first(void **state)
{
	struct score_reading r;

	assert_int_equal(read_text("{\"ACCURACY\": 1, \"accuracy\": 2}", &r), 0);
	assert_true(*score_find(&r.score, "accuracy") == 2);
	assert_true(*score_find(&r.score, "Accuracy") == 1);
	score_release(&r.score);
}

static void test_rejections(void **state)
{
	struct score_reading r;

	assert_int_equal(read_text("{\"error\": \"line 3 is empty\"}", &r), 0);
	assert_string_equal(r.rejection, "line 3 is empty");
	assert_false(r.tampering);
	assert_int_equal(r.score.n, 0);
	free(r.rejection);
	assert_int_equal(read_text("{\"error\": \"x\", \"integrity\": true, \"Score\": 1}", &r), 0);
	assert_true(r.tampering);
	assert_int_equal(r.score.n, 0);
	free(r.rejection);
}

/* A long error message of a grader is cut between two characters, because agents are shown it. */
static void test_long_rejection(void **state)
{
	auto_buf struct buf text = BUF_INIT(2 * SCORE_REJECTION_BYTES);
	struct score_reading r;

	buf_add_str(&text, "{\"error\": \"x");
	for (int i = 0; i < SCORE_REJECTION_BYTES / 2; i++)
		buf_add_str(&text, "\xc3\xa9");
	buf_add_str(&text, "\"}");
	assert_int_equal(read_text(buf_str(&text), &r), 0);
	assert_int_equal(strlen(r.rejection), SCORE_REJECTION_BYTES - 1);
	free(r.rejection);
}

static void test_unreadable(void **state)
{
	static const char *const cases[] = {
		"",
		"{",
		"null",
		"1",
		"[1]",
		"\"Score\"",
		"{\"Score\": \"1\"}",
		"{\"Score\": null}",
		"{\"Score\": true}",
		"{\"Score\": [1]}",
		"{\"Score\": NaN}",
		"{\"Score\": 1e999}",
		"{\"Score\": 1} {\"Score\": 2}",
		"{\"error\": 3}",
		"{\"error\": \"x\", \"integrity\": 1}",
		"{\"\": 1}",
		"{\"a\\u0001\": 1}",
		"{\"\\u00e9\": 1}",
	};
	struct score_reading r;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		print_message("%s\n", cases[i]);
		assert_true(read_text(cases[i], &r) < 0);
	}
}

static void test_caps(void **state)
{
	auto_buf struct buf text = BUF_INIT(1 << 20);
	struct score_reading r;

	buf_add_char(&text, '{');
	for (int i = 0; i < SCORE_METRICS_MAX; i++)
		buf_printf(&text, "\"m%d\": %d, ", i, i);
	text.data[text.len - 2] = '}';
	assert_int_equal(read_text(buf_str(&text), &r), 0);
	assert_int_equal(r.score.n, SCORE_METRICS_MAX);
	score_release(&r.score);
	text.data[text.len - 2] = ',';
	buf_add_str(&text, "\"more\": 1}");
	assert_true(read_text(buf_str(&text), &r) < 0);

	buf_clear(&text);
	buf_printf(&text, "{\"%0*d\": 1}", SCORE_NAME_BYTES, 0);
	assert_int_equal(read_text(buf_str(&text), &r), 0);
	score_release(&r.score);
	buf_clear(&text);
	buf_printf(&text, "{\"%0*d\": 1}", SCORE_NAME_BYTES + 1, 0);
	assert_true(read_text(buf_str(&text), &r) < 0);
}

/* --- comparing scores ------------------------------------------------------------------------- */

static void test_compare(void **state)
{
	static const struct {
		double value, other;
		int more; /* result of score_compare() if a higher score is better */
	} rows[] = {
		{ 1.5, 1, 1 },
		{ 1, 1, 0 },
		{ 0.1 + 0.2, 0.3, 0 },
		{ -4.0000000000000009, -4, 0 },
		{ 1e-12, 0, 1 }, /* better: the tolerance is relative */
		{ 1e12 + 1, 1e12, 0 },
		{ 30340.1119, 30340.1118, 1 },
		{ NAN, 1, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		double a = rows[i].value, b = rows[i].other;

		assert_int_equal(score_compare(a, b, true), rows[i].more);
		assert_int_equal(score_compare(a, b, false), -rows[i].more);
		assert_int_equal(score_compare(b, a, true), -rows[i].more);
	}
}

/* --- keys that seed a judge's random numbers -------------------------------------------------- */

/* A judge's key differs if any of its inputs differs. */
static void test_keys(void **state)
{
	struct secret one = { { 1 } }, two = { { 2 } };
	char keys[5][SHA256_HEX_BYTES], again[SHA256_HEX_BYTES];
	struct sha256 history;

	sha256_init(&history);
	sha256_add_str(&history, "ls");
	judge_key(&one, "a", &history, keys[0]);
	judge_key(&two, "a", &history, keys[1]);
	judge_key(&one, "b", &history, keys[2]);
	judge_key(&one, "a", &history, again);
	assert_string_equal(keys[0], again);
	assert_int_equal(strlen(again), 64);
	sha256_add_str(&history, "validate"); /* it went on */
	judge_key(&one, "a", &history, keys[3]);
	sha256_add_str(&history, NULL);
	judge_key(&one, "a", &history, keys[4]);
	for (int i = 0; i < 5; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(keys[i], keys[k]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scores),
		cmocka_unit_test(test_large_integers),
		cmocka_unit_test(test_exact_name_first),
		cmocka_unit_test(test_rejections),
		cmocka_unit_test(test_long_rejection),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
