/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"
#include "processes.h"

#include "base/fd.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Tests a gym that a program polls: one thread, many environments, and ways to miss an event. */

#define PATIENCE_MS 60000 /* ms, far more than any operation takes */

static bool readable(int timeout_ms)
{
	struct pollfd p = { .fd = fh_gym_fd(gym), .events = POLLIN };

	return poll(&p, 1, timeout_ms) == 1;
}

static void begin(struct fh_env *env, const char *text)
{
	assert_done(fh_env_step_start(env, &FH_ACTION(.text = text), &error));
}

/* Waits until the operation of `env`, the only one, has ended. Stores the result in `step`. */
static int finish(struct fh_env *env)
{
	struct fh_env *done = NULL;
	int n;

	/* Wait with poll(2) on the gym's descriptor, as a user's own event loop would. */
	do {
		if (!readable(PATIENCE_MS))
			fail_msg("nothing to do for a minute");
		n = fh_gym_wait(gym, 0, &done, 1, &error);
		assert_done(n);
	} while (n == 0);
	assert_ptr_equal(done, env);
	return fh_env_end(env, &step, &error);
}

static void poll_act(struct fh_env *env, const char *text)
{
	begin(env, text);
	assert_done(finish(env));
}

static struct fh_env *open_polled(const char *task)
{
	struct fh_env *env;

	assert_done(fh_env_open(gym,
			&FH_ENV_OPTIONS(.task = task, .max_steps = 100, .polled = true), &env,
			&error));
	assert_done(fh_env_reset_start(env, NULL, &error));
	assert_done(finish(env));
	return env;
}

/* --- one thread, many environments ------------------------------------------------------------ */

/* Runs first: after fh_gym_fd() every step makes the descriptor readable. */
static void test_lazy_descriptor(void **state)
{
	static const char *const commands[] = { "true", "sleep 0.05", "seq 100000" };
	struct pollfd p = { .fd = fh_gym_lazy_fd(gym), .events = POLLIN };
	struct fh_env *env, *done;
	int n;

	assert_done(fh_env_open(gym,
			&FH_ENV_OPTIONS(.task = "rows", .max_steps = 100, .polled = true), &env,
			&error));
	assert_done(fh_env_reset_start(env, NULL, &error));
	for (size_t i = 0; i < 30; i++) {
		while ((n = fh_gym_wait(gym, 0, &done, 1, &error)) == 0)
			assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
		assert_done(n);
		assert_done(fh_env_end(done, &step, &error));
		begin(env, commands[i % ARRAY_SIZE(commands)]);
	}
	fh_env_close(env);
}

#define ENVS 12
#define ROUNDS 5

static size_t index_of(struct fh_env *const *envs, const struct fh_env *env)
{
	for (size_t i = 0; i < ENVS; i++)
		if (envs[i] == env)
			return i;
	fail_msg("an environment that was never begun");
	return 0;
}

/* Waits until the steps of all environments have ended, taking at most three at a time. */
static void collect(struct fh_env *const *envs, int round)
{
	bool seen[ENVS] = { false };

	for (size_t left = ENVS; left;) {
		struct fh_env *done[3];
		int n = fh_gym_wait(gym, PATIENCE_MS, done, 3, &error);

		/* fh_gym_wait() returns 0 if a signal came: SIGCHLD for a thread that blocks it
		 * arrives here. */
		assert_done(n);
		for (int i = 0; i < n; i++) {
			size_t k = index_of(envs, done[i]);
			char expected[64];

			assert_false(seen[k]);
			seen[k] = true;
			assert_done(fh_env_end(done[i], &step, &error));
			snprintf(expected, sizeof(expected), "%zu %d\n", k, round);
			if (round >= 0)
				assert_string_equal(step.observation, expected);
			left--;
		}
	}
}

