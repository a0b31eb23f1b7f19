/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "../../tools/aci/table.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <sys/mman.h>
#include <unistd.h>

/* Gives a path by which the file behind a descriptor can be opened again. */
static void path_of(int in, char *out, size_t size)
{
	snprintf(out, size, "/proc/self/fd/%d", in);
}

static int file_of(const char *text, size_t n)
{
	int fd = memfd_create("table", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, n), (ssize_t)n);
	return fd;
}

/* Writes all cells of a table as text: a row ends with a newline. Cells are in brackets, missing
 * cells are a dash. */
static void read_all(struct data_table *t, struct buf *out, int *last)
{
	while ((*last = table_next(t)) > 0) {
		for (size_t i = 0; i < t->n; i++)
			if (t->cells[i])
				buf_printf(out, "[%s]", t->cells[i]);
			else
				buf_add_str(out, "-");
		buf_add_char(out, '\n');
	}
}

static const struct {
	const char *file, *cells;
	size_t columns, extra, fewer;
	int last;
} tables[] = {
	{ "a,b\n1,2\n", "[1][2]\n", 2, 0, 0, 0 },
	{ "a,b\r\n1,2\r\n", "[1][2]\n", 2, 0, 0, 0 },
	{ "\xef\xbb\xbf"
	  "a|b\n1|2",
			"[1][2]\n", 2, 0, 0, 0 },
	{ "a\tb\n\"x\ty\"\t\n", "[x\ty][]\n", 2, 0, 0, 0 },
	{ "a;b\n\"say \"\"so\"\"\";\"two\nlines\"\n", "[say \"so\"][two\nlines]\n", 2, 0, 0, 0 },
	{ "a,b\n1\n1,2,3\n", "[1]-\n[1][2]\n", 2, 1, 1, 0 },
	{ "a,b\n\n\n1,2\n\n", "[1][2]\n", 2, 0, 0, 0 },
	{ "a\n\n1\n", "[]\n[1]\n", 1, 0, 0, 0 }, /* an empty line is an empty cell */
	{ "a,b\n\"open,2\n", "[open,2\n]-\n", 2, 0, 1, 0 },
	{ "\n\na,b\n1,2\n", "[1][2]\n", 2, 0, 0, 0 },
	{ "\ta\n1\t2\n", "[1][2]\n", 2, 0, 0, 0 }, /* the first column has no name */
	{ "\n  {\"a\":1}\n", "[1]\n", 1, 0, 0, 0 },
	{ "{\"a\":1}\n\n{\"b\":[2]}\n", "[1]\n-[[2]]\n", 2, 0, 0, 0 },
	{ "{\"a\":null,\"b\":\"x\"}\n", "[][x]\n", 2, 0, 0, 0 },
	{ "{\"a\":1}\n3\n", "[1]\n", 1, 0, 0, -1 },
	{ "{\"a\":", "", 0, 0, 0, -1 },
};

static void test_tables(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		auto_buf struct buf got = BUF_INIT(4096);
		int last, fd = file_of(tables[i].file, strlen(tables[i].file));
		char path[64];
		struct data_table t;

		path_of(fd, path, sizeof(path));
		assert_true(table_open(path, &t));
		read_all(&t, &got, &last);
		if (!str_eq(buf_str(&got), tables[i].cells))
			fail_msg("%zu: %s", i, buf_str(&got));
		assert_int_equal(last, tables[i].last);
		assert_int_equal(t.n, tables[i].columns);
		assert_int_equal(t.extra_cells, tables[i].extra);
		assert_int_equal(t.missing_cells, tables[i].fewer);
		table_close(&t);
		close(fd);
	}
}

/* Empty lines before the first row are skipped, however many there are. */
static void test_empty_start(void **state)
{
	static const char *const texts[] = { "a,b\n1,2\n", "{\"a\":1,\"b\":2}\n" };
	static const size_t before[] = { 0, 1, TABLE_HEAD_BYTES - 3, TABLE_HEAD_BYTES - 1,
		TABLE_HEAD_BYTES, TABLE_HEAD_BYTES + 1, 3 * TABLE_HEAD_BYTES };
	static char blank[3 * TABLE_HEAD_BYTES];

	memset(blank, '\n', sizeof(blank));
	for (size_t i = 0; i < ARRAY_SIZE(before) * ARRAY_SIZE(texts); i++) {
		const char *text = texts[i % ARRAY_SIZE(texts)];
		size_t empty = before[i / ARRAY_SIZE(texts)];
		int fd = file_of(blank, empty);
		char path[64];
		struct data_table t;

		assert_int_equal(write(fd, text, strlen(text)), strlen(text));
		path_of(fd, path, sizeof(path));
		assert_true(table_open(path, &t));
		assert_int_equal(table_next(&t), 1);
		assert_string_equal(t.cells[1], "2");
		assert_int_equal(t.line, empty + (t.json ? 1 : 2));
		table_close(&t);
		close(fd);
	}
}

/* Skipping millions of empty lines must not recurse, which would need stack for each line. */
static void test_empty_lines(void **state)
{
	static const char *const heads[] = { "a,b\n1,2\n", "{\"a\":1}\n" };
	static char blank[4 << 20];

	memset(blank, '\n', sizeof(blank));
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		int fd = file_of(heads[i], strlen(heads[i]));
		char path[64];
		struct data_table t;

		assert_int_equal(write(fd, blank, sizeof(blank)), sizeof(blank));
		path_of(fd, path, sizeof(path));
		assert_true(table_open(path, &t));
		assert_int_equal(table_next(&t), 1);
		assert_int_equal(table_next(&t), 0);
		table_close(&t);
		close(fd);
	}
}

/* A column above the limit is left out and counted. */
static void test_columns(void **state)
{
	for (int more = 0; more < 2; more++) {
		auto_buf struct buf text = BUF_INIT(1 << 16);
		char path[64];
		struct data_table t;
		int fd;

		for (int i = 1; i < ACI_TABLE_COLUMNS_MAX + more; i++)
			buf_add_str(&text, "a,");
		buf_add_str(&text, "a\n");
		fd = file_of(text.data, text.len);
		path_of(fd, path, sizeof(path));
		assert_true(table_open(path, &t));
		assert_int_equal(t.n, ACI_TABLE_COLUMNS_MAX);
		assert_int_equal(t.more_columns, more);
		table_close(&t);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_empty_start),
		cmocka_unit_test(test_empty_lines),
		cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
