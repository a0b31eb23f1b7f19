/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "base/json_text.h"
#include "base/str.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void test_compare(void **state)
{
	static const char *const list[] = { "red", "green", NULL };

	(void)state;
	assert_true(str_eq("a", "a"));
	assert_true(str_eq(NULL, NULL));
	assert_false(str_eq("a", NULL));
	assert_false(str_eq(NULL, ""));
	assert_int_equal(str_index("green", list), 1);
	assert_int_equal(str_index("gree", list), -1);
	assert_int_equal(str_index(NULL, list), -1);
	assert_true(str_starts("abc", "ab"));
	assert_true(str_starts("abc", ""));
	assert_false(str_starts("a", "ab"));
	assert_true(str_ends("abc", "bc"));
	assert_false(str_ends("c", "bc"));
}

struct number_case {
	const char *text;
	bool ok;
	int64_t value;
};

static void check_whole_numbers(
		bool (*parse)(const char *, int64_t *), const struct number_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t v = -77;

		if (parse(cases[i].text, &v) != cases[i].ok)
			fail_msg("'%s' should %s", cases[i].text, cases[i].ok ? "parse" : "fail");
		if (v != (cases[i].ok ? cases[i].value : -77))
			fail_msg("'%s' gave %lld", cases[i].text, (long long)v);
	}
}

static void test_i64(void **state)
{
	static const struct number_case cases[] = {
		{ "0", true, 0 },
		{ "-12", true, -12 },
		{ "+7", true, 7 },
		{ "007", true, 7 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "9223372036854775808", false, 0 },
		{ "", false, 0 },
		{ "-", false, 0 },
		{ " 1", false, 0 },
		{ "1 ", false, 0 },
		{ "1.0", false, 0 },
		{ "0x10", false, 0 },
		{ "--1", false, 0 },
	};

	(void)state;
	check_whole_numbers(str_to_i64, cases, ARRAY_SIZE(cases));
}

static void test_bytes(void **state)
{
	static const struct number_case cases[] = {
		{ "512", true, 512 },
		{ "64k", true, 65536 },
		{ "1.5G", true, 1610612736 },
		{ "2GiB", true, 2147483648 },
		{ "3MB", true, 3145728 },
		{ "1t", true, 1099511627776 },
		{ "0", true, 0 },
		{ "10b", true, 10 },
		{ "-1", false, 0 },
		{ "k", false, 0 },
		{ "1 k", false, 0 },
		{ "1kk", false, 0 },
		{ "9e18G", false, 0 },
		{ "8388608T", false, 0 },
		{ "inf", false, 0 },
		{ "0x10", false, 0 },
	};

	(void)state;
	check_whole_numbers(str_to_bytes, cases, ARRAY_SIZE(cases));
}

static void test_ms(void **state)
{
	static const struct number_case cases[] = {
		{ "25", true, 25000 },
		{ "2.5s", true, 2500 },
		{ "300ms", true, 300 },
		{ "5m", true, 300000 },
		{ "1h", true, 3600000 },
		{ "0.3s", true, 300 },
		{ "0.0006", true, 1 },
		{ "0.0004", false, 0 },
		{ "0", true, 0 },
		{ "1d", false, 0 },
		{ "-5", false, 0 },
		{ "", false, 0 },
		{ "ms", false, 0 },
	};

	(void)state;
	check_whole_numbers(str_to_ms, cases, ARRAY_SIZE(cases));
}

static void test_double(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		double value;
	} cases[] = {
		{ "1.25", true, 1.25 },
		{ "-.5", true, -0.5 },
		{ "5.", true, 5 },
		{ "-0.0", true, -0.0 },
		{ "1.2.3", false, 0 },
		{ "+7", true, 7 },
		{ "12e", false, 0 },
		{ "1e-3", true, 0.001 },
		{ "1e400", false, 0 },
		{ "nan", false, 0 },
		{ "inf", false, 0 },
		{ "0x1p3", false, 0 },
		{ "1,5", false, 0 },
		{ " 1", false, 0 },
		{ ".", false, 0 },
		{ "", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double v = -77;

		if (str_to_double(cases[i].text, &v) != cases[i].ok)
			fail_msg("'%s' should %s", cases[i].text, cases[i].ok ? "parse" : "fail");
		assert_true(v == (cases[i].ok ? cases[i].value : -77));
	}
}

