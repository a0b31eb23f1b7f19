/* SPDX-License-Identifier: Apache-2.0 */
#include "simulators/simulators.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

/* Simulators that run many copies: names, limits, seeds, and steps at the end of an episode. */

#define N 3

struct batch {
	struct fh_sim *sim;
	float observations[N][15], final[N][15];
	double rewards[N];
	uint8_t terminated[N], truncated[N];
};

static void batch_open(struct batch *b, const char *name, const char *rules)
{
	*b = (struct batch){ 0 };
	assert_int_equal(fh_sim_open(&b->sim, name, rules, N), 0);
	fh_sim_reset(b->sim, b->observations);
}

static int batch_step(struct batch *b, const void *actions)
{
	return fh_sim_step(b->sim, actions,
			&(struct fh_sim_results){ b->observations, b->rewards, b->terminated,
					b->truncated, b->final });
}

/* --- opening ---------------------------------------------------------------------------------- */

static void wrong_names_and_sizes_are_refused(void **state)
{
	struct fh_sim *sim = NULL;

	assert_int_equal(fh_sim_open(&sim, "Pong", NULL, 1), -ENOENT);
	assert_int_equal(fh_sim_open(&sim, "MetaMaze", "minatar", 1), -ENOSYS);
	assert_int_equal(fh_sim_open(&sim, "MetaMaze", "gymnax", 0), -EINVAL);
	assert_int_equal(fh_sim_open(&sim, "MetaMaze", "gymnax", 1000001), -EINVAL);
	assert_null(sim);
	fh_sim_close(NULL);
}

