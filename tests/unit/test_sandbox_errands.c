/* SPDX-License-Identifier: Apache-2.0 */
#include "processes.h"
#include "sandbox_fixture.h"

#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/*
 * A sandbox's start must not wait for a layer's copy, a nursery's restart, or a nursery that does
 * not read. A lease on a file blocks the copy for as long as the test needs.
 */

static int lease = -1;
static const char *leased;

static void hold(void)
{
	lease = open(leased, O_RDWR | O_CLOEXEC);
	assert_true(lease >= 0);
	assert_int_equal(fcntl(lease, F_SETLEASE, F_WRLCK), 0);
}

/* Waits until another process tries to open the leased file. */
static void await_reader(void)
{
	while (fcntl(lease, F_GETLEASE) == F_WRLCK)
		wait_a_little();
}

static void let_go(void)
{
	close_fd(&lease);
}

static pid_t nursery_pid(void)
{
	static struct processes all;

	process_descendants(getpid(), &all);
	return process_named(&all, "fh-nursery");
}

static void kill_nursery(void)
{
	pid_t pid = nursery_pid();

	assert_true(pid > 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	while (process_parent(pid, NULL, 0) >= 0)
		wait_a_little();
}

static enum sandbox_event_kind next_kind(struct sandbox *sb)
{
	struct sandbox_event event;

	sandbox_next_event(sb, &event);
	return event.kind;
}

static void await_ready(struct sandbox *sb)
{
	struct sandbox_event event;

	sandbox_wait_event(sb, PATIENCE_MS, &event);
	if (event.kind != SANDBOX_READY)
		fail_msg("the sandbox is not ready (%d): %s", event.kind, event.text);
}

/* --- a layer that is copied by another thread ------------------------------------------------- */

struct adding {
	pthread_t thread;
	const char *name;
	atomic_bool over;
	int r;
	struct fh_error error;
};

static void *add_layer(void *arg)
{
	struct adding *a = arg;

	a->r = owner_add_layer(owner, a->name,
			&(struct layer_item){ leased, "workspace/file", false }, 1, &a->error);
	atomic_store(&a->over, true);
	return NULL;
}

static void begin_adding(struct adding *a, const char *name)
{
	*a = (struct adding){ .name = name };
	hold();
	assert_int_equal(pthread_create(&a->thread, NULL, add_layer, a), 0);
	await_reader();
}

static void end_adding(struct adding *a)
{
	struct sandbox *sb;

	assert_false(atomic_load(&a->over));
	let_go();
	pthread_join(a->thread, NULL);
	if (a->r < 0)
		fail_msg("the layer was not made: %s", a->error.message);
	sb = start_sandbox(&(struct sandbox_options){ .layer = a->name });
	assert_string_equal(run_script(sb, "cat file")->output, "of the layer\n");
	sandbox_close(sb);
}

static void test_copied_layer_holds_up_nobody(void **state)
{
	struct sandbox *sb;
	struct adding adding;

	begin_adding(&adding, "copied");
	sb = start_sandbox(&(struct sandbox_options){ .layer = "empty" });
	assert_string_equal(run_script(sb, "ls")->output, "");
	sandbox_close(sb);
	assert_int_equal(sandbox_start(owner, &(struct sandbox_options){ .layer = "copied" }, &sb,
					 &error),
			-ENOENT);
	end_adding(&adding);
}

static void test_nursery_killed_as_a_layer_is_copied(void **state)
{
	struct sandbox *sb;
	struct adding adding;

	begin_adding(&adding, "copied-twice");
	kill_nursery();
	sb = begin_sandbox(&(struct sandbox_options){ .layer = "empty" });
	assert_int_equal(next_kind(sb), SANDBOX_NONE);
	end_adding(&adding);
	await_ready(sb);
	sandbox_close(sb);
}

/* --- a nursery that is restarted -------------------------------------------------------------- */

static void test_start_waits_for_no_nursery(void **state)
{
	struct sandbox *before = start_sandbox(&(struct sandbox_options){ .layer = "empty" });
	struct sandbox *after[3];

	assert_done(owner_add_layer(owner, "again",
			&(struct layer_item){ leased, "workspace/file", false }, 1, &error));
	hold();
	kill_nursery();
	for (size_t i = 0; i < ARRAY_SIZE(after); i++)
		after[i] = begin_sandbox(&(struct sandbox_options){ .layer = "again" });
	await_reader();
	assert_string_equal(run_script(before, "echo on")->output, "on\n");
	sandbox_close(after[1]); /* closed before the nursery makes it */
	assert_int_equal(next_kind(after[0]), SANDBOX_NONE);
	assert_true(lease >= 0 && fcntl(lease, F_GETLEASE) != F_UNLCK);
	let_go();
	await_ready(after[0]);
	await_ready(after[2]);
	assert_string_equal(run_script(after[2], "cat file")->output, "of the layer\n");
	sandbox_close(after[0]);
	sandbox_close(after[2]);
	sandbox_close(before);
}

static void test_nursery_that_can_not_be_started_is_told(void **state)
{
	const char *file = scratch_file("lost", "of the layer\n");
	struct sandbox *sb;
	struct sandbox_event event;

	assert_done(owner_add_layer(owner, "lost",
			&(struct layer_item){ file, "workspace/file", false }, 1, &error));
	assert_int_equal(unlink(file), 0);
	kill_nursery();
	sb = begin_sandbox(&(struct sandbox_options){ .layer = "empty" });
	sandbox_wait_event(sb, PATIENCE_MS, &event);
	assert_int_equal(event.kind, SANDBOX_FAILED);
	assert_non_null(strstr(event.text, "start the nursery of sandboxes: "));
	assert_non_null(strstr(event.text, "layer 'lost'"));
	sandbox_close(sb);
	scratch_file("lost", "of the layer\n");
	sb = start_sandbox(&(struct sandbox_options){ .layer = "empty" });
	sandbox_close(sb);
}

/* --- a nursery that does not read its messages ------------------------------------------------ */

static void test_start_waits_for_no_reader(void **state)
{
	struct sandbox *all[120];
	pid_t nursery = nursery_pid();

	assert_true(nursery > 0);
	assert_int_equal(kill(nursery, SIGSTOP), 0);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		all[i] = begin_sandbox(&(struct sandbox_options){ .layer = "empty" });
	for (size_t i = 0; i < ARRAY_SIZE(all); i += 2)
		sandbox_close(all[i]);
	assert_int_equal(kill(nursery, SIGCONT), 0);
	for (size_t i = 1; i < ARRAY_SIZE(all); i += 2)
		await_ready(all[i]);
	for (size_t i = 1; i < ARRAY_SIZE(all); i += 2)
		sandbox_close(all[i]);
	assert_int_equal(nursery_pid(), nursery);
}

static int open_with_file(void **state)
{
	open_owner(state);
	sigaction(SIGIO, &(struct sigaction){ .sa_handler = SIG_IGN },
			NULL); /* ignore: the kernel signals when a lease is broken */
	leased = xstrdup(scratch_file("leased", "of the layer\n"));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copied_layer_holds_up_nobody),
		cmocka_unit_test(test_nursery_killed_as_a_layer_is_copied),
		cmocka_unit_test(test_start_waits_for_no_nursery),
		cmocka_unit_test(test_nursery_that_can_not_be_started_is_told),
		cmocka_unit_test(test_start_waits_for_no_reader),
	};

	return cmocka_run_group_tests(tests, open_with_file, close_owner);
}