/* Numbers, and the text by which Python 3.11 prints each of them. */
static void test_repr_of_doubles(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0.0" },
		{ -0.0, "-0.0" },
		{ 1, "1.0" },
		{ 1.25, "1.25" },
		{ 30340.11, "30340.11" },
		{ 30340.111853413255, "30340.111853413255" },
		{ 0.1, "0.1" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 100, "100.0" },
		{ 1234567890123456.0, "1234567890123456.0" },
		{ 9007199254740993.0, "9007199254740992.0" },
		{ 1e16, "1e+16" },
		{ 1.5e16, "1.5e+16" },
		{ 123456789012345678.0, "1.2345678901234568e+17" },
		{ 0.0001, "0.0001" },
		{ 0.00012345, "0.00012345" },
		{ 0.00001, "1e-05" },
		{ 1e-7, "1e-07" },
		{ 1.7976931348623157e308, "1.7976931348623157e+308" },
		{ 5e-324, "5e-324" },
		{ -24936834, "-24936834.0" },
		{ INFINITY, "inf" },
		{ -INFINITY, "-inf" },
		{ NAN, "nan" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf struct buf out = BUF_INIT(100);

		str_add_double(&out, cases[i].value);
		assert_string_equal(buf_str(&out), cases[i].text);
	}
}

static void test_doubles_come_back(void **state)
{
	(void)state;
	srand48(7);
	for (int i = 0; i < 100000; i++) {
		auto_buf struct buf out = BUF_INIT(100);
		uint64_t bits = (uint64_t)mrand48() << 32 ^ (uint32_t)mrand48();
		double v, back;

		memcpy(&v, &bits, sizeof(v));
		if (!isfinite(v))
			continue;
		str_add_double(&out, v);
		assert_true(str_to_double(buf_str(&out), &back));
		assert_memory_equal(&back, &v, sizeof(v));
	}
}

/* Decimals that are not read by strtod(), and some that are. */
static void test_decimals_are_rounded_like_strtod(void **state)
{
	(void)state;
	srand48(8);
	for (int i = 0; i < 100000; i++) {
		uint64_t digits = (uint64_t)lrand48() << 33 ^ (uint64_t)lrand48() << 2;
		char text[64];
		double v;
		int length = snprintf(text, sizeof(text), "%s%" PRIu64, i & 1 ? "-" : "",
				digits >> lrand48() % 64);
		int places = (int)(lrand48() % length);

		memmove(text + length - places + 1, text + length - places, (size_t)places + 1);
		text[length - places] = '.';
		assert_true(str_to_double(text, &v));
		assert_true(v == strtod(text, NULL) && !signbit(v) == !signbit(strtod(text, NULL)));
	}
}

static void test_other_locales_change_nothing(void **state)
{
	auto_buf struct buf out = BUF_INIT(100);
	double v;

	(void)state;
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
		print_message("no de_DE.UTF-8 on this machine\n");
		skip();
	}
	str_add_double(&out, 1.5);
	assert_true(str_to_double("1.5", &v));
	setlocale(LC_NUMERIC, "C");
	assert_string_equal(buf_str(&out), "1.5");
	assert_true(v == 1.5);
}

static void test_distance(void **state)
{
	static const struct {
		const char *a, *b;
		size_t distance;
	} cases[] = {
		{ "", "", 0 },
		{ "", "abc", 3 },
		{ "memory", "memory", 0 },
		{ "memroy", "memory", 1 },
		{ "ab", "ba", 1 },
		{ "kitten", "sitting", 3 },
		{ "titanic", "titnaic", 1 },
		{ "abc", "x", 3 },
	};
	char longest[70];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(str_distance(cases[i].a, cases[i].b), cases[i].distance);
		assert_int_equal(str_distance(cases[i].b, cases[i].a), cases[i].distance);
	}
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_true(str_distance(longest, longest) == SIZE_MAX);
}

