/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"
#include "processes.h"

#include "base/str.h"
#include "env/env.h"

#include <fumehood/aside.h>

#include <errno.h>
#include <signal.h>

/* Asides: commands and files in an episode's sandbox that are not steps. Variables of episodes. */

static const void *data;
static size_t n_data;

static void aside(struct fh_env *env, const char *text)
{
	assert_done(fh_env_aside(env, &FH_ACTION(.text = text), &step, &error));
}

static int put(struct fh_env *env, const char *path, const char *text)
{
	return fh_env_put_file(
			env, &FH_FILE(.path = path, .data = text, .n_bytes = strlen(text)), &error);
}

static int get(struct fh_env *env, const char *path)
{
	return fh_env_get_file(env, path, 100, &data, &n_data, &error);
}

static void check_got(const char *text)
{
	assert_int_equal(n_data, strlen(text));
	assert_memory_equal(data, text, n_data);
}

static void finish(struct fh_env *env)
{
	struct fh_env *done = NULL;

	assert_int_equal(fh_gym_wait(gym, 60000, &done, 1, &error), 1);
	assert_ptr_equal(done, env);
}

/* --- commands --------------------------------------------------------------------------------- */

static void test_an_aside_is_no_step(void **state)
{
	struct fh_env *env = open_episode("rows"); /* six steps */

	act(env, "false");
	for (int i = 0; i < 10; i++)
		aside(env, "cd /tmp; x=aside; (exit 3)");
	assert_int_equal(step.step, 1);
	assert_int_equal(step.exit_code, 3);
	assert_true(step.reward == 0 && !step.terminated && !step.truncated && !step.exit_status);
	assert_string_equal(step.working_dir, "/tmp");
	act(env, "echo $? $LAST_ACTION $PWD $x");
	assert_string_equal(step.observation, "1 false /tmp aside\n");
	assert_int_equal(step.step, 2);
	fh_env_close(env);
}

static void test_output_is_as_it_was_printed(void **state)
{
	static const char progress[] = "printf 'a\\rb\\r\\n\\n\\377'";
	struct fh_env *env = open_episode("rows");

	act(env, progress);
	assert_string_equal(step.observation, "b\n\n\\xff");
	aside(env, progress);
	assert_string_equal(step.observation, "a\rb\r\n\n\\xff");
	assert_int_equal(step.observation_bytes, 10);
	aside(env, "yes | head -c 70000");
	assert_int_equal(step.outcome, FH_OUTCOME_OUTPUT_LIMIT);
	assert_int_equal(step.observation_bytes, 64 << 10);
	assert_done(fh_env_aside(env, &FH_ACTION(.text = "echo begun; sleep 60", .timeout_s = 0.2),
			&step, &error));
	assert_int_equal(step.outcome, FH_OUTCOME_TIMEOUT);
	assert_string_equal(step.observation, "begun\n");
	fh_env_close(env);
}

static void test_a_new_shell_is_set_up(void **state)
{
	const struct env_setup setup = { .script = "mine() { echo $LOADED; }; LOADED=yes" };
	struct fh_env *env = open_env("rows");

	assert_done(env_set_setup(env, &setup, &error));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	aside(env, "exit 7");
	assert_int_equal(step.outcome, FH_OUTCOME_SHELL_RESTARTED);
	assert_true(step.restarted && step.exit_code == 7);
	act(env, "mine");
	assert_string_equal(step.observation, "yes\n");
	fh_env_close(env);
}

static void test_requests_count_for_the_next_step(void **state)
{
	struct fh_env *env = open_episode("rows");

	aside(env, "cp zeros.csv submission.csv; validate");
	assert_null(step.score);
	act(env, "true");
	assert_true(step.n_score == 1 && step.score[0].value == 0.5);
	act(env, "true");
	assert_null(step.score);
	aside(env, "submit");
	assert_false(step.terminated);
	assert_done(fh_env_validate(env, &step, &error));
	assert_string_equal(step.exit_status, "submitted");
	fh_env_close(env);
}

static void test_states(void **state)
{
	struct fh_env *env = open_env("rows");
	const struct fh_action bad = FH_ACTION(.text = "true", .timeout_s = -1);

	assert_int_equal(fh_env_aside(env, &FH_ACTION(.text = "true"), &step, &error), -EPROTO);
	assert_int_equal(put(env, "x", "y"), -EPROTO);
	assert_int_equal(get(env, "x"), -EPROTO);
	assert_done(fh_env_reset(env, NULL, &step, &error));
	assert_int_equal(fh_env_aside(env, &bad, &step, &error), -EINVAL);
	assert_int_equal(fh_env_aside(env, NULL, &step, &error), -EINVAL);
	assert_done(fh_env_step_start(env, &FH_ACTION(.text = "sleep 0.1"), &error));
	assert_int_equal(fh_env_aside(env, &FH_ACTION(.text = "true"), &step, &error), -EBUSY);
	assert_int_equal(get(env, "x"), -EBUSY);
	finish(env);
	assert_done(fh_env_end(env, &step, &error));

	/* The sandbox outlives the episode. */
	act(env, "echo left >left; exit_forfeit");
	assert_true(step.terminated || step.exit_code >= 0);
	act(env, "exit_forfeit");
	assert_true(step.terminated);
	aside(env, "cat left");
	assert_string_equal(step.observation, "left\n");
	assert_done(get(env, "left"));
	check_got("left\n");
	assert_int_equal(fh_env_step(env, &FH_ACTION(.text = "true"), &step, &error), -EPROTO);
	fh_env_close(env);
}