static void test_many(void **state)
{
	struct fh_env *envs[ENVS];

	for (size_t i = 0; i < ENVS; i++) {
		envs[i] = open_env("words");
		assert_done(fh_env_reset_start(envs[i], &FH_RESET(.seed = i), &error));
	}
	collect(envs, -1);
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < ENVS; i++) {
			char text[64];

			snprintf(text, sizeof(text), "sleep 0.0%zu; echo %zu %d", i % 3, i, round);
			begin(envs[i], text);
		}
		collect(envs, round);
	}
	assert_false(readable(0));
	for (size_t i = 0; i < ENVS; i++)
		fh_env_close(envs[i]);
	assert_int_equal(fh_gym_wait(gym, 0, envs, ENVS, &error), 0);
}

static void test_protocol(void **state)
{
	struct fh_env *env = open_polled("rows"), *done;

	assert_int_equal(fh_env_end(env, &step, &error), -EPROTO);
	begin(env, "sleep 3; echo x");
	assert_int_equal(fh_env_end(env, &step, &error), -EBUSY);
	assert_int_equal(fh_env_step_start(env, &FH_ACTION(.text = "ls"), &error), -EBUSY);
	assert_int_equal(fh_env_reset_start(env, NULL, &error), -EBUSY);
	assert_int_equal(fh_gym_wait(gym, 0, &done, 0, &error), -EINVAL);
	assert_int_equal(fh_gym_wait(gym, 10, &done, 1, &error), 0);
	assert_done(finish(env));
	assert_string_equal(step.observation, "x\n");
	/* A step that ends as soon as it begins is returned like other steps. */
	poll_act(env, "edit 1:2");
	poll_act(env, "skip");
	assert_string_equal(step.exit_status, "skipped");
	assert_done(fh_env_reset_start(env, NULL, &error));
	assert_done(finish(env));
	fh_env_close(env);
}

static void test_close_while_working(void **state)
{
	struct fh_env *env = open_polled("rows"), *other = open_polled("words");

	begin(env, "sleep 100");
	begin(other, "sleep 0.2; echo here");
	fh_env_close(env);
	assert_done(finish(other));
	assert_string_equal(step.observation, "here\n");
	/* Close an environment whose step has ended, but whose result was never taken. */
	begin(other, "skip");
	fh_env_close(other);
	assert_int_equal(fh_gym_wait(gym, 0, &env, 1, &error), 0);
}

/* --- timeouts and interrupts ------------------------------------------------------------------ */

static void test_deadlines(void **state)
{
	struct fh_env *slow = open_polled("rows"), *quick = open_polled("rows");
	struct fh_action action = FH_ACTION(.text = "sleep 100", .timeout_s = 30);

	assert_done(fh_env_step_start(slow, &action, &error));
	action.timeout_s = 0.2;
	assert_done(fh_env_step_start(quick, &action, &error));
	assert_done(finish(quick));
	assert_string_equal(fh_outcome_name(step.outcome), "timeout");
	poll_act(quick, "echo fine");
	assert_string_equal(step.observation, "fine\n");
	fh_env_interrupt(slow);
	assert_done(finish(slow));
	assert_has(step.observation, "(The command was interrupted.)");
	assert_string_equal(fh_outcome_name(step.outcome), "interrupted");
	assert_false(step.terminated);
	poll_act(slow, "echo goes on");
	assert_string_equal(step.observation, "goes on\n");
	fh_env_close(slow);
	fh_env_close(quick);
}

static void *interrupt_sleep(void *env)
{
	assert_true(process_await("sleep") > 0);
	fh_env_interrupt(env);
	return NULL;
}

static void *interrupt_scoring(void *env)
{
	assert_true(process_await("python3") > 0);
	fh_env_interrupt(env);
	return NULL;
}

static void test_interrupt_from_a_thread(void **state)
{
	struct fh_env *env = open_polled("rows");
	pthread_t thread;

	pthread_create(&thread, NULL, interrupt_sleep, env);
	begin(env, "sleep 100");
	assert_done(finish(env));
	pthread_join(thread, NULL);
	assert_has(step.observation, "interrupted");

	/* An interrupt also ends a step of the blocking function. */
	pthread_create(&thread, NULL, interrupt_sleep, env);
	act_within(env, "sleep 100", 60);
	pthread_join(thread, NULL);
	assert_has(step.observation, "interrupted");
	assert_true(step.duration_s < 30);
	fh_env_close(env);
}

