/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"

#include <errno.h>

/* Checks which values follow from an episode's seed. */

static void numbers(struct fh_env *env, uint64_t seed, char out[128])
{
	assert_done(fh_env_reset(env, &FH_RESET(.seed = seed), &step, &error));
	act(env, "echo $RANDOM $RANDOM $PYTHONHASHSEED");
	snprintf(out, 128, "%s", step.observation);
}

static void test_seeds(void **state)
{
	struct fh_env *env = open_env("rows");
	char a[128], b[128], c[128];

	numbers(env, 5, a);
	numbers(env, 6, b);
	numbers(env, 5, c);
	assert_string_equal(a, c);
	assert_string_not_equal(a, b);
	fh_env_close(env);
}

/* The judge's numbers follow from the seed, a salt and all that was done. The salt is new in each
 * episode unless the caller gives one. So an episode's numbers tell nothing about another's. */
static void test_seeds_of_judges(void **state)
{
	static const struct {
		uint64_t seed, salt;
		const char *before;
	} cases[] = { { 7, 3, "true" }, { 7, 3, "true" }, { 8, 3, "true" }, { 7, 4, "true" },
		{ 7, 3, "true " }, { 7, 0, "true" }, { 7, 0, "true" } };
	double scores[ARRAY_SIZE(cases)][2];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fh_env_options options =
				FH_ENV_OPTIONS(.task = "guess", .judge_salt = cases[i].salt);
		struct fh_env *env;

		assert_done(fh_env_open(gym, &options, &env, &error));
		assert_done(fh_env_reset(env, &FH_RESET(.seed = cases[i].seed), &step, &error));
		assert_true(step.judge_salt > 0 && step.judge_salt <= FH_JUDGE_SALT_MAX);
		assert_true(!cases[i].salt || step.judge_salt == cases[i].salt);
		act(env, cases[i].before);
		assert_int_equal(step.judge_salt, 0);
		for (int k = 0; k < 2; k++) {
			act(env, "validate");
			assert_non_null(step.score);
			scores[i][k] = step.score[0].value;
		}
		fh_env_close(env);
	}
	assert_memory_equal(scores[0], scores[1], sizeof(scores[0]));
	for (size_t i = 1; i < ARRAY_SIZE(cases); i++)
		for (size_t k = i + 1; k < ARRAY_SIZE(cases); k++)
			assert_memory_not_equal(scores[i], scores[k], sizeof(scores[0]));
}

static void test_salts_that_are_none(void **state)
{
	struct fh_env_options options =
			FH_ENV_OPTIONS(.task = "guess", .judge_salt = FH_JUDGE_SALT_MAX + 1);
	struct fh_env *env = NULL;

	assert_int_equal(fh_env_open(gym, &options, &env, &error), -EINVAL);
	assert_string_equal(error.message, "a judge's salt should be at most 9007199254740991");
}

static void look_at_data(uint64_t data_seed, char out[128])
{
	struct fh_env_options options =
			FH_ENV_OPTIONS(.task = "titanicSurvival:micro", .data_seed = data_seed);
	struct fh_env_info info;
	struct fh_env *env;

	assert_done(fh_env_open(gym, &options, &env, &error));
	fh_env_info(env, &info);
	assert_int_equal(info.data_seed, data_seed);
	assert_done(fh_env_reset(env, NULL, &step, &error));
	assert_int_equal(step.data_seed, data_seed);
	act(env, "sha256sum data/train.csv");
	assert_int_equal(step.data_seed, 0);
	snprintf(out, 128, "%s", step.observation);
	fh_env_close(env);
}

static void test_data_seeds(void **state)
{
	char zero[128], one[128], again[128];

	look_at_data(0, zero);
	look_at_data(1, one);
	assert_string_not_equal(zero, one);
	look_at_data(0, again);
	assert_string_equal(zero, again);
	/* A new gym, which has yet to load the task, finds the same data. */
	fh_gym_close(gym);
	open_gym();
	look_at_data(1, again);
	assert_string_equal(one, again);
}

static void test_data_seeds_that_are_none(void **state)
{
	struct fh_env_options options =
			FH_ENV_OPTIONS(.task = "guess", .data_seed = FH_DATA_SEED_MAX + 1);
	struct fh_env *env = NULL;

	assert_int_equal(fh_env_open(gym, &options, &env, &error), -EINVAL);
	assert_string_equal(error.message, "a data seed should be at most 9007199254740991");
	options.data_seed = 1;
	assert_int_equal(fh_env_open(gym, &options, &env, &error), -EINVAL);
	assert_non_null(strstr(error.message, "'guess' has no generated data"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_seeds_of_judges),
		cmocka_unit_test(test_data_seeds),
		cmocka_unit_test(test_data_seeds_that_are_none),
		cmocka_unit_test(test_salts_that_are_none),
	};

	return cmocka_run_group_tests(tests, gym_setup, gym_teardown);
}
