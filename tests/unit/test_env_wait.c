/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"
#include "processes.h"

#include "base/clock.h"
#include "env/env.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* Waiting for one environment in any thread, and interrupts. */

static struct fh_env *open_unpolled(const char *task)
{
	struct fh_env *env;

	assert_done(fh_env_open(
			gym, &FH_ENV_OPTIONS(.task = task, .max_steps = 1000), &env, &error));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	return env;
}

static void start(struct fh_env *env, const char *text)
{
	assert_done(fh_env_step_start(env, &FH_ACTION(.text = text, .timeout_s = 60), &error));
}

/* Waits for the end of what was started, and takes the result into `step`. */
static int finish(struct fh_env *env)
{
	assert_int_equal(fh_env_wait(env, -1, &error), 1);
	return fh_env_end(env, &step, &error);
}

static void assert_outcome(const char *outcome)
{
	assert_string_equal(fh_outcome_name(step.outcome), outcome);
}

/* --- start, wait, end ------------------------------------------------------------------------- */

static void test_each_operation(void **state)
{
	struct fh_env *env = NULL;

	assert_done(fh_env_open_start(gym, &FH_ENV_OPTIONS(.task = "words"), &env, &error));
	assert_int_equal(fh_env_reset_start(env, NULL, &error), -EBUSY);
	step.observation = NULL;
	assert_done(finish(env));
	assert_null(step.observation);
	assert_done(fh_env_reset_start(env, &FH_RESET(.judge_salt = 9), &error));
	assert_done(finish(env));
	assert_int_equal(step.judge_salt, 9);
	start(env, "cp list.txt words.txt; sleep 1");
	usleep(5000); /* long enough for the porter to be asked for output */
	assert_int_equal(fh_env_wait(env, 0, &error), 0);
	assert_int_equal(fh_env_end(env, &step, &error), -EBUSY);
	assert_int_equal(fh_env_wait(env, 10, &error), 0);
	assert_done(finish(env));
	assert_outcome("ok");
	assert_int_equal(fh_env_wait(env, -1, &error), -EPROTO);
	assert_int_equal(fh_env_end(env, &step, &error), -EPROTO);
	assert_done(fh_env_validate_start(env, &error));
	assert_done(finish(env));
	assert_non_null(step.score);
	assert_done(fh_env_submit_start(env, &error));
	while (fh_env_wait(env, 0, &error) == 0)
		;
	assert_int_equal(fh_env_wait(env, -1, &error), 1);
	assert_done(fh_env_end(env, NULL, &error));
	assert_int_equal(fh_env_step_start(env, &FH_ACTION(.text = "ls"), &error), -EPROTO);
	fh_env_close(env);
}

static void test_polled_or_not(void **state)
{
	struct fh_env *polled = open_episode("rows"), *env = open_unpolled("rows"), *done;
	int mark;

	assert_null(fh_env_user(env));
	fh_env_set_user(env, &mark);
	assert_ptr_equal(fh_env_user(env), &mark);

	start(polled, "echo polled");
	start(env, "echo alone");
	assert_int_equal(fh_env_wait(polled, -1, &error), -EPROTO);
	assert_has(error.message, "fh_gym_wait()");
	assert_int_equal(fh_env_set_polled(env, true, &error), -EBUSY);
	while (!is_over(polled)) /* fails if it gives the other one */
		;
	assert_done(fh_env_end(polled, &step, &error));
	assert_string_equal(step.observation, "polled\n");
	assert_done(finish(env));
	assert_string_equal(step.observation, "alone\n");

	/* Each takes the other's place. */
	assert_done(fh_env_set_polled(env, true, &error));
	assert_done(fh_env_set_polled(polled, false, &error));
	start(polled, "sleep 0.1; echo alone");
	start(env, "sleep 0.1; echo polled");
	while (!is_over(env))
		;
	assert_done(fh_env_end(env, &step, &error));
	assert_string_equal(step.observation, "polled\n");
	assert_done(finish(polled));
	assert_string_equal(step.observation, "alone\n");
	assert_int_equal(fh_gym_wait(gym, 0, &done, 1, &error), 0);

	/* It is polled no more while its step runs, then when the step has ended. */
	start(env, "sleep 0.1; echo left");
	assert_done(fh_env_set_polled(env, false, &error));
	assert_done(finish(env));
	assert_string_equal(step.observation, "left\n");
	assert_done(fh_env_set_polled(env, true, &error));
	start(env, "echo ended");
	while (!is_over(env))
		;
	assert_done(fh_env_set_polled(env, false, &error));
	assert_done(finish(env));
	assert_string_equal(step.observation, "ended\n");
	assert_int_equal(fh_gym_wait(gym, 0, &done, 1, &error), 0);
	fh_env_close(env);
	fh_env_close(polled);
}

static void on_alarm(int number)
{
}

static void test_signal_ends_a_wait(void **state)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART }, before;
	struct fh_env *env = open_unpolled("rows");

	sigaction(SIGALRM, &action, &before);
	start(env, "sleep 30");
	ualarm(100000, 100000);
	assert_int_equal(fh_env_wait(env, -1, &error), 0);
	ualarm(0, 0);
	sigaction(SIGALRM, &before, NULL);
	fh_env_interrupt(env);
	assert_done(finish(env));
	fh_env_close(env);
}

