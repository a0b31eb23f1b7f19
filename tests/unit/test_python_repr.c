/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/fd.h"
#include "base/scope.h"
#include "python/repr.h"

#include <sys/wait.h>
#include <unistd.h>

/* Compares repr_add_*() with the repr() of this machine's Python. */

#define OUTPUT_MAX (64L * 1024 * 1024)

/* Runs a Python program with one argument, and appends what it prints. */
static void run_python(const char *program, const char *argument, struct buf *out)
{
	int ends[2], status = -1;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execl("/usr/bin/python3", "python3", "-c", program, argument, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	do {
		char chunk[65536];

		n = fd_read_full(ends[0], chunk, sizeof(chunk));
		assert_true(n >= 0);
		buf_add(out, chunk, (size_t)n);
	} while (n);
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void add_utf8(struct buf *out, uint32_t c)
{
	if (c < 0x80) {
		buf_add_char(out, (char)c);
		return;
	}
	if (c < 0x800) {
		buf_add_char(out, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			buf_add_char(out, (char)(0xe0 | c >> 12));
		} else {
			buf_add_char(out, (char)(0xf0 | c >> 18));
			buf_add_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		buf_add_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	buf_add_char(out, (char)(0x80 | (c & 0x3f)));
}

/* Tests all characters but surrogates, which are invalid in UTF-8. */
static void test_characters(void **state)
{
	auto_buf struct buf ours = BUF_INIT(OUTPUT_MAX), theirs = BUF_INIT(OUTPUT_MAX);
	auto_buf struct buf one = BUF_INIT(8);

	(void)state;
	run_python("import sys\n"
		   "for c in range(0x110000):\n"
		   "    if not 0xd800 <= c < 0xe000:\n"
		   "        sys.stdout.buffer.write(repr(chr(c)).encode() + b'\\n')",
			NULL, &theirs);
	for (uint32_t c = 0; c < 0x110000; c++) {
		size_t before = ours.len;

		if (c >= 0xd800 && c < 0xe000)
			continue;
		buf_clear(&one);
		add_utf8(&one, c);
		repr_add_text(&ours, buf_str(&one), one.len);
		buf_add_char(&ours, '\n');
		if (theirs.len < ours.len ||
				memcmp(buf_str(&ours) + before, buf_str(&theirs) + before,
						ours.len - before) != 0)
			fail_msg("U+%04X differs: %s", c, buf_str(&ours) + before);
	}
	assert_int_equal(ours.len, theirs.len);
}

/* A JSON array of values. repr_add_*() and Python print each, and the texts are compared. */
static const char values[] =
		"[{}, [], null, true, false, \"\", 0, -1, 9223372036854775807, 1.0, -0.0, 1.5e300, 1e-7,"
		"{\"Score\": 1.25}, {\"rmse\": 30340.11, \"r2\": 1.0, \"n\": 3}, [null, true, [\"a\", {}]],"
		"\"it's\", \"it's \\\"so\\\"\", \"\\\"\", \"a\\\\b\\n\\t\\r\\u0000\\u0007\\u001b\\u007f\","
		"\"\\u00a0\\u00ad\\u00fc\\u0378\\u200b\\u2028\\ue000\\ufeff\\uffff\","
		"\"\\ud83d\\ude00\\udb40\\udc01\\udbff\\udfff\", {\"k'\\n\\\"\": {\"\": [0.1, 1e16]}}]";

static void test_values(void **state)
{
	auto_buf struct buf ours = BUF_INIT(OUTPUT_MAX), theirs = BUF_INIT(OUTPUT_MAX);
	auto_json json_t *list = NULL;
	struct fh_error error;

	(void)state;
	assert_done(json_parse("values", values, strlen(values), &list, &error));
	for (size_t i = 0; i < json_array_size(list); i++) {
		repr_add_json(&ours, json_array_get(list, i));
		buf_add_char(&ours, '\n');
	}
	run_python("import json, sys\n"
		   "for value in json.loads(sys.argv[1]):\n"
		   "    sys.stdout.buffer.write(repr(value).encode() + b'\\n')",
			values, &theirs);
	assert_string_equal(buf_str(&ours), buf_str(&theirs));
}

/* In names of files, Python decodes invalid bytes to lone surrogates. repr_add_text() prints them
 * the same. */
static void test_bytes_that_are_no_text(void **state)
{
	auto_buf struct buf ours = BUF_INIT(OUTPUT_MAX), theirs = BUF_INIT(OUTPUT_MAX);
	static const char bytes[] = "a\xff\xc3\xed\xa0\x80 '\xf0\x9f";

	(void)state;
	repr_add_text(&ours, bytes, strlen(bytes));
	run_python("import os, sys\n"
		   "text = os.fsencode(sys.argv[1]).decode('utf-8', 'surrogateescape')\n"
		   "print(repr(text), end='')",
			bytes, &theirs);
	assert_string_equal(buf_str(&ours), buf_str(&theirs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_characters),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_bytes_that_are_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
