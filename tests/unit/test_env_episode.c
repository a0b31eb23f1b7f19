/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* Plays episodes from reset to end. Checks what each step reports, and how episodes end. */

#define PERFECT "printf 'id,sign\\n1,0\\n2,1\\n3,1\\n4,0\\n' >submission.csv; "
#define GOOD "printf 'id,sign\\n1,0\\n2,1\\n3,1\\n4,1\\n' >submission.csv; "
#define HALF "cp zeros.csv submission.csv; "

static void test_first_observation(void **state)
{
	struct fh_env *env = open_episode("rows");
	struct fh_env_info info;

	assert_has(step.observation, "Write the sign of each row's x");
	assert_has(step.observation, "Baseline Score: {'accuracy': 0.5}\n");
	assert_has(step.observation, "/home/agent/workspace");
	assert_int_equal(step.step, 0);
	assert_int_equal(step.exit_code, -1);
	assert_string_equal(step.working_dir, "/home/agent/workspace");
	assert_string_equal(step.open_file, "n/a");
	assert_null(step.score);
	assert_null(step.best);
	assert_null(step.exit_status);
	assert_int_equal(step.n_baseline, 1);
	assert_true(step.baseline[0].value == 0.5);

	fh_env_info(env, &info);
	assert_string_equal(info.task, "rows");
	assert_string_equal(info.variant, "");
	assert_string_equal(info.metric, "accuracy");
	assert_string_equal(info.submission, "/home/agent/workspace/submission.csv");
	assert_true(info.maximize);
	assert_int_equal(info.max_steps, 6);
	assert_int_equal(strlen(info.task_hash), 64);
	assert_int_equal(strlen(info.fingerprint), 64);
	fh_env_close(env);
}

static void test_outcomes(void **state)
{
	static const struct {
		const char *action;
		enum fh_outcome outcome;
		int exit_code;
		const char *has;
	} cases[] = {
		{ "echo one; echo two >&2", FH_OUTCOME_OK, 0, "one\ntwo\n" },
		{ "", FH_OUTCOME_OK, 0, "" },
		{ "(exit 7)", FH_OUTCOME_OK, 7, "" },
		{ "printf 'a\\377b'", FH_OUTCOME_OK, 0, "a\\xffb" },
		{ "printf '10%%\\r100%%\\ndone\\n'", FH_OUTCOME_OK, 0, "100%\ndone\n" },
		{ "sleep 30", FH_OUTCOME_TIMEOUT, -2, "still running after 2 s" },
		{ "echo so far; sleep 30", FH_OUTCOME_TIMEOUT, -2, "so far\n(The command was" },
		{ "echo python3; sleep 2.5", FH_OUTCOME_OK, 0, "python3" },
		{ "exit 3", FH_OUTCOME_SHELL_RESTARTED, 3, "ended with status 3" },
		{ "kill -9 $$", FH_OUTCOME_SHELL_RESTARTED, 137, "ended by signal 9" },
		{ "echo 'unclosed\nls", FH_OUTCOME_SYNTAX_ERROR, -2, "Nothing was run" },
		{ "edit 1:2\nx", FH_OUTCOME_MALFORMED_EDIT, -1, "Nothing was run" },
		{ "head -c 200000 /dev/zero | tr '\\0' x", FH_OUTCOME_OUTPUT_LIMIT, 0,
				"only the first 64 KiB" },
		{ "python3 -c 'x = bytearray(10**9)'", FH_OUTCOME_MEMORY_LIMIT, 137,
				"may use 0.25 GiB" },
	};
	struct fh_env *env;

	assert_done(fh_env_open(gym, &FH_ENV_OPTIONS(.task = "rows:quick", .max_steps = 100), &env,
			&error));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		print_message("%s\n", cases[i].action);
		if (cases[i].outcome == FH_OUTCOME_MEMORY_LIMIT && step.memory_peak_bytes < 0) {
			print_message("skipped: no control groups here, so no memory limit\n");
			continue;
		}
		if (cases[i].outcome == FH_OUTCOME_TIMEOUT)
			act(env, cases[i].action);
		else
			act_within(env, cases[i].action,
					strstr(cases[i].action, "python3") ? 0 : 20);
		assert_string_equal(
				fh_outcome_name(step.outcome), fh_outcome_name(cases[i].outcome));
		if (cases[i].exit_code >= -1)
			assert_int_equal(step.exit_code, cases[i].exit_code);
		assert_has(step.observation, cases[i].has);
		assert_int_equal(step.step, i + 1);
		assert_false(step.terminated || step.truncated);
		assert_null(step.exit_status);
	}
	fh_env_close(env);
}