static void test_interrupt_scoring(void **state)
{
	struct fh_env *env = open_polled("words");
	pthread_t thread;

	poll_act(env, "echo one two three sleep >words.txt");
	pthread_create(&thread, NULL, interrupt_scoring, env);
	poll_act(env, "validate");
	pthread_join(thread, NULL);
	assert_string_equal(step.grade_error, "Scoring was interrupted.");
	assert_string_equal(fh_outcome_name(step.outcome), "interrupted");
	poll_act(env, "cp list.txt words.txt; validate");
	assert_non_null(step.score);
	fh_env_close(env);
}

/* --- events that epoll reports only once ------------------------------------------------------ */

static void test_background_output(void **state)
{
	struct fh_env *env = open_polled("rows"), *done;

	/* Between two steps, a background job writes more than the pipe holds, and blocks. */
	poll_act(env, "(sleep 0.1; head -c 300000 /dev/zero | tr '\\0' x) &");
	assert_int_equal(fh_gym_wait(gym, 400, &done, 1, &error), 0);
	poll_act(env, "wait; echo; echo end");
	assert_string_equal(fh_outcome_name(step.outcome), "output_limit");
	poll_act(env, "echo clean");
	assert_string_equal(step.observation, "clean\n");

	/* If a pipe is full before a step begins, the step's own output must not block. The pipe is
	 * smaller beside many sandboxes: pipe(7), /proc/sys/fs/pipe-user-pages-soft. */
	poll_act(env, "room=$(python3 -c 'import fcntl; print(fcntl.fcntl(2, fcntl.F_GETPIPE_SZ))')");
	poll_act(env, "(sleep 0.1; head -c $room /dev/zero | tr '\\0' y; exec tail -f /dev/null) &");
	assert_true(process_await("tail") > 0);
	assert_int_equal(fh_gym_wait(gym, 0, &done, 1, &error), 0);
	poll_act(env, "echo not stuck >&2; exec 1>&-");
	assert_int_equal(step.exit_code, 0);
	poll_act(env, "echo after");
	assert_string_equal(step.observation, "after\n");
	fh_env_close(env);
}

static void test_new_shell(void **state)
{
	struct fh_env *env = open_polled("rows");

	for (int i = 0; i < 3; i++) {
		poll_act(env, "exit 4");
		assert_string_equal(fh_outcome_name(step.outcome), "shell_restarted");
		poll_act(env, "echo new; sleep 0.05; head -c 100000 /dev/zero | wc -c");
		assert_string_equal(step.observation, "new\n100000\n");
	}
	/* Interrupt a command that only a kill of the shell ends, then play two steps in the new
	 * shell. */
	begin(env, "trap '' INT; exec sleep 1000");
	fh_env_interrupt(env);
	assert_done(finish(env));
	poll_act(env, "echo one");
	poll_act(env, "sleep 0.05; echo two");
	assert_string_equal(step.observation, "two\n");
	fh_env_close(env);
}

/* An action can be longer than the socket takes at once, while the shell does not read yet. */
static void test_long_action(void **state)
{
	auto_free char *text = malloc(FH_ACTION_BYTES_MAX + 1);
	struct fh_env *env = open_polled("rows");

	memset(text, 'x', FH_ACTION_BYTES_MAX);
	memcpy(text, "sleep 0.1; : ", 13);
	text[FH_ACTION_BYTES_MAX] = '\0';
	for (int i = 0; i < 3; i++) {
		poll_act(env, "(sleep 0.1; kill -STOP $$; sleep 0.4; kill -CONT $$) &");
		nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
		poll_act(env, text);
		assert_string_equal(fh_outcome_name(step.outcome), "ok");
		poll_act(env, "echo ${#LAST_ACTION}");
		assert_string_equal(step.observation, "1048576\n");
	}
	fh_env_close(env);
}

