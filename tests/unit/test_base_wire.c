/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/scope.h"
#include "base/wire.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

/* --- messages --------------------------------------------------------------------------------- */

static void put_all(struct buf *b)
{
	wire_put_u8(b, 7);
	wire_put_u32(b, 0x89abcdef);
	wire_put_u64(b, 0x0123456789abcdefULL);
	wire_put_bytes(b, "a\0b", 3);
	wire_put_str(b, "text");
	wire_put_str(b, NULL);
}

/* Reads what put_all() wrote. Returns whether all of it was there and right. */
static bool get_all(struct wire *w)
{
	size_t n;
	bool right = wire_get_u8(w) == 7;
	const char *bytes;
	auto_free char *text = NULL;
	auto_free char *none = NULL;

	right = wire_get_u32(w) == 0x89abcdef && right;
	right = wire_get_u64(w) == 0x0123456789abcdefULL && right;
	bytes = wire_get_bytes(w, &n);
	right = bytes && n == 3 && memcmp(bytes, "a\0b", 3) == 0 && right;
	text = wire_get_str(w, 4);
	right = text && strcmp(text, "text") == 0 && right;
	none = wire_get_str(w, 0);
	return none && !*none && right;
}

static void test_round_trip(void **state)
{
	auto_buf struct buf b = BUF_INIT(1000);
	struct wire w;

	(void)state;
	put_all(&b);
	w = wire_open(b.data, b.len);
	assert_true(get_all(&w));
	assert_true(wire_done(&w));
	assert_int_equal(wire_get_u8(&w), 0);
	assert_true(w.bad);
	assert_false(wire_done(&w));
}

static void test_every_cut_is_noticed(void **state)
{
	auto_buf struct buf b = BUF_INIT(1000);

	(void)state;
	put_all(&b);
	for (size_t n = 0; n < b.len; n++) {
		/* Copy each part into memory of its own size, so that a sanitizer finds reads past
		 * its end. */
		auto_free char *cut = malloc(n ? n : 1);
		struct wire w;

		memcpy(cut, b.data, n);
		w = wire_open(cut, n);
		assert_false(get_all(&w));
		assert_false(wire_done(&w));
	}
}

static void test_rest_is_noticed(void **state)
{
	auto_buf struct buf b = BUF_INIT(1000);
	struct wire w;

	(void)state;
	put_all(&b);
	buf_add_char(&b, 'x');
	w = wire_open(b.data, b.len);
	assert_true(get_all(&w));
	assert_false(wire_done(&w));
}

static void test_bad_strings(void **state)
{
	static const struct {
		const char *data;
		size_t n, max;
	} cases[] = {
		{ "\3\0\0\0abc", 7, 2 },   /* the field is longer than allowed */
		{ "\3\0\0\0a\0c", 7, 10 }, /* with a NUL */
		{ "\xff\xff\xff\xff"
		  "abc",
				7, 10 }, /* the field's length is beyond the message's end */
		{ "\3\0\0", 3, 10 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct wire w = wire_open(cases[i].data, cases[i].n);

		assert_null(wire_get_str(&w, cases[i].max));
		assert_true(w.bad);
	}
}

/* If a field does not fit into a message, later fields are refused too. They would be read in place
 * of the missing one. */
static void test_not_whole(void **state)
{
	auto_buf struct buf b = BUF_INIT(4);

	(void)state;
	wire_put_u8(&b, 1);
	wire_put_u32(&b, 2);
	assert_true(b.truncated);
	b.cap = 64;
	wire_put_u8(&b, 3);
	assert_int_equal(b.len, 4);
	assert_int_equal(wire_send(-1, &b, NULL, 0), -EMSGSIZE);
}

/* --- errors ----------------------------------------------------------------------------------- */

static void test_errors(void **state)
{
	struct fh_error err = FH_ERROR_INIT;

	(void)state;
	assert_int_equal(error_set(&err, ENOENT, "open '%s'", "x"), -ENOENT);
	assert_int_equal(err.code, -ENOENT);
	assert_string_equal(err.message, "open 'x': No such file or directory");
	assert_int_equal(error_wrap(&err, "read %d", 3), -ENOENT);
	assert_string_equal(err.message, "read 3: open 'x': No such file or directory");
	assert_int_equal(error_say(&err, EINVAL, "all is said"), -EINVAL);
	assert_string_equal(err.message, "all is said");
	assert_int_equal(error_set(NULL, EIO, "x"), -EIO);
	assert_int_equal(error_wrap(NULL, "x"), -EIO);
}

static void test_long_errors_are_cut(void **state)
{
	struct fh_error err = FH_ERROR_INIT;
	static char text[2 * FH_ERROR_MESSAGE_MAX];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	error_set(&err, EIO, "%s", text);
	assert_int_equal(strlen(err.message), FH_ERROR_MESSAGE_MAX - 1);
	error_wrap(&err, "y");
	assert_int_equal(strlen(err.message), FH_ERROR_MESSAGE_MAX - 1);
	assert_memory_equal(err.message, "y: xxx", 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_every_cut_is_noticed),
		cmocka_unit_test(test_not_whole),
		cmocka_unit_test(test_rest_is_noticed),
		cmocka_unit_test(test_bad_strings),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_long_errors_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