static void test_shell_stays(void **state)
{
	struct fh_env *env = open_episode("words");

	act(env, "cd /tmp; f() { echo f$A; }; export A=7");
	assert_string_equal(step.working_dir, "/tmp");
	act(env, "f");
	assert_string_equal(step.observation, "f7\n");
	act(env, "echo \"$LAST_ACTION\"");
	assert_string_equal(step.observation, "f\n");
	act(env, "edit 1:2\n");
	assert_string_equal(step.working_dir, "/tmp");
	act(env, "exit");
	assert_string_equal(step.working_dir, "/home/agent/workspace");
	act(env, "pwd; f");
	assert_has(step.observation, "/home/agent/workspace\n");
	assert_int_equal(step.exit_code, 127);
	fh_env_close(env);
}

static void test_usage(void **state)
{
	struct fh_env *env = open_episode("rows");

	act_within(env, "head -c 1000000 /dev/urandom >big; i=0; while ((i++ < 50000)); do :; done",
			20);
	assert_true(step.duration_s > 0);
	if (step.cpu_s < 0) {
		print_message("skipped: no control groups here, so no usage\n");
	} else {
		assert_true(step.cpu_s > 0.001 && step.cpu_s < step.duration_s * 16);
		assert_true(step.memory_peak_bytes >= 1000000);
	}
	assert_true(step.written_bytes >= 1000000 && step.written_bytes < 2000000);
	act(env, "rm big");
	assert_true(step.written_bytes < 1000000);
	fh_env_close(env);
}

/* --- ends of episodes, binds, calls of the API, long actions ---------------------------------- */

static void test_ends(void **state)
{
	static const struct {
		const char *actions[4];
		const char *status, *has;
		bool truncated, scored;
	} cases[] = {
		{ { HALF "submit" }, "submitted", "Exited (submit)\n", false, true },
		{ { "submit" }, "submission_not_found (submit)", "There is no file", false, false },
		{ { "echo x >submission.csv; submit" }, "evaluation_format_error (submit)",
				"Not scored: ", false, false },
		{ { HALF, "validate", "validate; submit" }, "submitted", "Exited (submit)", false,
				true },
		{ { "skip" }, "skipped", "Exited (skip)", false, false },
		{ { HALF, "exit_forfeit" }, "exit_forfeit", "Exited (exit_forfeit)", false, false },
		{ { HALF, "exit_cost" }, "autosubmission (exit_cost)", "Exited (exit_cost)", false,
				true },
		{ { "exit_context" }, "submission_not_found (exit_context)",
				"Exited (exit_context)", false, false },
		{ { "echo >submission.csv", "exit_format" },
				"evaluation_format_error (exit_format)", "Exited (exit_format)",
				false, false },
		{ { HALF, "ls", "ls", "ls" }, "autosubmission (max_steps)", "zeros.csv\nScored",
				true, true },
		{ { "ls", "ls", "ls", "ls" }, "submission_not_found (max_steps)",
				"Exited (max_steps)", true, false },
		{ { "ls", "ls", "ls", HALF "validate" }, "autosubmission (max_steps)",
				"Exited (max_steps)", true, true },
		{ { "ls", "ls", "ls", HALF "submit" }, "submitted", "Exited (submit)", false,
				true },
		{ { "ls", "ls", "ls", "skip" }, "skipped", "Exited (skip)", false, false },
		{ { "ls", "ls", HALF, "edit 1:2" }, "autosubmission (max_steps)", "Nothing was run",
				true, true },
	};
	struct fh_env *env;

	assert_done(fh_env_open(
			gym, &FH_ENV_OPTIONS(.task = "rows", .max_steps = 4), &env, &error));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		print_message("%zu: %s\n", i, cases[i].status);
		assert_done(fh_env_reset(env, &FH_RESET(.seed = i), &step, &error));
		for (size_t k = 0; k < 4 && cases[i].actions[k]; k++) {
			assert_null(step.exit_status);
			act(env, cases[i].actions[k]);
		}
		assert_non_null(step.exit_status);
		assert_string_equal(step.exit_status, cases[i].status);
		assert_has(step.observation, cases[i].has);
		assert_int_equal(step.truncated, cases[i].truncated);
		assert_int_equal(step.terminated, !cases[i].truncated);
		assert_int_equal(step.score != NULL, cases[i].scored);
		assert_int_equal(
				fh_env_step(env, &FH_ACTION(.text = "ls"), &step, &error), -EPROTO);
		assert_has(error.message, cases[i].status);
	}
	fh_env_close(env);
}