/* --- threads ---------------------------------------------------------------------------------- */

#define THREADS 6
#define STEPS 40

struct playing {
	pthread_t thread;
	size_t number;
	struct fh_error err;
	int line; /* line of the check that failed; 0: none */
};

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			p->line = __LINE__;                                                        \
			return NULL;                                                               \
		}                                                                                  \
	} while (0)

/* Opens and plays an environment, with nothing but starts and waits. */
static void *play(void *arg)
{
	struct playing *p = arg;
	struct fh_env *env = NULL;
	struct fh_step mine;

	EXPECT(fh_env_open_start(gym, &FH_ENV_OPTIONS(.task = "words", .max_steps = STEPS + 1),
			       &env, &p->err) == 0);
	EXPECT(fh_env_wait(env, -1, &p->err) == 1 && fh_env_end(env, NULL, &p->err) == 0);
	EXPECT(fh_env_reset_start(env, &FH_RESET(.seed = p->number), &p->err) == 0);
	EXPECT(fh_env_wait(env, -1, &p->err) == 1 && fh_env_end(env, &mine, &p->err) == 0);
	for (int i = 0; i < STEPS; i++) {
		char text[64], expected[64];

		snprintf(text, sizeof(text), "%secho %zu %d", i % 8 ? "" : "sleep 0.02; ",
				p->number, i);
		snprintf(expected, sizeof(expected), "%zu %d\n", p->number, i);
		EXPECT(fh_env_step_start(env, &FH_ACTION(.text = text, .timeout_s = 60), &p->err) ==
				0);
		while (fh_env_wait(env, i % 3, &p->err) == 0)
			;
		EXPECT(fh_env_end(env, &mine, &p->err) == 0);
		EXPECT(strcmp(mine.observation, expected) == 0);
	}
	EXPECT(fh_env_submit_start(env, &p->err) == 0);
	EXPECT(fh_env_wait(env, -1, &p->err) == 1 && fh_env_end(env, &mine, &p->err) == 0);
	EXPECT(mine.terminated || mine.truncated);
	fh_env_close(env);
	return NULL;
}

