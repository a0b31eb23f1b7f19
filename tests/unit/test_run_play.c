/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "run/run.h"

#include <sys/eventfd.h>
#include <unistd.h>

/* Plays a run through the library's interface: options go in, events and warnings come out. Nothing
 * is printed. */

static char folder[FOLDER_MAX];
static char *tasks_dir;
static struct fh_error error;
static struct run run;
static int stop_fd;

static struct seen {
	int events[RUN_WAITS + 1];
	int played, warnings;
	enum run_event stop_at; /* event at which a stop is requested; RUN_WAITS: never */
	char exit_status[64];
} seen;

static void on_event(void *user, enum run_event event, const struct episode *e)
{
	struct seen *s = user;

	s->events[event]++;
	if (event == RUN_ENDED)
		snprintf(s->exit_status, sizeof(s->exit_status), "%s", e->exit_status);
	if (event == s->stop_at && event != RUN_WAITS)
		assert_int_equal(eventfd_write(stop_fd, 1), 0);
}

static void on_played(void *user, const struct episode *e, const struct fh_step *step)
{
	struct seen *s = user;

	s->played++;
}

static void on_warning(void *user, const char *sentence)
{
	struct seen *s = user;

	s->warnings++;
}

static const struct warner warner = { .warn = on_warning, .user = &seen };

static int setup(void **state)
{
	tasks_dir = path_join(places_get()->share_dir, "tests/tasks");
	assert_int_equal(folder_make(folder), 0);
	assert_int_equal(setenv("FUMEHOOD_STATE", folder, 1), 0);
	stop_fd = eventfd(0, EFD_CLOEXEC);
	seen = (struct seen){ .stop_at = RUN_WAITS };
	return stop_fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	run_close(&run);
	close(stop_fd);
	free(tasks_dir);
	return folder_remove(folder);
}

static struct run_options asked_for(const char *task)
{
	static const char *models[] = { "baseline" };
	static const char *tasks[1];

	tasks[0] = task;
	return (struct run_options){
		.episode = { .tasks_dir = tasks_dir, .mlgym_root = "" },
		.tasks = { .items = tasks, .n = 1 },
		.models = { .items = models, .n = 1 },
		.out = folder,
		.runs = 2,
		.jobs = 2,
		.human_in = -1,
		.human_out = -1,
		.warner = &warner,
	};
}

static void play(const struct run_options *options)
{
	struct run_play how = { .on = on_event,
		.wake_fd = -1,
		.played = on_played,
		.user = &seen,
		.stop_fd = stop_fd,
		.interval_ms = -1 };

	run_init(&run, options);
	assert_done(run_prepare(&run, &error));
	assert_done(run_open(&run, &error));
	assert_done(run_play(&run, &how, &error));
}

static void test_plays_all(void **state)
{
	struct run_options options = asked_for("rows");

	play(&options);
	assert_int_equal(run.plan.n, 2);
	assert_int_equal(seen.events[RUN_BEGAN], 2);
	assert_int_equal(seen.events[RUN_ENDED], 2);
	assert_int_equal(seen.played, 4); /* each run: the baseline's command and `submit` */
	assert_int_equal(seen.events[RUN_STOPPING], 0);
	assert_string_equal(seen.exit_status, "submitted");
	assert_true(run.plan.episodes[1].plan.seed == 1 && run.plan.episodes[1].recorded);
}

static void test_stops(void **state)
{
	struct run_options options = asked_for("rows");

	options.jobs = 1;
	seen.stop_at = RUN_BEGAN;
	play(&options);
	assert_int_equal(seen.events[RUN_STOPPING], 1);
	assert_int_equal(seen.events[RUN_ENDED], 1);
	assert_int_equal(run.begun, 1);
	assert_string_equal(seen.exit_status, "early_exit");
	assert_false(run_is_opening(&run));
}

static void test_warns_and_refuses(void **state)
{
	struct run_options options = asked_for("nothing-of-that-name");

	options.agent.given.config = true;
	run_init(&run, &options);
	assert_true(run_prepare(&run, &error) < 0);
	assert_has(error.message, "nothing-of-that-name");
	assert_int_equal(seen.warnings, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_plays_all, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stops, setup, teardown),
		cmocka_unit_test_setup_teardown(test_warns_and_refuses, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
