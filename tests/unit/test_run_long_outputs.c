/* SPDX-License-Identifier: Apache-2.0 */
#include "chat_fixture.h"

#include "base/fd.h"
#include "run/run.h"

#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* Plays steps that print a mebibyte. The run's event loop must use little CPU time for each. This
 * also holds if a language model plays and is sent the last five outputs. */

/* Most steps take 1 ms of CPU time, the worst 8. A slow machine, or load on the same core, adds to
 * that. Formatting each byte took 240 ms. */
#ifdef __SANITIZE_ADDRESS__
#define TURN_MS_MAX 400
#else
#define TURN_MS_MAX 40
#endif
/* Each action is played this many times. The fastest try counts, because other load slows only
 * some. */
#define TRIES 6

/* Commands to play, escaped as in a JSON string. */
static const char *const outputs[] = {
	"head -c 1048576 /dev/zero",
	"head -c 1048576 /dev/zero | tr '\\\\0' '\\\\377'",
	"head -c 1048576 /dev/zero | tr '\\\\0' '\\\"'",
	"head -c 1048576 /dev/zero | tr '\\\\0' '\\\\n'",
	"head -c 1048576 /dev/zero | tr '\\\\0' '\\\\\\\\'",
	"head -c 1048576 /dev/zero | tr '\\\\0' '\\\\33'",
	"yes x | head -c 1048576",
	"yes $'x\\\\ry' | head -c 1048576",
	"yes $'\\\\xc3\\\\xa9' | head -c 1048576",
	"yes $'\\\\xf0\\\\x9f\\\\x98\\\\x80' | head -c 1048576",
};

static char folder[FOLDER_MAX];
static struct fh_error error;

static struct seen {
	int64_t since_ns, turn_ns; /* CPU time: of the loop's last wait; longest without one */
	int64_t shortest_ns;       /* the least turn_ns of all steps */
	int played;
} seen;

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void on_event(void *user, enum run_event event, const struct episode *e)
{
	int64_t now_ns = cpu_ns(), turn_ns = now_ns - seen.since_ns;

	if (event != RUN_WAITS)
		return;
	seen.turn_ns = turn_ns > seen.turn_ns ? turn_ns : seen.turn_ns;
	seen.since_ns = now_ns;
}

static void on_played(void *user, const struct episode *e, const struct fh_step *step)
{
	int64_t turn_ns = seen.turn_ns;

	assert_true(!seen.played || strlen(step->observation) >= 1 << 19);
	if (seen.played++ && turn_ns < seen.shortest_ns)
		seen.shortest_ns = turn_ns;
	seen.turn_ns = 0;
}

static int setup(void **state)
{
	assert_int_equal(setenv("FUMEHOOD_STATE", folder, 1), 0);
	return folder_make(folder);
}

static int teardown(void **state)
{
	return folder_remove(folder);
}

static void write_actions(const char *path, const char *action)
{
	auto_buf struct buf text = BUF_INIT(1 << 20);

	for (int i = 0; i <= TRIES; i++)
		buf_printf(&text, "\"%s\"\n", action);
	assert_done(fd_write_file(path, buf_str(&text), text.len, 0600, &error));
}

static void play(const char *model, const char *url)
{
	auto_free char *tasks_dir = path_join(places_get()->share_dir, "tests/tasks");
	auto_free char *out = path_join(folder, "runs");
	const char *task = "words", *models[] = { model };
	struct run_options options = {
		.episode = { .tasks_dir = tasks_dir, .mlgym_root = "", .max_steps = TRIES + 1 },
		.tasks = { .items = &task, .n = 1 },
		.models = { .items = models, .n = 1 },
		.agent = { .url = url, .key = "sk-0123456789abcdefghijklmnopqrstuvwxyz" },
		.out = out,
		.runs = 1,
		.jobs = 1,
		.human_in = -1,
		.human_out = -1,
	};
	const struct run_play how = { .on = on_event,
		.played = on_played,
		.wake_fd = -1,
		.stop_fd = eventfd(0, EFD_CLOEXEC),
		.interval_ms = -1 };
	struct run run;

	seen = (struct seen){ .shortest_ns = INT64_MAX };
	run_init(&run, &options);
	assert_done(run_prepare(&run, &error));
	assert_done(run_open(&run, &error));
	assert_done(run_play(&run, &how, &error));
	assert_true(run.plan.episodes[0].recorded);
	run_close(&run);
	close(how.stop_fd);
}

static void assert_short(const char *what)
{
	long long us = (long long)seen.shortest_ns / 1000;

	assert_true(seen.played > TRIES / 2);
	if (us > TURN_MS_MAX * 1000)
		fail_msg("'%s' takes %lld us of the loop", what, us);
	print_message("%lld us: %s\n", us, what);
}

static void test_long_outputs(void **state)
{
	auto_free char *actions = path_join(folder, "actions.jsonl");
	auto_free char *model = xasprintf("actions:%s", actions);

	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++) {
		write_actions(actions, outputs[i]);
		play(model, NULL);
		assert_short(outputs[i]);
	}
}

static void test_long_conversations(void **state)
{
	static const char *const models[] = { "openai:zeros", "openai:quotes", "openai:letters" };
	struct chat_server server;

	chat_server_start(&server, "outputs.json", false);
	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		play(models[i], server.url);
		assert_short(models[i]);
	}
	chat_server_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_long_outputs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_conversations, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