static void shapes_are_those_of_the_rules(void **state)
{
	static const struct {
		const char *name, *rules;
		struct fh_sim_shape shape;
	} rows[] = {
		{ "MountainCarContinuous", NULL, { { 2 }, 4, 0, 999, 0 } },
		{ "MountainCarContinuous", "gymnasium", { { 2 }, 4, 0, 999, 0 } },
		{ "Breakout", NULL, { { 10, 10, 4 }, 1, 3, 1000, 0 } },
		{ "Breakout", "minatar", { { 10, 10, 4 }, 1, 6, 0, 0.1 } },
		{ "MetaMaze", NULL, { { 15 }, 4, 4, 200, 0 } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fh_sim *sim;

		assert_int_equal(fh_sim_open(&sim, rows[i].name, rows[i].rules, 1), 0);
		assert_memory_equal(fh_sim_shape(sim), &rows[i].shape, sizeof(rows[i].shape));
		fh_sim_close(sim);
	}
}

static void settings_out_of_range_are_refused(void **state)
{
	struct batch b;

	batch_open(&b, "MetaMaze", NULL);
	assert_int_equal(fh_sim_configure(b.sim, -1, 0), -EINVAL);
	assert_int_equal(fh_sim_configure(b.sim, 1000000001, 0), -EINVAL);
	assert_int_equal(fh_sim_configure(b.sim, 1, -0.1), -EINVAL);
	assert_int_equal(fh_sim_configure(b.sim, 1, 1.1), -EINVAL);
	assert_int_equal(fh_sim_configure(b.sim, 1, (double)NAN), -EINVAL);
	assert_int_equal(fh_sim_shape(b.sim)->max_steps, 200);
	assert_int_equal(fh_sim_configure(b.sim, 7, 1), 0);
	assert_int_equal(fh_sim_shape(b.sim)->max_steps, 7);
	fh_sim_close(b.sim);
}

/* --- seeds of random numbers ------------------------------------------------------------------ */

static void a_seed_decides_its_copy_alone(void **state)
{
	static const uint64_t seeds[N] = { 5, 6, 5 }, others[N] = { 6, 6, 5 };
	struct batch b;
	float kept;

	batch_open(&b, "MountainCarContinuous", NULL);
	fh_sim_seed(b.sim, seeds);
	fh_sim_reset(b.sim, b.observations);
	/* This simulator's observations have two numbers. fh_sim_reset() writes one copy's after
	 * the other's, without gaps. */
	assert_true(b.observations[0][0] == b.observations[0][4]);
	assert_true(b.observations[0][0] != b.observations[0][2]);
	kept = b.observations[0][2];
	fh_sim_seed(b.sim, others);
	fh_sim_reset(b.sim, b.observations);
	assert_true(b.observations[0][0] == kept);
	assert_true(kept >= -0.6f && kept <= -0.4f);
	fh_sim_reset(b.sim, b.observations);
	assert_true(b.observations[0][0] != kept);
	fh_sim_close(b.sim);
}

static void seeding_drops_fed_numbers(void **state)
{
	static const uint64_t seeds[N] = { 1, 2, 3 };
	static const double fed[] = { 0.5 };
	struct batch b;

	batch_open(&b, "MountainCarContinuous", NULL);
	fh_sim_feed(b.sim, fed, 1);
	fh_sim_reset(b.sim, b.observations);
	assert_true(b.observations[0][0] == -0.5f);
	fh_sim_feed(b.sim, fed, 1);
	fh_sim_seed(b.sim, seeds);
	fh_sim_reset(b.sim, b.observations);
	assert_true(b.observations[0][0] != -0.5f);
	fh_sim_close(b.sim);
}

/* --- steps ------------------------------------------------------------------------------------ */

static void an_episode_is_truncated_after_its_steps(void **state)
{
	static const int32_t up[N] = { 0 };
	struct batch b;

	batch_open(&b, "MetaMaze", NULL);
	assert_int_equal(fh_sim_configure(b.sim, 2, 0), 0);
	for (int episode = 0; episode < 2; episode++) {
		assert_int_equal(batch_step(&b, up), 0);
		assert_int_equal(b.truncated[0], 0);
		assert_true(b.observations[0][14] == 1);
		assert_int_equal(batch_step(&b, up), N);
		for (int i = 0; i < N; i++) {
			assert_int_equal(b.truncated[i], 1);
			assert_int_equal(b.terminated[i], 0);
			assert_true(b.final[i][14] == 2);
			assert_true(b.observations[i][14] == 0);
		}
	}
	fh_sim_close(b.sim);
}

/* An agent that starts beside the goal reaches it in the last step. The episode counts as
 * terminated, not as truncated. */
static void a_terminated_episode_is_not_truncated_too(void **state)
{
	static const int32_t up[N] = { 0 };
	/* random numbers that put both the goal and the moved agent on the cell above the centre */
	static const double fed[] = { 25.5 / 65, 25.5 / 65 };
	struct batch b;

	batch_open(&b, "MetaMaze", NULL);
	assert_int_equal(fh_sim_configure(b.sim, 1, 0), 0);
	fh_sim_feed(b.sim, fed, 2);
	fh_sim_reset(b.sim, b.observations);
	assert_int_equal(batch_step(&b, up), N);
	assert_int_equal(b.terminated[0], 1);
	assert_int_equal(b.truncated[0], 0);
	assert_true(b.rewards[0] == 10);
	assert_int_equal(b.truncated[1], 1);
	fh_sim_close(b.sim);
}

static void a_wrong_action_moves_no_copy(void **state)
{
	static const int32_t wrong[][N] = { { 0, 4, 0 }, { -1, 0, 0 } };
	static const int32_t right[N] = { 1, 1, 1 };
	static const float forces[][N] = { { 0, 0, NAN }, { INFINITY, 0, 0 } };
	struct batch b;

	batch_open(&b, "MetaMaze", NULL);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(batch_step(&b, wrong[i]), -EINVAL);
	assert_true(batch_step(&b, right) >= 0);
	assert_true(b.observations[0][14] == 1);
	fh_sim_close(b.sim);

	batch_open(&b, "MountainCarContinuous", NULL);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(batch_step(&b, forces[i]), -EINVAL);
	fh_sim_close(b.sim);
}

static void a_sticky_copy_repeats_its_action(void **state)
{
	static const int32_t left[N] = { 1, 1, 1 };
	static uint8_t observations[N][10][10][4], final[N][10][10][4];
	struct batch b;

	assert_int_equal(fh_sim_open(&b.sim, "Breakout", "minatar", N), 0);
	fh_sim_reset(b.sim, observations);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(fh_sim_configure(b.sim, 0, i % 2), 0);
		fh_sim_step(b.sim, i == 0 ? left : (const int32_t[N]){ 0 },
				&(struct fh_sim_results){ observations, b.rewards, b.terminated,
						b.truncated, final });
	}
	/* Steps 1 (left) and 2 (repeats 1) move the paddle. Step 3 stays, and step 4 repeats it. */
	assert_int_equal(observations[0][9][2][0], 1);
	fh_sim_close(b.sim);
}

/* --- wiring ----------------------------------------------------------------------------------- */

struct wired {
	float observations[N][64], final[N][64];
	double rewards[N];
	uint8_t terminated[N], truncated[N];
};

/* Opens wired copies, plays three steps of the same actions, and closes them. */
static void wired_play(const char *name, uint64_t number, struct wired *out)
{
	static const int32_t choices[N] = { 0, 1, 2 };
	static const float forces[N] = { 0.1f, 0.5f, -1 };
	static const uint64_t seeds[N] = { 5, 6, 7 };
	struct fh_sim *sim;

	*out = (struct wired){ 0 };
	assert_int_equal(fh_sim_open(&sim, name, NULL, N), 0);
	assert_int_equal(fh_sim_wire(sim, number), 0);
	fh_sim_seed(sim, seeds);
	fh_sim_reset(sim, out->observations);
	for (int i = 0; i < 3; i++)
		fh_sim_step(sim, fh_sim_shape(sim)->n_actions ? (const void *)choices : forces,
				&(struct fh_sim_results){ out->observations, out->rewards,
						out->terminated, out->truncated, out->final });
	fh_sim_close(sim);
}