static void test_closest(void **state)
{
	static const char *const names[] = { "memory", "pids", "cpus", "disk", "disk_on" };
	static const char *const tasks[] = { "imagesCifar10L1", "imagesCifar10", "cipher" };

	(void)state;
	assert_string_equal(str_closest("cifar", tasks, 3), "imagesCifar10");
	assert_string_equal(str_closest("ciphre", tasks, 3), "cipher");
	assert_null(str_closest("ag", tasks, 3));
	assert_string_equal(str_closest("memroy", names, 5), "memory");
	assert_string_equal(str_closest("pid", names, 5), "pids");
	assert_string_equal(str_closest("disk_of", names, 5), "disk_on");
	assert_null(str_closest("network", names, 5));
	assert_null(str_closest("x", names, 5));
	assert_null(str_closest("port", (const char *[]){ "out", "host" }, 2));
	assert_null(str_closest("prt", (const char *[]){ "url" }, 1));
	assert_null(str_closest("memory", names, 0));
}

typedef void (*adder)(struct buf *out, const char *data, size_t n);

struct text_case {
	const char *in;
	size_t n; /* 0: strlen */
	const char *out;
};

static void check_texts(adder add, const struct text_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_buf struct buf out = BUF_INIT(1000);

		add(&out, cases[i].in, cases[i].n ? cases[i].n : strlen(cases[i].in));
		assert_string_equal(buf_str(&out), cases[i].out);
	}
}

static void test_utf8(void **state)
{
	static const struct text_case cases[] = {
		{ "", 0, "" },
		{ "plain\n", 0, "plain\n" },
		{ "gr\xc3\xbc\xc3\x9f\xf0\x9f\x98\x80", 0, "gr\xc3\xbc\xc3\x9f\xf0\x9f\x98\x80" },
		{ "a\0b", 3, "a\\x00b" },
		{ "\xff\xfe", 0, "\\xff\\xfe" },
		{ "\xc3", 0, "\\xc3" },
		{ "\xc3(", 0, "\\xc3(" },
		{ "\xc0\x80", 0, "\\xc0\\x80" },                   /* overlong */
		{ "\xe0\x80\x80", 0, "\\xe0\\x80\\x80" },          /* overlong */
		{ "\xed\xa0\x80", 0, "\\xed\\xa0\\x80" },          /* a surrogate */
		{ "\xf4\x90\x80\x80", 0, "\\xf4\\x90\\x80\\x80" }, /* above U+10FFFF */
		{ "\xf0\x9f\x98", 0, "\\xf0\\x9f\\x98" },
		{ "ok\x80ok", 0, "ok\\x80ok" },
	};

	(void)state;
	check_texts(str_add_utf8, cases, ARRAY_SIZE(cases));
	assert_int_equal(str_utf8_invalid("a\0b", 3), -1);
	assert_int_equal(str_utf8_invalid("ab\xff", 3), 2);
	assert_int_equal(str_utf8_cut("a\xc3\xa9", 3, 3), 3);
	assert_int_equal(str_utf8_cut("a\xc3\xa9", 3, 2), 1);
	assert_int_equal(str_utf8_cut("\xe2\x82\xac", 3, 2), 0);
	assert_int_equal(str_utf8_cut("abc", 3, 2), 2);
}

/* Bytes are looked at in eights, so each place in them is tried. */
static void test_utf8_places(void **state)
{
	(void)state;
	for (size_t n = 1; n < 20; n++) {
		for (size_t at = 0; at < n; at++) {
			char text[20] = "aaaaaaaaaaaaaaaaaaa";

			text[at] = '\xff';
			assert_int_equal(str_utf8_invalid(text, n), at);
			if (at + 1 == n)
				continue;
			memcpy(text + at, "\xc3\xa9", 2);
			assert_int_equal(str_utf8_invalid(text, n), -1);
			assert_int_equal(str_utf8_characters(text, n), n - 1);
		}
		assert_int_equal(str_utf8_characters("aaaaaaaaaaaaaaaaaaa", n), n);
	}
}