static void test_a_lost_sandbox(void **state)
{
	struct fh_env *env;
	pid_t porter;

	process_await_none("porter");
	env = open_episode("rows");
	porter = process_await("porter");
	assert_int_equal(kill(porter, SIGKILL), 0);
	while (process_parent(porter, NULL, 0) > 0)
		wait_a_little();
	aside(env, "true");
	assert_string_equal(fh_outcome_name(step.outcome), "sandbox_gone");
	assert_false(step.terminated);
	assert_true(get(env, "data.csv") < 0);
	act(env, "true");
	assert_string_equal(fh_outcome_name(step.outcome), "sandbox_gone");
	assert_true(step.terminated);
	aside(env, "true");
	assert_string_equal(fh_outcome_name(step.outcome), "sandbox_gone");
	assert_done(fh_env_reset(env, NULL, &step, &error));
	aside(env, "echo again");
	assert_string_equal(step.observation, "again\n");
	fh_env_close(env);
}

static void test_pollable(void **state)
{
	struct fh_env *env = open_episode("rows");
	const struct fh_file file = FH_FILE(.path = "run.sh", .data = "echo it ran", .n_bytes = 11,
			.mode = 0755);

	assert_done(fh_env_put_file_start(env, &file, &error));
	finish(env);
	assert_done(fh_env_end(env, &step, &error));
	assert_null(fh_env_file(env, &n_data));
	assert_done(fh_env_aside_start(env, &FH_ACTION(.text = "./run.sh | tee out"), &error));
	finish(env);
	assert_done(fh_env_end(env, &step, &error));
	assert_string_equal(step.observation, "it ran\n");
	assert_done(fh_env_get_file_start(env, "out", 0, &error));
	finish(env);
	assert_done(fh_env_end(env, &step, &error));
	data = fh_env_file(env, &n_data);
	check_got("it ran\n");
	assert_done(fh_env_get_file_start(env, "none", 0, &error));
	finish(env);
	assert_int_equal(fh_env_end(env, &step, &error), -ENOENT);

	assert_done(fh_env_aside_start(env, &FH_ACTION(.text = "sleep 60"), &error));
	fh_env_interrupt(env);
	finish(env);
	assert_done(fh_env_end(env, &step, &error));
	assert_string_equal(fh_outcome_name(step.outcome), "interrupted");
	act(env, "echo on");
	/* If the sleep did not start before the signal, bash tells here that it was killed. */
	assert_true(str_ends(step.observation, "on\n"));
	fh_env_close(env);
}

/* --- files ------------------------------------------------------------------------------------ */

static void test_files(void **state)
{
	struct fh_env *env = open_episode("rows");

	assert_done(put(env, "a/b/c.txt", "one"));
	assert_done(put(env, "a/b/c.txt", "two"));
	assert_done(put(env, "/home/agent/mine.sh", "echo mine"));
	assert_done(put(env, "/tmp//under", "temp"));
	act(env, "cat a/b/c.txt ~/mine.sh /tmp/under; echo >>a/b/c.txt; stat -c '%a %U' a/b a/b/c.txt");
	assert_string_equal(step.observation, "twoecho minetemp755 agent\n644 agent\n");
	assert_done(get(env, "/home/agent/workspace/a/b/c.txt"));
	check_got("two\n");
	act(env, ": >empty; head -c 101 /dev/zero >long; printf '\\0\\377' >bytes");
	assert_done(get(env, "empty"));
	assert_true(data != NULL && n_data == 0);
	assert_done(get(env, "bytes"));
	assert_memory_equal(data, "\0\377", 2);
	assert_int_equal(get(env, "long"), -EFBIG);
	assert_has(error.message, "'long' has 101 bytes");
	assert_int_equal(get(env, "none"), -ENOENT);
	assert_done(fh_env_get_file(env, "long", 0, &data, &n_data, &error));
	assert_int_equal(n_data, 101);
	fh_env_close(env);
}

