/* SPDX-License-Identifier: Apache-2.0 */
#include "report/zip.h"

#include "base/scope.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <unistd.h>

/* Reads a number of n bytes, the lowest first. */
static uint64_t number(const char *at, int n)
{
	uint64_t v = 0;

	for (int i = n; i-- > 0;)
		v = v << 8 | (uint8_t)at[i];
	return v;
}

/* Writes an archive with a file, as if `before` bytes preceded. Returns its bytes. */
static size_t archive(uint64_t before, char *out, size_t size)
{
	auto_close int fd = memfd_create("zip", MFD_CLOEXEC);
	struct zip z = ZIP_INIT(fd);
	ssize_t n;

	z.at = before;
	assert_int_equal(zip_add(&z, "a.txt", "123456789", 9, NULL), 0);
	assert_int_equal(zip_end(&z, NULL), 0);
	zip_release(&z);
	n = pread(fd, out, size, 0);
	assert_true(n > 22);
	return (size_t)n;
}

static void test_small(void **state)
{
	char data[1000];
	size_t n = archive(0, data, sizeof(data));
	const char *end = data + n - 22;

	assert_memory_equal(data, "PK\3\4", 4);
	assert_int_equal(number(data + 14, 4), 0xcbf43926); /* CRC-32 of "123456789" */
	assert_memory_equal(end, "PK\5\6", 4);
	assert_int_equal(number(end + 10, 2), 1);
	assert_int_equal(number(end + 16, 4), 30 + 5 + 9); /* offset of the directory */
	assert_memory_equal(data + number(end + 16, 4), "PK\1\2", 4);
}

static void test_beyond_4_gib(void **state)
{
	const uint64_t before = 5ULL << 30;
	char data[1000];
	size_t n = archive(before, data, sizeof(data));
	const char *end = data + n - 22, *locator = end - 20, *end64 = locator - 56;
	const char *entry = data + (number(end64 + 48, 8) - before);

	assert_int_equal(number(end + 16, 4), 0xffffffff);
	assert_memory_equal(locator, "PK\6\7", 4);
	assert_int_equal(number(locator + 8, 8) - before, (uint64_t)(end64 - data));
	assert_memory_equal(end64, "PK\6\6", 4);
	assert_int_equal(number(end64 + 32, 8), 1);
	assert_memory_equal(entry, "PK\1\2", 4);
	assert_int_equal(number(entry + 42, 4), 0xffffffff);
	assert_int_equal(number(entry + 46 + 5 + 4, 8), before); /* in the extra field */
}

static void test_many_files(void **state)
{
	auto_close int fd = memfd_create("zip", MFD_CLOEXEC);
	struct zip z = ZIP_INIT(fd);
	char end[22 + 20 + 56];

	for (int i = 0; i < 70000; i++)
		assert_int_equal(zip_add(&z, "a", "", 0, NULL), 0);
	assert_int_equal(zip_end(&z, NULL), 0);
	assert_int_equal(pread(fd, end, sizeof(end), (off_t)(z.at - sizeof(end))), sizeof(end));
	assert_memory_equal(end, "PK\6\6", 4);
	assert_int_equal(number(end + 32, 8), 70000);
	assert_int_equal(number(end + 56 + 20 + 10, 2), 0xffff);
	zip_release(&z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_beyond_4_gib),
		cmocka_unit_test(test_many_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