static void a_number_decides_a_wiring(void **state)
{
	static const struct {
		const char *name;
		int sensors;
	} rows[] = { { "MountainCarContinuous", 2 }, { "Breakout", 64 }, { "MetaMaze", 16 } };
	struct wired first, same, other;

	for (size_t i = 0; i < 3; i++) {
		struct fh_sim *sim;

		assert_int_equal(fh_sim_open(&sim, rows[i].name, NULL, 1), 0);
		assert_int_equal(fh_sim_wire(sim, 1), 0);
		assert_int_equal(fh_sim_shape(sim)->observation[0], rows[i].sensors);
		assert_int_equal(fh_sim_shape(sim)->observation[1], 0);
		assert_int_equal(fh_sim_shape(sim)->observation_size, 4);
		assert_int_equal(fh_sim_wire(sim, 1), -EINVAL);
		fh_sim_close(sim);
		wired_play(rows[i].name, 1, &first);
		wired_play(rows[i].name, 1, &same);
		wired_play(rows[i].name, 2, &other);
		assert_memory_equal(&first, &same, sizeof(first));
		assert_memory_not_equal(
				first.observations, other.observations, sizeof(first.observations));
	}
}

/* The second of three cars stands between the others. A linear map would show it in the middle of
 * what they show. */
static void no_linear_map_undoes_the_sensors(void **state)
{
	static const double fed[] = { 0 }, middle[] = { 0.5 }, end[] = { 1 };
	const double *const places[] = { fed, middle, end };
	float seen[3][2];

	for (int i = 0; i < 3; i++) {
		struct fh_sim *sim;

		assert_int_equal(fh_sim_open(&sim, "MountainCarContinuous", NULL, 1), 0);
		assert_int_equal(fh_sim_wire(sim, 7), 0);
		fh_sim_feed(sim, places[i], 1);
		fh_sim_reset(sim, seen[i]);
		fh_sim_close(sim);
	}
	assert_true(fabsf((seen[0][0] + seen[2][0]) / 2 - seen[1][0]) +
					fabsf((seen[0][1] + seen[2][1]) / 2 - seen[1][1]) >
			0.01f);
}

/* The plain observation of a wired batch is that of a batch without wiring. */
static void a_wiring_changes_no_rules(void **state)
{
	static const uint64_t seeds[N] = { 5, 6, 7 };
	static const float none[N];
	float sensors[N][2], plain[N][2], expected[N][2];
	struct batch b;
	struct fh_sim *wired;

	batch_open(&b, "MountainCarContinuous", NULL);
	assert_int_equal(fh_sim_open(&wired, "MountainCarContinuous", NULL, N), 0);
	assert_int_equal(fh_sim_wire(wired, 3), 0);
	fh_sim_seed(b.sim, seeds);
	fh_sim_seed(wired, seeds);
	fh_sim_reset(b.sim, b.observations);
	fh_sim_reset(wired, sensors);
	for (int i = 0; i < 20; i++) {
		batch_step(&b, none);
		fh_sim_step(wired, none,
				&(struct fh_sim_results){ sensors, b.rewards, b.terminated,
						b.truncated, b.final });
	}
	fh_sim_plain(b.sim, expected);
	fh_sim_plain(wired, plain);
	assert_memory_equal(plain, expected, sizeof(plain));
	assert_memory_equal(b.observations, expected, sizeof(expected));
	assert_memory_not_equal(sensors, expected, sizeof(expected));
	fh_sim_close(b.sim);
	fh_sim_close(wired);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_names_and_sizes_are_refused),
		cmocka_unit_test(shapes_are_those_of_the_rules),
		cmocka_unit_test(settings_out_of_range_are_refused),
		cmocka_unit_test(a_seed_decides_its_copy_alone),
		cmocka_unit_test(seeding_drops_fed_numbers),
		cmocka_unit_test(an_episode_is_truncated_after_its_steps),
		cmocka_unit_test(a_terminated_episode_is_not_truncated_too),
		cmocka_unit_test(a_wrong_action_moves_no_copy),
		cmocka_unit_test(a_sticky_copy_repeats_its_action),
		cmocka_unit_test(a_number_decides_a_wiring),
		cmocka_unit_test(no_linear_map_undoes_the_sensors),
		cmocka_unit_test(a_wiring_changes_no_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
