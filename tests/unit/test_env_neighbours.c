/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"

#include "base/clock.h"

#include <poll.h>
#include <time.h>

/* Episodes of one owner and one thread. No attack by one may slow the steps of the others. */

#define ATTACK_S 1.5
#define SLOWEST_MS 1000 /* ms, most for a step of another episode */
#define BIRTHS_S 6      /* seconds of starting sandboxes beside an attack */
#define BIRTH_TRIES 2   /* try again once, as an attack that works slows nearly each try */
#define TRIES 5         /* a busy machine is slow at times, a working attack in each try */

/* Holds the kernel's lock of a pipe for ever: splice() waits for a socket to which
 * nobody writes. */
#define HOLD(fd)                                                                                   \
	"python3 -ISc 'import os, socket; a, b = socket.socketpair(); os.splice(a.fileno(), " fd   \
	", 9)'"

static const char *const attacks[] = {
	"yes",
	"while :; do echo x >&251; done",
	"while :; do echo x >/run/fumehood/state; done",
	"while :; do echo x >/run/fumehood/call; done",
	"for i in {1..20}; do cat /dev/zero >/run/fumehood/validate & done; wait",
	"exec >/dev/null 2>&1 250>&- 251>&-; while :; do :; done",
	"trap '' INT TERM; while :; do sleep 0.01 & done",
	"while :; do kill -STOP $$; done",
	HOLD("1"),
	HOLD("249") " & sleep 0.3; echo x",
	HOLD("os.open(\"/run/fumehood/validate\", 2049)") " & sleep 0.3; validate",
	HOLD("os.open(\"/run/fumehood/call\", 2049)") " & sleep 0.3; echo x >/run/fumehood/call",
	"rm -rf ~/.fumehood; ln -s / ~/.fumehood; while :; do echo x >/run/fumehood/call; done",
};

static void begin(struct fh_env *env, const char *text)
{
	struct fh_action action = FH_ACTION(.text = text, .timeout_s = ATTACK_S);

	assert_done(fh_env_step_start(env, &action, &error));
}

/* Returns the slowest step of another episode (`neighbour`) during an attack, in nanoseconds. */
static int64_t slowest_beside(const char *attack, struct fh_env *neighbour)
{
	struct fh_env *attacker = open_episode("rows");
	int64_t slowest_ns = 0;

	begin(attacker, attack);
	while (!is_over(attacker)) {
		int64_t before_ns = clock_now_ns(), took_ns;

		act(neighbour, "echo on");
		took_ns = clock_now_ns() - before_ns;
		slowest_ns = took_ns > slowest_ns ? took_ns : slowest_ns;
		assert_string_equal(step.observation, "on\n");
	}
	assert_done(fh_env_end(attacker, &step, &error));
	fh_env_close(attacker);
	return slowest_ns;
}

static void test_neighbours_go_on(void **state)
{
	const struct fh_env_options options =
			FH_ENV_OPTIONS(.task = "rows", .max_steps = 1000000, .polled = true);
	struct fh_env *neighbour;

	assert_done(fh_env_open(gym, &options, &neighbour, &error));
	assert_done(fh_env_reset(neighbour, NULL, &step, &error));
	for (size_t i = 0; i < ARRAY_SIZE(attacks); i++) {
		int64_t slowest_ns = INT64_MAX;

		for (int n = 0; n < TRIES && slowest_ns > SLOWEST_MS * NS_PER_MS; n++)
			slowest_ns = slowest_beside(attacks[i], neighbour);
		if (slowest_ns > SLOWEST_MS * NS_PER_MS)
			fail_msg("beside '%s' a step took %lld ms", attacks[i],
					(long long)(slowest_ns / NS_PER_MS));
	}
	fh_env_close(neighbour);
}

static int64_t time_births(struct fh_env *env)
{
	int64_t slowest_ns = 0;

	int64_t end_ns = clock_now_ns() + BIRTHS_S * NS_PER_S;

	while (clock_now_ns() < end_ns) {
		int64_t before_ns = clock_now_ns(), took_ns;

		assert_done(fh_env_reset(env, NULL, &step, &error));
		took_ns = clock_now_ns() - before_ns;
		slowest_ns = took_ns > slowest_ns ? took_ns : slowest_ns;
	}
	return slowest_ns;
}

/*
 * Starting a sandbox must not wait for a folder that an agent blocks by a lock in the kernel. All
 * sandboxes may see the folder. An agent gets "/" itself, unless its task binds a folder to a new
 * place. For such a bind, the entries of "/" are bound one by one.
 */
static void test_births_go_on(void **state)
{
	static const char *const targets[] = { "/home/agent/attack", "/attack" };
	auto_free char *inside = path_join(places_get()->share_dir, "tests/escape/inside");
	struct fh_env *attacker, *born;

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		const struct fh_bind binds[] = { { inside, targets[0] }, { inside, targets[i] } };
		const struct fh_env_options attackers = FH_ENV_OPTIONS(.task = "rows",
				.binds = binds, .n_binds = 1, .polled = true);
		const struct fh_env_options borns = FH_ENV_OPTIONS(.task = "rows",
				.binds = binds + 1, .n_binds = 1, .polled = true);
		int64_t slowest_ns = INT64_MAX;

		assert_done(fh_env_open(gym, &attackers, &attacker, &error));
		assert_done(fh_env_open(gym, &borns, &born, &error));
		for (int n = 0; n < BIRTH_TRIES && slowest_ns > SLOWEST_MS * NS_PER_MS; n++) {
			assert_done(fh_env_reset(attacker, NULL, &step, &error));
			act_within(attacker,
					"python3 ~/attack/lock.py folder / 60 >said & "
					"until grep -q held said; do sleep 0.1; done",
					60);
			slowest_ns = time_births(born);
		}
		if (slowest_ns > SLOWEST_MS * NS_PER_MS)
			fail_msg("with a bind to %s a birth took %lld ms", targets[i],
					(long long)(slowest_ns / NS_PER_MS));
		fh_env_close(born);
		fh_env_close(attacker);
	}
}

/* The owner uses no CPU time while nothing is to be done. */
static void test_an_owner_rests(void **state)
{
	static const char *const rests[] = {
		"sleep 1",
		"exec >/dev/null 2>&1 251>&-; sleep 1",
		"exec >/dev/null 2>&1 250>&- 251>&-; sleep 1",
		"exec 0<&- 1>&- 2>&- 252>&-; sleep 1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(rests); i++) {
		struct fh_env *env = open_episode("rows");
		clock_t before = clock();

		begin(env, rests[i]);
		while (!is_over(env))
			poll(&(struct pollfd){ .fd = fh_gym_fd(gym), .events = POLLIN }, 1, -1);
		if (clock() - before > CLOCKS_PER_SEC / 4)
			fail_msg("beside '%s' the owner works", rests[i]);
		assert_done(fh_env_end(env, &step, &error));
		fh_env_close(env);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_neighbours_go_on, gym_setup, gym_teardown),
		cmocka_unit_test_setup_teardown(test_births_go_on, gym_setup, gym_teardown),
		cmocka_unit_test_setup_teardown(test_an_owner_rests, gym_setup, gym_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
