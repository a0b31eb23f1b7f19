/* SPDX-License-Identifier: Apache-2.0 */
#include "report/index.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "fixture.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/eventfd.h>

#define RECORDS 3

static size_t rows_of(struct run_index *ix)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct run_rows rows = { 0 };

	assert_int_equal(run_index_rows(ix, &arena, &rows, NULL), 0);
	return rows.n;
}

/* A reading that was stopped leaves its records for the next one. */
static void test_stop(void **state)
{
	static const char results[] =
			"{\"agent\": [{\"Score\": 1.5}], \"baseline\": {\"Score\": 1}}";
	auto_close int stop_fd = eventfd(1, EFD_CLOEXEC);
	auto_run_index struct run_index *ix = NULL;
	char folder[FOLDER_MAX];

	assert_int_equal(folder_make(folder), 0);
	for (int i = 0; i < RECORDS; i++) {
		auto_free char *run = xasprintf("%s/m__blotto__a__run_%d", folder, i);
		auto_free char *path = path_join(run, "results.json");

		assert_int_equal(path_mkdirs(run, 0777, NULL), 0);
		assert_int_equal(fd_write_file(path, results, strlen(results), 0666, NULL), 0);
	}
	assert_int_equal(run_index_open(folder, NULL, &ix, NULL), 0);
	assert_int_equal(run_index_update(ix, stop_fd, NULL), 0);
	assert_int_equal(rows_of(ix), 0);
	assert_int_equal(run_index_update(ix, -1, NULL), 0);
	assert_int_equal(rows_of(ix), RECORDS);
	assert_int_equal(folder_remove(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
