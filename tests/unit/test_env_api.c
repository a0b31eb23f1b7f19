/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"

#include <errno.h>

/* Calls functions of the public API: checks how they read arguments, and which kinds of errors they
 * return. */

/* --- sizes ------------------------------------------------------------------------------------ */

static void test_sizes(void **state)
{
	struct fh_gym_options gym_options = { .state_dir = state_dir };
	struct fh_env_options options = { .task = "rows" };
	struct fh_env *env = open_env("rows"), *other = NULL;
	struct fh_action action = { .text = "echo on" };
	struct fh_reset reset = { .seed = 1 };
	struct fh_gym *second = NULL;

	assert_int_equal(fh_gym_open(&gym_options, &second, &error), -EINVAL);
	assert_int_equal(fh_env_open(gym, &options, &other, &error), -EINVAL);
	assert_int_equal(fh_env_reset(env, &reset, &step, &error), -EINVAL);
	reset.size = sizeof(reset);
	assert_done(fh_env_reset(env, &reset, &step, &error));
	assert_int_equal(fh_env_step(env, &action, &step, &error), -EINVAL);
	assert_has(error.message, "struct fh_action");
	assert_int_equal(error.kind, FH_ERROR_INPUT);
	assert_null(second);
	assert_null(other);

	/* Act as a caller compiled for an older version, whose struct ended with `text`. */
	action.size = offsetof(struct fh_action, timeout_s);
	action.timeout_s = -1;
	assert_done(fh_env_step(env, &action, &step, &error));
	assert_string_equal(step.observation, "on\n");
	assert_int_equal(step.observation_bytes, 3);
	fh_env_close(env);
}

/* --- kinds of errors -------------------------------------------------------------------------- */

static void assert_kind(int r, int code, enum fh_error_kind kind)
{
	assert_int_equal(r, -code);
	assert_int_equal(error.code, -code);
	assert_int_equal(error.kind, kind);
}

static int open_task(const char *task)
{
	struct fh_env *env;
	int r = fh_env_open(gym, &FH_ENV_OPTIONS(.task = task), &env, &error);

	if (r == 0)
		fh_env_close(env);
	return r;
}

static void test_kinds(void **state)
{
	struct fh_env *env = open_env("rows");
	struct fh_action late = FH_ACTION(.text = "ls", .timeout_s = -1);

	assert_kind(open_task("no-such-task"), ENOENT, FH_ERROR_MISSING);
	assert_kind(open_task("rows:no-such-variant"), ENOENT, FH_ERROR_MISSING);
	assert_kind(open_task(NULL), EINVAL, FH_ERROR_INPUT);
	assert_kind(fh_env_open(gym, &FH_ENV_OPTIONS(.task = "rows", .reward = 77), &env, &error),
			EINVAL, FH_ERROR_INPUT);
	assert_string_equal(error.message, "unknown kind of reward 77");
	assert_kind(fh_env_open(gym, NULL, &env, &error), EINVAL, FH_ERROR_INPUT);
	assert_kind(fh_env_validate(env, &step, &error), EPROTO, FH_ERROR_STATE);
	assert_kind(fh_env_end(env, &step, &error), EPROTO, FH_ERROR_STATE);
	assert_done(fh_env_reset_start(env, NULL, &error));
	assert_kind(fh_env_step(env, &late, &step, &error), EBUSY, FH_ERROR_BUSY);
	while (!is_over(env))
		;
	assert_done(fh_env_end(env, &step, &error));
	assert_kind(fh_env_step(env, &late, &step, &error), EINVAL, FH_ERROR_INPUT);
	assert_kind(fh_env_step(env, NULL, &step, &error), EINVAL, FH_ERROR_INPUT);
	/* A failing baseline command is the task's fault: expect FH_ERROR_INTERNAL. */
	assert_kind(open_task("rows:worse"), EIO, FH_ERROR_INTERNAL);
	fh_env_close(env);
}