/* Expects that the last step ended the episode because its time was over. */
static void assert_out_of_time(const char *status)
{
	assert_int_equal(step.outcome, FH_OUTCOME_TIMEOUT);
	assert_true(step.truncated && !step.terminated);
	assert_non_null(step.exit_status);
	assert_string_equal(step.exit_status, status);
	assert_has(step.observation, "Exited (max_time)\n");
}

static void test_time_of_an_episode(void **state)
{
	struct fh_env *env = open_episode("rows:timed");

	assert_has(step.observation, "The whole episode may take 4 s");
	act_within(env, HALF "sleep 60", 1000);
	assert_out_of_time("autosubmission (max_time)");
	assert_true(step.duration_s < 30);
	assert_int_equal(step.n_score, 1);
	assert_int_equal(fh_env_step(env, &FH_ACTION(.text = "true"), &step, &error), -EPROTO);

	/* Each episode has its own time limit, and time between steps counts too. */
	assert_done(fh_env_reset(env, NULL, &step, &error));
	act(env, "true");
	assert_false(step.truncated);
	usleep(4100 * 1000);
	act(env, "touch late");
	assert_has(step.observation, "Nothing was run: the time of the episode has ended.");
	assert_out_of_time("submission_not_found (max_time)");

	/* An episode that submits before its time is over ends as submitted. */
	assert_done(fh_env_reset(env, NULL, &step, &error));
	act(env, HALF "submit");
	assert_string_equal(step.exit_status, "submitted");
	fh_env_close(env);
}

static void test_binds_of_a_task(void **state)
{
	struct fh_env *env = open_episode("rows:bound");

	act(env, "cmp zeros.csv /data/rows/zeros.csv && ls /data/rows");
	assert_string_equal(step.observation, "data.csv\nzeros.csv\n");
	act(env, "test -f /data/name && : >/data/rows/new");
	assert_has(step.observation, "Read-only file system");
	fh_env_close(env);
}

static void test_api_requests(void **state)
{
	struct fh_env *env = open_episode("rows");

	act(env, HALF);
	assert_done(fh_env_validate(env, &step, &error));
	assert_int_equal(step.step, 2);
	assert_true(step.score && step.score[0].value == 0.5);
	assert_false(step.terminated);
	assert_done(fh_env_submit(env, &step, &error));
	assert_string_equal(step.exit_status, "submitted");
	fh_env_close(env);
}

