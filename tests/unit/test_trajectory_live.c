/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "python/pyjson.h"
#include "trajectory/event_log.h"
#include "trajectory/export.h"
#include "trajectory/live.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

/* live.json: when it is written, how it is read meanwhile, and what stays of it after a kill. */

static char folder[FOLDER_MAX];
static struct live *live;
static struct arena arena;

static int make_live(void **state)
{
	int r = folder_make(folder);

	live = live_new(folder);
	return r;
}

static int remove_live(void **state)
{
	live_free(live);
	arena_release(&arena);
	arena = (struct arena)ARENA_INIT;
	return folder_remove(folder);
}

static struct live_now a_step(const char *action)
{
	return (struct live_now){ .phase = LIVE_STEP, .step = 1, .action = action };
}

/* The file, parsed. NULL: there is none, or it is being written. */
static const struct pyjson *read_live(void)
{
	auto_free char *events = path_join(folder, EXPORT_EVENTS);
	auto_buf struct buf text = BUF_INIT(LIVE_BYTES_MAX);
	struct pyjson_source source = { .name = LIVE_FILE };
	const struct pyjson *v;
	struct fh_error err;

	if (!live_read(events, &text))
		return NULL;
	source.data = buf_str(&text);
	source.n = text.len;
	if (pyjson_read(&arena, &source, &v, &err) < 0)
		fail_msg("%s", err.message);
	return v;
}

static const char *text_of(const char *member)
{
	return pyjson_text(pyjson_get(read_live(), member));
}

static void write_live(const struct live_now *now, const char *output)
{
	auto_buf struct buf text = BUF_INIT(LIVE_OUTPUT_BYTES);

	buf_add_str(&text, output);
	live_write(live, now, &text);
}

static void a_long_step_has_a_file(void **state)
{
	struct live_now now = a_step("sleep 9");

	assert_false(live_look(live, &now));
	now.step = 2; /* the first step was quick */
	assert_false(live_look(live, &now));
	assert_null(read_live());
	assert_true(live_look(live, &now));
	now.thought = "I wait.";
	write_live(&now, "half\n");
	assert_string_equal(text_of("phase"), "step");
	assert_string_equal(text_of("action"), "sleep 9");
	assert_string_equal(text_of("thought"), "I wait.");
	assert_string_equal(text_of("output"), "half\n");
	assert_false(live_look(live, &now));
	now.printed = 10;
	assert_true(live_look(live, &now));
}

static void the_output_is_that_of_the_step(void **state)
{
	struct live_now now = a_step("make; validate");

	live_look(live, &now);
	write_live(&now, "made\n");
	now.phase = LIVE_GRADING;
	assert_false(live_look(live, &now));
	live_write(live, &now, NULL);
	assert_string_equal(text_of("output"), "made\n");
	now = (struct live_now){ .phase = LIVE_MODEL, .step = 2 };
	live_look(live, &now);
	live_write(live, &now, NULL);
	assert_string_equal(text_of("phase"), "model");
	assert_null(pyjson_get(read_live(), "output"));
	assert_null(pyjson_get(read_live(), "action"));
}

static void long_texts_are_cut(void **state)
{
	auto_free char *action = xcalloc(1, 2 * LIVE_TEXT_BYTES);
	struct live_now now = a_step(action);

	memset(action, '\1', LIVE_TEXT_BYTES - 1);
	memcpy(action + LIVE_TEXT_BYTES - 1, "\xc3\xa9", 2);
	now.thought = action;
	live_write(live, &now, NULL);
	assert_int_equal(strlen(text_of("action")), LIVE_TEXT_BYTES - 1);
}

static atomic_bool written;

/* Writes texts of several pages, each of one letter. */
static void *write_often(void *unused)
{
	char text[LIVE_OUTPUT_BYTES] = { 0 };

	for (int i = 0; i < 2000; i++) {
		struct live_now now = a_step(text);

		memset(text, 'a' + i % 26, sizeof(text) - 1 - (size_t)(i % 7) * 1000);
		now.thought = text;
		write_live(&now, text);
		memset(text, 0, sizeof(text));
	}
	written = true;
	return unused;
}

static void a_reader_sees_whole_texts(void **state)
{
	pthread_t writer;
	int reads = 0;

	written = false;
	assert_int_equal(pthread_create(&writer, NULL, write_often, NULL), 0);
	while (!written || !reads) {
		const struct pyjson *v = read_live();

		if (!v)
			continue;
		reads++;
		assert_string_equal(pyjson_text(pyjson_get(v, "output")),
				pyjson_text(pyjson_get(v, "thought")));
	}
	pthread_join(writer, NULL);
}

static void a_link_is_not_followed(void **state)
{
	auto_free char *other = path_join(folder, "other"), *path = path_join(folder, LIVE_FILE);
	struct fh_error err;
	struct live_now now = a_step("ls");

	assert_int_equal(fd_write_file(other, "{}", 2, 0600, &err), 0);
	assert_int_equal(symlink(other, path), 0);
	assert_null(read_live());
	live_write(live, &now, NULL);
	assert_null(read_live());
	live_forget(folder);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(other, F_OK), 0);
}

static void a_killed_run_is_told_from_one_that_goes_on(void **state)
{
	auto_free char *events = path_join(folder, EXPORT_EVENTS);
	struct live_now now = a_step("sleep 9");
	struct event_log *log = NULL;
	struct fh_error err;
	pid_t child = fork();
	int fd;

	if (!child) {
		live_write(live, &now, NULL);
		_exit(event_log_open(events, &log, &err) < 0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	fd = fd_open_plain(events, &err);
	assert_true(fd >= 0);
	assert_non_null(read_live());
	assert_false(event_log_is_open(fd));
	assert_int_equal(event_log_resume(events, &log, &err), 0);
	assert_true(event_log_is_open(fd));
	event_log_close(log);
	assert_false(event_log_is_open(fd));
	close(fd);
}

#define test(f) cmocka_unit_test_setup_teardown(f, make_live, remove_live)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_long_step_has_a_file),
		test(the_output_is_that_of_the_step),
		test(long_texts_are_cut),
		test(a_reader_sees_whole_texts),
		test(a_link_is_not_followed),
		test(a_killed_run_is_told_from_one_that_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