/* Errors have the same code if the caller passes NULL for the message. */
static void test_no_error(void **state)
{
	struct fh_env *env = NULL;

	assert_int_equal(fh_env_open(gym, &FH_ENV_OPTIONS(.task = "none"), &env, NULL), -ENOENT);
	assert_int_equal(fh_env_open(gym, &FH_ENV_OPTIONS(.task = "rows:worse"), &env, NULL), -EIO);
	assert_null(env);
	assert_int_equal(fh_gym_open(&FH_GYM_OPTIONS(.state_dir = "/dev/null/x"),
					 &(struct fh_gym *){ 0 }, NULL),
			-ENOTDIR);
}

/* --- the limit of output ---------------------------------------------------------------------- */

/* An environment may show less or more of an output than its task. */
static void test_output_bytes(void **state)
{
	static const struct {
		int64_t bytes;
		const char *action, *outcome;
		size_t shown; /* bytes of output in the observation */
		const char *note;
	} cases[] = {
		{ 5, "printf 12345", "ok", 5, "" },
		{ 5, "printf 123456", "output_limit", 5,
				"\n(There was more output; only the first 5 bytes are kept.)\n" },
		{ 2048, "yes | head -c 9000 | tr -d '\\n'", "output_limit", 2048,
				"\n(There was more output; only the first 2 KiB are kept.)\n" },
		{ 3 << 20, "head -c 3M /dev/zero | tr '\\0' x", "ok", 3 << 20, "" },
		{ 2, "printf '\\xff\\xfe'", "ok", 8, "" }, /* \xff\xfe as text */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fh_env *env;

		assert_done(fh_env_open(gym,
				&FH_ENV_OPTIONS(.task = "rows", .output_bytes = cases[i].bytes),
				&env, &error));
		assert_done(fh_env_reset(env, NULL, &step, &error));
		act(env, cases[i].action);
		assert_string_equal(fh_outcome_name(step.outcome), cases[i].outcome);
		assert_int_equal(step.observation_bytes, cases[i].shown + strlen(cases[i].note));
		assert_string_equal(step.observation + cases[i].shown, cases[i].note);
		fh_env_close(env);
	}
	for (int64_t bytes = -1; bytes <= FH_OUTPUT_BYTES_MAX + 1LL;
			bytes += FH_OUTPUT_BYTES_MAX + 2LL) {
		struct fh_env *env = NULL;

		assert_int_equal(fh_env_open(gym,
						 &FH_ENV_OPTIONS(.task = "rows",
								 .output_bytes = bytes),
						 &env, &error),
				-EINVAL);
		assert_string_equal(error.message, "output_bytes should be 0 to 1073741824");
	}
}

/* --- seeds and the salt of the judge's random numbers ----------------------------------------- */

static void test_salt_of_a_reset(void **state)
{
	struct fh_env *env;

	assert_done(fh_env_open(
			gym, &FH_ENV_OPTIONS(.task = "words", .judge_salt = 5), &env, &error));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	assert_int_equal(step.judge_salt, 5);
	assert_done(fh_env_reset(env, &FH_RESET(.judge_salt = 7), &step, &error));
	assert_int_equal(step.judge_salt, 7);
	assert_done(fh_env_reset(env, &FH_RESET(.seed = 1), &step, &error));
	assert_int_equal(step.judge_salt, 5);
	assert_kind(fh_env_reset(env, &FH_RESET(.judge_salt = FH_JUDGE_SALT_MAX + 1), &step,
				    &error),
			EINVAL, FH_ERROR_INPUT);
	act(env, "echo the episode goes on");
	fh_env_close(env);
}

/* --- starts ----------------------------------------------------------------------------------- */

static void test_start_validate_and_submit(void **state)
{
	struct fh_env *env = open_episode("words");

	act(env, "cp list.txt words.txt");
	assert_done(fh_env_validate_start(env, &error));
	while (!is_over(env))
		;
	assert_done(fh_env_end(env, &step, &error));
	assert_non_null(step.score);
	assert_done(fh_env_submit_start(env, &error));
	while (!is_over(env))
		;
	assert_done(fh_env_end(env, &step, &error));
	assert_string_equal(step.exit_status, "submitted");
	fh_env_close(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_no_error),
		cmocka_unit_test(test_salt_of_a_reset),
		cmocka_unit_test(test_output_bytes),
		cmocka_unit_test(test_start_validate_and_submit),
	};

	return cmocka_run_group_tests(tests, gym_setup, gym_teardown);
}