static void test_wrong_use(void **state)
{
	struct fh_env *env = open_env("rows");
	auto_free char *huge = malloc(FH_ACTION_BYTES_MAX + 2);
	struct fh_action action = FH_ACTION(.text = "ls");

	assert_int_equal(fh_env_step(env, &action, &step, &error), -EPROTO);
	assert_int_equal(fh_env_submit(env, &step, &error), -EPROTO);
	assert_int_equal(fh_env_end(env, &step, &error), -EPROTO);
	assert_done(fh_env_reset(env, NULL, &step, &error));
	action.text = NULL;
	assert_int_equal(fh_env_step(env, &action, &step, &error), -EINVAL);
	action.text = "ls";
	action.timeout_s = -1;
	assert_int_equal(fh_env_step(env, &action, &step, &error), -EINVAL);
	action.timeout_s = 0.0009;
	assert_int_equal(fh_env_step(env, &action, &step, &error), -EINVAL);
	action.timeout_s = NAN;
	assert_int_equal(fh_env_step(env, &action, &step, &error), -EINVAL);
	action.timeout_s = INFINITY;
	assert_int_equal(fh_env_step(env, &action, &step, &error), -EINVAL);
	memset(huge, 'x', FH_ACTION_BYTES_MAX + 1);
	huge[FH_ACTION_BYTES_MAX + 1] = '\0';
	action = FH_ACTION(.text = huge);
	assert_int_equal(fh_env_step(env, &action, &step, &error), -E2BIG);
	act(env, "echo none of these counted");
	assert_int_equal(step.step, 1);
	fh_env_close(env);
}

static void test_long_action(void **state)
{
	auto_free char *text = malloc(FH_ACTION_BYTES_MAX + 1);
	struct fh_env *env = open_episode("rows");

	memset(text, 'x', FH_ACTION_BYTES_MAX);
	memcpy(text, "echo ${#LAST_ACTION}; : ", 24);
	text[FH_ACTION_BYTES_MAX] = '\0';
	act_within(env, text, 20);
	assert_string_equal(fh_outcome_name(step.outcome), "ok");
	act(env, "echo ${#LAST_ACTION}");
	assert_string_equal(step.observation, "1048576\n");
	fh_env_close(env);
}

/* --- scores ----------------------------------------------------------------------------------- */

static void check_rewards(enum fh_reward_kind kind, const double *expected)
{
	static const char *const actions[] = { "ls", HALF "validate", GOOD "validate",
		HALF "validate", "rm submission.csv; validate", PERFECT "submit" };
	struct fh_env *env;

	assert_done(fh_env_open(gym,
			&FH_ENV_OPTIONS(.task = "rows", .reward = kind, .max_steps = 10), &env,
			&error));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		act(env, actions[i]);
		assert_float_equal(step.reward, expected[i], 1e-12);
	}
	fh_env_close(env);
}

static void test_rewards(void **state)
{
	check_rewards(FH_REWARD_DELTA, (const double[]){ 0, 0, 0.25, -0.25, 0, 0.5 });
	check_rewards(FH_REWARD_IMPROVEMENT, (const double[]){ 0, 0, 0.25, 0, 0, 0.5 });
	check_rewards(FH_REWARD_NONE, (const double[]){ 0, 0, 0, 0, 0, 0 });
}

/* In this task a lower score is better. The baseline scores 6 words. */
static void test_minimize(void **state)
{
	struct fh_env *env = open_episode("words");

	act(env, "echo one two three four >words.txt; validate");
	assert_true(step.score[0].value == 4 && step.reward == 2);
	act(env, "echo one two three four five >words.txt; validate");
	assert_true(step.reward == -1 && step.best[0].value == 4);
	assert_int_equal(step.n_best, 2);
	assert_string_equal(step.best[1].name, "letters");
	act(env, "echo one two three >words.txt; validate");
	assert_true(step.reward == 2 && step.best[0].value == 3);
	assert_done(fh_env_reset(env, NULL, &step, &error));
	assert_null(step.best);
	fh_env_close(env);
}

