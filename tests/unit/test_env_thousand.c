/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"

#include "base/clock.h"

#include <stdlib.h>
#include <sys/resource.h>

/*
 * A thousand episodes of one owner and one thread. Twelve of them run the worst known attacks.
 * Steps of the others take little longer than beside twelve that only compute.
 */

#define ATTACKERS 12
#ifdef __SANITIZE_ADDRESS__
#define NEIGHBOURS 188 /* fewer: the sanitizer has work with each */
#else
#define NEIGHBOURS 988
#endif
#define STEPS (NEIGHBOURS / 2) /* steps timed, one each of every second neighbour */
#define ATTACK_S 1.0
#define TIMES_SLOWER 2
#define TRIES 3 /* a busy machine is slow at times, a working attack in each try */
#define LOCK "python3 /attack/lock.py"

static const char computes[] = "while :; do :; done";

static const char *const attacks[ATTACKERS] = {
	LOCK " pipe 1 60",
	LOCK " pipe 249 60 & sleep 0.3; echo more",
	LOCK " pipe 251 60 & sleep 0.3; echo more",
	LOCK " pipe /run/fumehood/validate 60 & sleep 0.3; validate",
	LOCK " pipe /run/fumehood/call 60 & sleep 0.3; literature_search x",
	"mkdir -p ~/.fumehood; " LOCK
	" file ~/.fumehood/answer 60 & sleep 0.3; literature_search x",
	"cp zeros.csv submission.csv; " LOCK " file submission.csv 60 & sleep 0.3; validate",
	"truncate -s 60M submission.csv; validate",
	"while :; do echo x >/run/fumehood/state; done",
	"yes",
	LOCK " folder /usr 60",
	"head -c 1048576 /dev/zero",
};
#define PRINTS (ATTACKERS - 1) /* index of the attacker that may print a MiB */

static struct fh_env *attackers[ATTACKERS], *neighbours[NEIGHBOURS];

static void allow_descriptors(void)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static struct fh_env *open_one(const char *task)
{
	auto_free char *attack = path_join(places_get()->share_dir, "tests/escape/inside");
	const struct fh_bind bind = { attack, "/attack" };
	const struct fh_env_options options = FH_ENV_OPTIONS(.task = task, .max_steps = 1000000,
			.polled = true, .binds = &bind, .n_binds = 1);
	struct fh_env *env;

	assert_done(fh_env_open(gym, &options, &env, &error));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	return env;
}

static void begin_attack(size_t i, const char *text)
{
	struct fh_action action = FH_ACTION(.text = text, .timeout_s = ATTACK_S);

	/* A step is refused if the attacker's sandbox is gone: reset its episode. */
	if (fh_env_step_start(attackers[i], &action, &error) < 0)
		assert_done(fh_env_reset_start(attackers[i], NULL, &error));
}

static const char *text_of(size_t i, bool attack)
{
	return attack ? attacks[i] : computes;
}

/* Takes the result of `done`, and returns whether it is the awaited environment. If it is an
 * attacker, its attack begins again. */
static bool take(struct fh_env *done, const struct fh_env *awaited, bool attack)
{
	assert_done(fh_env_end(done, &step, &error));
	if (done == awaited)
		return true;
	for (size_t i = 0; i < ATTACKERS; i++)
		if (attackers[i] == done)
			begin_attack(i, text_of(i, attack));
	return false;
}

static int64_t time_step(struct fh_env *env, bool attack)
{
	const struct fh_action action = FH_ACTION(.text = "echo on");
	int64_t began_ns = clock_now_ns();
	struct fh_env *done;

	assert_done(fh_env_step_start(env, &action, &error));
	do {
		assert_int_equal(fh_gym_wait(gym, -1, &done, 1, &error), 1);
	} while (!take(done, env, attack));
	assert_string_equal(step.observation, "on\n");
	return clock_now_ns() - began_ns;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void end_attacks(void)
{
	for (size_t i = 0; i < ATTACKERS; i++) {
		fh_env_close(attackers[i]);
		attackers[i] = open_one(i == PRINTS ? "words" : "rows");
	}
}

/* Returns the 99th percentile of step times of the other episodes, in nanoseconds. */
static int64_t p99_ns(bool attack)
{
	static int64_t took_ns[STEPS];

	for (size_t i = 0; i < ATTACKERS; i++)
		begin_attack(i, text_of(i, attack));
	for (size_t i = 0; i < STEPS; i++)
		took_ns[i] = time_step(neighbours[2 * i], attack);
	end_attacks();
	qsort(took_ns, STEPS, sizeof(*took_ns), by_time);
	print_message("%s: p50 %lld us, p99 %lld us, longest %lld us\n",
			attack ? "beside attackers" : "beside those that compute",
			(long long)(took_ns[STEPS / 2] / 1000),
			(long long)(took_ns[STEPS / 100 * 99] / 1000),
			(long long)(took_ns[STEPS - 1] / 1000));
	return took_ns[STEPS / 100 * 99];
}

static void test_a_thousand(void **state)
{
	bool held = false;

	allow_descriptors();
	for (size_t i = 0; i < ATTACKERS; i++)
		attackers[i] = open_one(i == PRINTS ? "words" : "rows");
	for (size_t i = 0; i < NEIGHBOURS; i++)
		neighbours[i] = open_one("rows");
	for (int n = 0; n < TRIES && !held; n++)
		held = p99_ns(true) <= TIMES_SLOWER * p99_ns(false);
	for (size_t i = 0; i < ATTACKERS; i++)
		fh_env_close(attackers[i]);
	for (size_t i = 0; i < NEIGHBOURS; i++)
		fh_env_close(neighbours[i]);
	assert_true(held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_thousand, gym_setup, gym_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