static void test_scoring(void **state)
{
	struct fh_env *rows = open_polled("rows"), *guess = open_polled("guess");

	poll_act(rows, "cp zeros.csv submission.csv; validate");
	assert_true(step.score && step.score[0].value == 0.5);
	poll_act(guess, "validate");
	assert_non_null(step.score);
	poll_act(rows, "exit_cost");
	assert_string_equal(step.exit_status, "autosubmission (exit_cost)");
	assert_done(fh_env_reset_start(rows, &FH_RESET(.seed = 1), &error));
	assert_done(finish(rows));
	poll_act(rows, "submit");
	assert_string_equal(step.exit_status, "submission_not_found (submit)");
	fh_env_close(rows);
	fh_env_close(guess);
}

/* --- a sandbox that is killed ----------------------------------------------------------------- */

/* Lists the children that a process's main thread has started. */
static size_t children(long pid, long *out, size_t max)
{
	auto_buf struct buf text = BUF_INIT(4096);
	char path[64], *at, *end;
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", pid, pid);
	if (fd_read_file(path, &text, NULL) < 0 || !text.len)
		return 0;
	at = text.data;
	for (long child = strtol(at, &end, 10); end > at && n < max; child = strtol(at, &end, 10)) {
		out[n++] = child;
		at = end;
	}
	return n;
}

/* Whether a PID 1 has ended, with all processes of its sandbox: it is gone or a zombie. */
static bool has_ended(long pid)
{
	auto_buf struct buf text = BUF_INIT(4096);
	char path[64];
	const char *name_end;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	if (fd_read_file(path, &text, NULL) < 0)
		return true;
	name_end = strrchr(buf_str(&text), ')');
	return name_end && name_end[1] && name_end[2] == 'Z';
}

static void kill_and_wait(long pid)
{
	kill((pid_t)pid, SIGKILL);
	while (!has_ended(pid))
		sched_yield();
}

/* Kills the PID 1 of each sandbox: these are the children of our nurseries. */
static void kill_sandboxes(void)
{
	long nurseries[16], ones[64];
	size_t n = children(getpid(), nurseries, ARRAY_SIZE(nurseries));

	for (size_t i = 0; i < n; i++) {
		size_t k = children(nurseries[i], ones, ARRAY_SIZE(ones));

		while (k)
			kill_and_wait(ones[--k]);
	}
}

static void check_gone(struct fh_env *env)
{
	assert_string_equal(fh_outcome_name(step.outcome), "sandbox_gone");
	assert_true(step.terminated);
	assert_string_equal(step.exit_status, "early_exit");
	assert_has(step.observation, "Exited (early_exit)");
	assert_done(fh_env_reset(env, NULL, &step, &error));
	act(env, "echo again");
	assert_string_equal(step.observation, "again\n");
}

static void test_gone(void **state)
{
	struct fh_env *env = open_polled("rows");

	begin(env, "sleep 100");
	kill_sandboxes();
	assert_done(finish(env));
	check_gone(env);
	kill_sandboxes();
	act(env, "ls");
	check_gone(env);
	fh_env_close(env);
}

/* If a nursery is killed, a new nursery makes the sandboxes that are still to be made. */
static void test_killed_nursery(void **state)
{
	struct fh_env *envs[ENVS];
	long nursery;

	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < ENVS; i++) {
			envs[i] = open_env("words");
			assert_done(fh_env_reset_start(envs[i], &FH_RESET(.seed = i), &error));
			if (i == ENVS / 2) {
				assert_int_equal(children(getpid(), &nursery, 1), 1);
				kill((pid_t)nursery, SIGKILL);
			}
		}
		collect(envs, -1);
		for (size_t i = 0; i < ENVS; i++) {
			poll_act(envs[i], "echo on");
			assert_string_equal(step.observation, "on\n");
			fh_env_close(envs[i]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lazy_descriptor),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_protocol),
		cmocka_unit_test(test_close_while_working),
		cmocka_unit_test(test_deadlines),
		cmocka_unit_test(test_interrupt_from_a_thread),
		cmocka_unit_test(test_interrupt_scoring),
		cmocka_unit_test(test_background_output),
		cmocka_unit_test(test_new_shell),
		cmocka_unit_test(test_long_action),
		cmocka_unit_test(test_scoring),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_killed_nursery),
	};

	return cmocka_run_group_tests(tests, gym_setup, gym_teardown);
}