/* Threads wait for environments of their own. Meanwhile this thread polls others. */
static void test_threads(void **state)
{
	struct playing all[THREADS] = { 0 };
	struct fh_env *env = open_episode("rows");

	for (size_t i = 0; i < THREADS; i++) {
		all[i].number = i;
		assert_int_equal(pthread_create(&all[i].thread, NULL, play, &all[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		start(env, "sleep 0.01; echo polled");
		while (!is_over(env))
			;
		assert_done(fh_env_end(env, &step, &error));
		assert_string_equal(step.observation, "polled\n");
	}
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(all[i].thread, NULL);
		if (all[i].line)
			fail_msg("line %d: %s", all[i].line, all[i].err.message);
	}
	fh_env_close(env);
}

/* --- interrupts ------------------------------------------------------------------------------- */

static void *fire_when_it_sleeps(void *interrupter)
{
	assert_true(process_await("sleep") > 0);
	fh_interrupter_fire(interrupter);
	return NULL;
}

static void test_during_a_step(void **state)
{
	struct fh_env *env = open_unpolled("rows");
	struct fh_interrupter *interrupter = fh_env_interrupter(env);
	pthread_t thread;

	for (int i = 0; i < 2; i++) {
		pthread_create(&thread, NULL, fire_when_it_sleeps, interrupter);
		if (i) {
			start(env, "sleep 1000");
			assert_done(finish(env));
		} else {
			act_within(env, "sleep 1000", 2000);
		}
		pthread_join(thread, NULL);
		assert_outcome("interrupted");
		assert_true(step.duration_s < 30);
		act(env, "echo on");
		assert_outcome("ok");
	}
	fh_interrupter_free(interrupter);
	fh_env_close(env);
}

static void assert_nothing_ran(void)
{
	assert_outcome("interrupted");
	assert_string_equal(
			step.observation, "(Nothing was run: the step was interrupted before.)\n");
	assert_int_equal(step.exit_code, -1);
}

static void check_before(struct fh_env *env, bool polled)
{
	assert_done(fh_env_set_polled(env, polled, &error));
	fh_env_interrupt(env);
	fh_env_interrupt(env);
	act(env, "touch ran");
	assert_nothing_ran();
	act(env, "ls ran");
	assert_has(step.observation, "cannot access 'ran'");

	fh_env_interrupt(env);
	start(env, "touch ran");
	while (polled ? !is_over(env) : !fh_env_wait(env, -1, &error))
		;
	assert_done(fh_env_end(env, &step, &error));
	assert_nothing_ran();
	act(env, "ls ran");
	assert_has(step.observation, "cannot access 'ran'");

	/* An interrupt is for the step under way, even if its command has ended. */
	start(env, "true");
	while (polled ? !is_over(env) : !fh_env_wait(env, -1, &error))
		;
	fh_env_interrupt(env);
	assert_done(fh_env_end(env, &step, &error));
	act(env, "echo on");
	assert_outcome("ok");

	/* A reset forgets an interrupt that came before it. */
	fh_env_interrupt(env);
	assert_done(fh_env_reset(env, NULL, &step, &error));
	act(env, "echo on");
	assert_outcome("ok");
}

static void test_before_a_step(void **state)
{
	struct fh_env *env = open_unpolled("rows");

	check_before(env, false);
	check_before(env, true);
	fh_env_close(env);
}

static void check_scoring(struct fh_env *env)
{
	fh_env_interrupt(env);
	assert_done(fh_env_validate(env, &step, &error));
	assert_outcome("interrupted");
	assert_null(step.score);
	assert_string_equal(step.grade_error, "Scoring was interrupted.");
	fh_env_interrupt(env);
	assert_done(fh_env_validate_start(env, &error));
	while (fh_env_wait(env, -1, &error) == 0)
		;
	assert_done(fh_env_end(env, &step, &error));
	assert_outcome("interrupted");
	assert_done(fh_env_validate(env, &step, &error));
	assert_non_null(step.score);
}

static void test_before_a_scoring(void **state)
{
	struct fh_env *env = open_unpolled("words");

	act(env, "cp list.txt words.txt");
	check_scoring(env);
	fh_env_close(env);
}

/* A script of the tools' setup holds the reset. */
static void hold_reset(struct fh_env *env)
{
	assert_done(env_set_setup(env, &(struct env_setup){ .script = "sleep 10" }, &error));
	assert_done(fh_env_reset_start(env, NULL, &error));
}

static void test_during_a_reset(void **state)
{
	struct fh_env *env = open_unpolled("rows");
	struct fh_interrupter *interrupter;
	pthread_t thread;

	for (int polled = 0; polled < 2; polled++) {
		assert_done(fh_env_set_polled(env, polled, &error));
		hold_reset(env);
		interrupter = fh_env_interrupter(env);
		pthread_create(&thread, NULL, fire_when_it_sleeps, interrupter);
		while (polled ? !is_over(env) : !fh_env_wait(env, -1, &error))
			;
		pthread_join(thread, NULL);
		assert_int_equal(fh_env_end(env, &step, &error), -ECANCELED);
		assert_int_equal(error.kind, FH_ERROR_STATE);
		assert_string_equal(error.message, "the reset was interrupted");
		assert_int_equal(fh_env_step_start(env, &FH_ACTION(.text = "ls"), &error), -EPROTO);
		/* At the first moment, before the sandbox is there. */
		assert_done(fh_env_reset_start(env, NULL, &error));
		fh_env_interrupt(env);
		while (polled ? !is_over(env) : !fh_env_wait(env, -1, &error))
			;
		assert_int_equal(fh_env_end(env, &step, &error), -ECANCELED);
		assert_done(env_set_setup(env, NULL, &error));
		assert_done(fh_env_reset(env, NULL, &step, &error));
		act(env, "echo on");
		assert_string_equal(step.observation, "on\n");
		fh_interrupter_free(interrupter);
	}
	fh_env_close(env);
}

/* --- interrupts and closing ------------------------------------------------------------------- */

#define CLOSERS 30

struct firing {
	struct fh_interrupter *interrupter;
	atomic_bool stop;
};

static void *fire_often(void *arg)
{
	struct firing *f = arg;

	while (!atomic_load(&f->stop))
		fh_interrupter_fire(f->interrupter);
	return NULL;
}

static void check_fire_beside_close(bool polled)
{
	struct fh_env *env = NULL;
	struct firing firing;
	pthread_t thread;

	assert_done(fh_env_open(
			gym, &FH_ENV_OPTIONS(.task = "rows", .polled = polled), &env, &error));
	firing = (struct firing){ .interrupter = fh_env_interrupter(env) };
	assert_done(fh_env_reset(env, NULL, &step, &error));
	pthread_create(&thread, NULL, fire_often, &firing);
	start(env, "true");
	fh_env_close(env);
	atomic_store(&firing.stop, true);
	pthread_join(thread, NULL);
	fh_interrupter_fire(firing.interrupter);
	fh_interrupter_free(firing.interrupter);
}

static void test_fire_beside_close(void **state)
{
	struct fh_interrupter *kept;
	struct fh_env *env;

	for (int i = 0; i < CLOSERS; i++)
		check_fire_beside_close(i % 2);
	env = open_episode("rows");
	kept = fh_env_interrupter(env);
	fh_env_close(env);
	fh_gym_close(gym);
	fh_interrupter_fire(kept);
	fh_interrupter_free(kept);
	fh_interrupter_free(NULL);
	open_gym();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_operation),
		cmocka_unit_test(test_polled_or_not),
		cmocka_unit_test(test_signal_ends_a_wait),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_during_a_step),
		cmocka_unit_test(test_before_a_step),
		cmocka_unit_test(test_before_a_scoring),
		cmocka_unit_test(test_during_a_reset),
		cmocka_unit_test(test_fire_beside_close),
	};

	return cmocka_run_group_tests(tests, gym_setup, gym_teardown);
}