static void test_score_lines(void **state)
{
	struct fh_env *env = open_episode("rows");

	act(env, GOOD "validate");
	assert_string_equal(step.observation,
			"Scored a valid submission artefact at "
			"/home/agent/workspace/submission.csv.\n"
			"Baseline Score: {'accuracy': 0.5}\n"
			"Evaluation Score: {'accuracy': 0.75}\n");
	act(env, "rm submission.csv; validate");
	assert_null(strstr(step.observation, "valid submission artefact at"));
	assert_non_null(step.grade_error);
	act(env, GOOD "validate; printf end");
	assert_has(step.observation, "end\nScored a valid");
	fh_env_close(env);
}

/* A task's limit of validations counts those of the agent and of the caller. The final submission
 * is scored all the same. */
static void test_validations(void **state)
{
	struct fh_env *env = open_episode("rows:limited");

	assert_has(step.observation, "You can `validate` 2 times.");
	for (int i = 0; i < 3; i++) { /* a submission without the right form does not count */
		act(env, "validate");
		assert_has(step.observation, "There is no file");
		act(env, "echo no >submission.csv; validate; rm submission.csv");
		assert_null(step.score);
	}
	act(env, "cp zeros.csv submission.csv");
	act(env, "validate");
	assert_non_null(step.score);
	assert_done(fh_env_validate(env, &step, &error));
	assert_non_null(step.score);
	for (int i = 0; i < 2; i++) {
		act(env, "echo here; validate");
		assert_has(step.observation, "here\n");
		assert_has(step.observation, "an episode may validate 2 times");
		assert_null(step.score);
		assert_null(step.grade_error);
		assert_false(step.terminated);
	}
	assert_done(fh_env_validate(env, &step, &error));
	assert_null(step.score);
	act(env, "submit");
	assert_non_null(step.score);
	assert_true(step.terminated);
	assert_done(fh_env_reset(env, NULL, &step, &error));
	act(env, "cp zeros.csv submission.csv; validate");
	assert_non_null(step.score);
	fh_env_close(env);
}

/* --- threads ---------------------------------------------------------------------------------- */

/* Plays in a thread, and returns the number of failures. cmocka's assertions work in the main
 * thread only. */
static void *play_thread(void *task)
{
	intptr_t wrong = 0;

	for (int i = 0; i < 3; i++) {
		struct fh_env_options options = FH_ENV_OPTIONS(.task = task, .max_steps = 100);
		struct fh_action action = FH_ACTION(.text = "echo $((6 * 7))");
		struct fh_step mine;
		struct fh_error e;
		struct fh_env *env;

		if (fh_env_open(gym, &options, &env, &e) < 0)
			return (void *)1;
		wrong += fh_env_reset(env, NULL, &mine, &e) < 0;
		for (int k = 0; k < 20; k++)
			wrong += fh_env_step(env, &action, &mine, &e) < 0 ||
					strcmp(mine.observation, "42\n") != 0;
		wrong += fh_env_submit(env, &mine, &e) < 0 || !mine.terminated;
		fh_env_close(env);
	}
	return (void *)wrong;
}

static void test_threads(void **state)
{
	static const char *const tasks[] = { "rows", "words", "guess", "rows:quick" };
	pthread_t threads[ARRAY_SIZE(tasks)];

	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		pthread_create(&threads[i], NULL, play_thread, (void *)(uintptr_t)tasks[i]);
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_observation),
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_shell_stays),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_time_of_an_episode),
		cmocka_unit_test(test_binds_of_a_task),
		cmocka_unit_test(test_api_requests),
		cmocka_unit_test(test_wrong_use),
		cmocka_unit_test(test_long_action),
		cmocka_unit_test(test_rewards),
		cmocka_unit_test(test_minimize),
		cmocka_unit_test(test_score_lines),
		cmocka_unit_test(test_validations),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, gym_setup, gym_teardown);
}