/* An agent can't lead the owner to other files, or make a call wait. */
static void test_files_of_a_hostile_agent(void **state)
{
	static const char hostile[] =
			"mkfifo pipe; ln -s /etc link; ln -s /etc/passwd one; mkdir folder\n"
			"ln -s pipe to_pipe; mkdir shut; echo x >shut/x; chmod 0 shut shut/x\n"
			"python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'";
	static const struct {
		const char *path;
		int get, put;
	} cases[] = {
		{ "pipe", -EINVAL, -ENXIO },
		{ "to_pipe", -ELOOP, -ELOOP },
		{ "one", -ELOOP, -ELOOP },
		{ "link/passwd", -ELOOP, -ELOOP },
		{ "folder", -EINVAL, -EISDIR },
		{ "sock", -EINVAL, -ENXIO },
		{ "../../../etc/passwd", -ELOOP, -EXDEV },
		{ "/etc/passwd", -EINVAL, -EINVAL },
		{ "/home/agent", -EINVAL, -EINVAL },
		{ "/tmpx", -EINVAL, -EINVAL },
		{ "", -EINVAL, -EINVAL },
	};
	struct fh_env *env = open_episode("rows");

	act(env, hostile);
	assert_int_equal(step.exit_code, 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (get(env, cases[i].path) != cases[i].get)
			fail_msg("get %s: %s", cases[i].path, error.message);
		if (put(env, cases[i].path, "x") != cases[i].put)
			fail_msg("put %s: %d %s", cases[i].path, error.code, error.message);
		assert_int_equal(error.kind, FH_ERROR_INPUT);
	}
	assert_true(put(env, "../../../etc/passwd", "x") < 0);
	assert_string_equal(error.message, "'../../../etc/passwd' leads out of its folder");
	assert_done(get(env, "shut/x")); /* the agent's permissions don't hold for the owner */
	check_got("x\n");
	act(env, "echo on");
	assert_string_equal(step.observation, "on\n");
	fh_env_close(env);
}

static void test_a_full_sandbox(void **state)
{
	const size_t n = 80 << 20; /* limits.disk of the task is 64 MiB */
	char *large = calloc(1, n);
	struct fh_env *env = open_episode("rows");
	struct fh_file file = FH_FILE(.path = "large", .data = large, .n_bytes = n);

	memset(large, 'x', n);
	assert_int_equal(fh_env_put_file(env, &file, &error), -ENOSPC);
	file.n_bytes = (size_t)FH_FILE_BYTES_MAX + 1;
	assert_int_equal(fh_env_put_file(env, &file, &error), -EFBIG);
	file.n_bytes = 1;
	file.mode = 04755;
	assert_int_equal(fh_env_put_file(env, &file, &error), -EINVAL);
	file = FH_FILE(.path = "none", .n_bytes = 1);
	assert_int_equal(fh_env_put_file(env, &file, &error), -EINVAL);
	assert_int_equal(error.kind, FH_ERROR_INPUT);
	assert_string_equal(error.message, "'none' has 1 bytes, but no data");
	file.n_bytes = 0;
	assert_done(fh_env_put_file(env, &file, &error));
	free(large);
	act(env, "rm -f large; echo on");
	assert_string_equal(step.observation, "on\n");
	fh_env_close(env);
}

/* --- variables -------------------------------------------------------------------------------- */

static void test_variables(void **state)
{
	static const char *const variables[] = { "GREETING=a b'c\"d\n$x",
		"EMPTY=", "PATH=/home/agent/own:$PATH" };
	struct fh_env_options options = FH_ENV_OPTIONS(.task = "rows", .variables = variables,
			.n_variables = ARRAY_SIZE(variables), .max_steps = 20);
	const struct fh_file ls = FH_FILE(.path = "/home/agent/own/ls",
			.data = "#!/bin/sh\necho mine", .n_bytes = 19, .mode = 0755);
	struct fh_env *env;

	assert_done(fh_env_open(gym, &options, &env, &error));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	act(env, "sh -c 'echo \"$GREETING\" \"${EMPTY-unset}\"'; echo $PATH");
	assert_string_equal(step.observation,
			"a b'c\"d\n$x \n/home/agent/own:/fumehood/bin:/usr/local/sbin:/usr/local/bin:"
			"/usr/sbin:/usr/bin:/sbin:/bin\n");
	assert_done(fh_env_put_file(env, &ls, &error));
	act(env, "ls; exit");
	assert_has(step.observation, "mine\n");
	act(env, "ls"); /* in a new shell */
	assert_string_equal(step.observation, "mine\n");
	fh_env_close(env);
}

static void test_variables_are_checked(void **state)
{
	static const char *const wrong[] = { "", "=x", "A", "1A=x", "A B=x", "A-B=x", "UID=0",
		"BASH_ENV=/x", "PWD=/", "RANDOM=1" };
	struct fh_env *env = NULL;
	struct fh_env_options options = FH_ENV_OPTIONS(.task = "rows", .n_variables = 1);
	const char *many[FH_VARIABLES_MAX + 1];

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		options.variables = &wrong[i];
		assert_int_equal(fh_env_open(gym, &options, &env, &error), -EINVAL);
	}
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = "A=1";
	options.variables = many;
	options.n_variables = ARRAY_SIZE(many);
	assert_int_equal(fh_env_open(gym, &options, &env, &error), -E2BIG);
	assert_null(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_aside_is_no_step),
		cmocka_unit_test(test_output_is_as_it_was_printed),
		cmocka_unit_test(test_a_new_shell_is_set_up),
		cmocka_unit_test(test_requests_count_for_the_next_step),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_a_lost_sandbox),
		cmocka_unit_test(test_pollable),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_files_of_a_hostile_agent),
		cmocka_unit_test(test_a_full_sandbox),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_variables_are_checked),
	};

	return cmocka_run_group_tests(tests, gym_setup, gym_teardown);
}
