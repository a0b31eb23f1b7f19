/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/json.h"
#include "base/log.h"
#include "base/scope.h"
#include "base/str.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>

/* Redirects the program's log to a file in memory. end() returns the logged text. */
static int begin(struct log_options options)
{
	options.fd = memfd_create("log", MFD_CLOEXEC);
	assert_true(options.fd >= 0);
	log_setup(&options);
	return options.fd;
}

static const char *end(int fd)
{
	static char text[200000];
	ssize_t n;

	log_setup(&(struct log_options){ .level = LOG_INFO, .fd = STDERR_FILENO });
	lseek(fd, 0, SEEK_SET);
	n = fd_read_full(fd, text, sizeof(text) - 1);
	close(fd);
	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

static void say(enum log_level level, const char *message)
{
	log_line(NULL, level, message, NULL, 0);
}

static void test_text(void **state)
{
	static const struct log_field over[] = { { "task", "titanic" }, { "why", "it is done" },
		{ "empty", "" }, { "none", NULL }, { "word", "null" } };
	static const struct log_field odd = { "line", "a\nb" };
	int fd = begin((struct log_options){ .level = LOG_INFO });

	(void)state;
	say(LOG_DEBUG, "dropped");
	log_line(NULL, LOG_INFO, "episode over", over, ARRAY_SIZE(over));
	log_line(NULL, LOG_WARN, "odd\x1b[31m", &odd, 1);
	assert_string_equal(end(fd),
			"info: episode over task=titanic why=\"it is done\" empty=\"\" "
			"none=null word=\"null\"\n"
			"warn: odd\\x1b[31m line=\"a\\nb\"\n");
}

static void test_json(void **state)
{
	static const struct log_field fields[] = { { "path", "a\xff" }, { "none", NULL } };
	int fd = begin((struct log_options){ .level = LOG_ERROR, .json = true });

	(void)state;
	say(LOG_WARN, "dropped");
	log_line(NULL, LOG_ERROR, "it \"broke\"", fields, ARRAY_SIZE(fields));
	assert_string_equal(end(fd),
			"{\"level\":\"error\",\"message\":\"it \\\"broke\\\"\","
			"\"path\":\"a\\\\xff\",\"none\":null}\n");
}

static void test_time(void **state)
{
	int fd = begin((struct log_options){ .level = LOG_DEBUG, .json = true, .time = true });
	auto_json json_t *record = NULL;
	const char *time = NULL;
	const char *text;

	(void)state;
	say(LOG_DEBUG, "now");
	text = end(fd);
	assert_int_equal(json_parse("log", text, strlen(text), &record, NULL), 0);
	assert_int_equal(json_get_str(record, "time", JSON_REQUIRED, &time, NULL), 0);
	assert_int_equal(strlen(time), strlen("2026-01-31T12:00:00.123Z"));
	assert_true(str_ends(time, "Z"));
}

static void test_a_record_is_one_line(void **state)
{
	int fd = begin((struct log_options){ .level = LOG_INFO });
	static char huge[100000];
	const struct log_field field = { "value", huge };
	const char *text;

	(void)state;
	memset(huge, 'x', sizeof(huge) - 1);
	log_line(NULL, LOG_INFO, "huge", &field, 1);
	text = end(fd);
	assert_true(strlen(text) <= 65536);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static void take(void *context, const char *record, size_t n)
{
	strncat(context, record, n);
}

static void test_a_log_of_its_own(void **state)
{
	static const struct log_field fields[] = { { "key", "a b" }, { "none", NULL } };
	char text[200] = "";
	struct log_options own = { .level = LOG_WARN, .fd = -1, .write = take, .context = text };
	int fd = begin((struct log_options){ .level = LOG_ERROR });

	(void)state;
	log_line(&own, LOG_INFO, "dropped", NULL, 0);
	log_line(&own, LOG_WARN, "kept", fields, 2);
	log_line(NULL, LOG_ERROR, "the program's", fields, 1);
	assert_string_equal(text, "warn: kept key=\"a b\" none=null\n");
	assert_string_equal(end(fd), "error: the program's key=\"a b\"\n");
}

static void test_levels(void **state)
{
	(void)state;
	assert_int_equal(log_level_of("debug"), LOG_DEBUG);
	assert_int_equal(log_level_of("error"), LOG_ERROR);
	assert_int_equal(log_level_of("loud"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_a_record_is_one_line),
		cmocka_unit_test(test_a_log_of_its_own),
		cmocka_unit_test(test_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
