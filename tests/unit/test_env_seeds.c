/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"

/* What follows from an episode's seed. */

static void numbers(struct fh_env *env, uint64_t seed, char out[128])
{
	assert_done(fh_env_reset(env, seed, &step, &error));
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

/* The judge's numbers follow from the seed and from all that was done: who does something else meets
 * others, whatever an earlier episode with that seed has shown. */
static void test_seeds_of_judges(void **state)
{
	static const struct {
		uint64_t seed;
		const char *before;
	} cases[] = { { 7, "true" }, { 7, "true" }, { 8, "true" }, { 7, "true " } };
	struct fh_env *env = open_env("guess");
	double scores[ARRAY_SIZE(cases)][2];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_done(fh_env_reset(env, cases[i].seed, &step, &error));
		act(env, cases[i].before);
		for (int k = 0; k < 2; k++) {
			act(env, "validate");
			assert_non_null(step.score);
			scores[i][k] = step.score[0].value;
		}
	}
	assert_true(scores[0][0] == scores[1][0] && scores[0][1] == scores[1][1]);
	for (size_t i = 2; i < ARRAY_SIZE(cases); i++)
		assert_true(scores[0][0] != scores[i][0] || scores[0][1] != scores[i][1]);
	fh_env_close(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_seeds_of_judges),
	};

	return cmocka_run_group_tests(tests, gym_setup, gym_teardown);
}