static void test_blank(void **state)
{
	static const char *const blank[] = { "", " ", "\t\r\n\v\f",
		"\xc2\xa0 \xe2\x80\x83\xe3\x80\x80" };
	static const char *const filled[] = { "a", " a ", "\xe2\x80\x8b", " \xc2", "\x80" };

	for (size_t i = 0; i < ARRAY_SIZE(blank); i++)
		assert_true(str_is_blank(blank[i]));
	for (size_t i = 0; i < ARRAY_SIZE(filled); i++)
		assert_false(str_is_blank(filled[i]));
}

static void test_folding(void **state)
{
	static const struct text_case cases[] = {
		{ "a\nb\n", 0, "a\nb\n" },
		{ "10%\r50%\r100%\n", 0, "100%\n" },
		{ "a\r\nb\r\n", 0, "a\nb\n" },
		{ "a\r\r\nb", 0, "a\nb" },
		{ "1\r2\r", 0, "2" },
		{ "x\n\r 10%\r 20%", 0, "x\n 20%" },
		{ "\r", 0, "" },
		{ "\r\n\r\n", 0, "\n\n" },
	};

	(void)state;
	check_texts(str_add_folded, cases, ARRAY_SIZE(cases));
}

static void add_json_bytes(struct buf *out, const char *s, size_t n)
{
	json_text_add(out, s, n, JSON_TEXT_BYTES);
}

static void test_json_strings(void **state)
{
	static const struct text_case cases[] = {
		{ "", 0, "\"\"" },
		{ "a\"b\\c", 0, "\"a\\\"b\\\\c\"" },
		{ "\b\f\n\r\t\x01", 0, "\"\\b\\f\\n\\r\\t\\u0001\"" },
		{ "\xc3\xbc", 0, "\"\xc3\xbc\"" },
		{ "a\xff\0", 3, "\"a\\\\xff\\\\x00\"" },
	};

	(void)state;
	check_texts(add_json_bytes, cases, ARRAY_SIZE(cases));
}

static void test_printable(void **state)
{
	static const struct {
		const char *text, *shown; /* NULL: as it is */
	} cases[] = {
		{ "a\tb\n\x1b[31m\x7f\xff.", "a\tb\n\\x1b[31m\\x7f\\xff." },
		{ "\u00fc \u4e2d \U0001f600 \u2026\u2030\u2070", NULL },
		{ "\xc2\x80\xc2\x9f\u00a0", "\\xc2\\x80\\xc2\\x9f\u00a0" },
		{ "a\u202enp.exe\u202c", "a\\xe2\\x80\\xaenp.exe\\xe2\\x80\\xac" },
		{ "\u200b\u200f\u2010", "\\xe2\\x80\\x8b\\xe2\\x80\\x8f\u2010" },
		{ "\u2028\u2029", "\\xe2\\x80\\xa8\\xe2\\x80\\xa9" },
		{ "\u2066\u2069", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9" },
		{ "\ufeffx\u00ad", "\\xef\\xbb\\xbfx\\xc2\\xad" },
		{ "\U000e0041\xe2\x80", "\\xf3\\xa0\\x81\\x81\\xe2\\x80" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf struct buf out = BUF_INIT(1000);

		str_add_printable(&out, cases[i].text);
		assert_string_equal(buf_str(&out), cases[i].shown ? cases[i].shown : cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_i64),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_ms),
		cmocka_unit_test(test_double),
		cmocka_unit_test(test_repr_of_doubles),
		cmocka_unit_test(test_doubles_come_back),
		cmocka_unit_test(test_decimals_are_rounded_like_strtod),
		cmocka_unit_test(test_other_locales_change_nothing),
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_closest),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_utf8_places),
		cmocka_unit_test(test_blank),
		cmocka_unit_test(test_folding),
		cmocka_unit_test(test_json_strings),
		cmocka_unit_test(test_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
