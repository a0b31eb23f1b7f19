/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/error.h"
#include "base/sized.h"

#include <errno.h>
#include <fumehood/version.h>

static struct fh_error error;

static void test_kinds(void **state)
{
	static const struct {
		int error;
		enum fh_error_kind kind;
	} cases[] = {
		{ EINVAL, FH_ERROR_INPUT }, { E2BIG, FH_ERROR_INPUT }, { EPROTO, FH_ERROR_STATE },
		{ ECANCELED, FH_ERROR_STATE }, { ENOENT, FH_ERROR_MISSING },
		{ ENOPKG, FH_ERROR_MISSING }, { EBUSY, FH_ERROR_BUSY }, { EAGAIN, FH_ERROR_BUSY },
		{ EPERM, FH_ERROR_MACHINE }, { ENOSPC, FH_ERROR_MACHINE },
		{ EFAULT, FH_ERROR_INTERNAL },
		{ 0, FH_ERROR_MACHINE }, /* an error without errno is reported as EIO */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fh_error err = FH_ERROR_INIT;

		assert_int_equal(err.kind, FH_ERROR_NONE);
		error_set(&err, cases[i].error, "open '%s'", "x");
		assert_int_equal(err.kind, cases[i].kind);
		err = (struct fh_error)FH_ERROR_INIT;
		error_say(&err, cases[i].error, "no");
		assert_int_equal(err.kind, cases[i].kind);
	}
}

static void test_wrap_keeps_code_and_kind(void **state)
{
	struct fh_error err;

	error_say_kind(&err, FH_ERROR_STATE, EPERM, "a fork");
	assert_int_equal(error_wrap(&err, "step"), -EPERM);
	assert_int_equal(err.code, -EPERM);
	assert_int_equal(err.kind, FH_ERROR_STATE);
	assert_string_equal(err.message, "step: a fork");
}

/* --- structs of callers that were compiled for another version -------------------------------- */

struct now {
	size_t size;
	int first;
	const char *second;
};

struct later {
	size_t size;
	int first;
	const char *second;
	int64_t third;
};

static void test_sizes(void **state)
{
	struct later later = { sizeof(later), 1, "two", 0 };
	struct now read = { 9, 9, "nine" }, older = { offsetof(struct now, second), 7, "unseen" };

	assert_done(SIZED_READ(now, &read, &older, &error));
	assert_int_equal(read.size, sizeof(read));
	assert_int_equal(read.first, 7);
	assert_null(read.second);

	assert_done(SIZED_READ(now, &read, &later, &error));
	assert_string_equal(read.second, "two");
	later.third = (int64_t)1 << 60;
	assert_int_equal(SIZED_READ(now, &read, &later, &error), -E2BIG);
	assert_has(error.message, "struct now");

	assert_done(SIZED_READ(now, &read, NULL, &error));
	assert_int_equal(read.first, 0);
}

static void test_wrong_sizes(void **state)
{
	static const size_t sizes[] = { 0, 1, sizeof(size_t) - 1, 1 << 20, SIZE_MAX };
	struct now read = { 9, 9, "nine" };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct now given = { sizes[i], 1, "two" };

		assert_int_equal(SIZED_READ(now, &read, &given, &error), -EINVAL);
		assert_int_equal(error.kind, FH_ERROR_INPUT);
		assert_string_equal(error.message, "the size of struct now is not set");
		assert_string_equal(read.second, "nine");
	}
}

static void test_version(void **state)
{
	assert_int_equal(fh_api_version(), FH_API_VERSION);
	assert_true(strlen(fh_version()) >= strlen("0.1.0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_wrap_keeps_code_and_kind),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_wrong_sizes),
		cmocka_unit_test(test_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
