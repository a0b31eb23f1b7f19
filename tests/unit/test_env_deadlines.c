/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "env/deadlines.h"
#include "env/env.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

/* The heap of deadlines against a plain search, through a long and mixed life. */

#define ENVS 200
#define OPERATIONS 20000

static int64_t earliest(const struct fh_env *envs)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < ENVS; i++)
		if (envs[i].slot.in_heap && envs[i].slot.deadline_ns < first)
			first = envs[i].slot.deadline_ns;
	return first;
}

static void test_same_as_search(void **state)
{
	struct fh_env *envs = xcalloc(ENVS, sizeof(*envs));
	struct poller p;

	poller_init(&p);
	assert_true(deadlines_first(&p) == INT64_MAX);
	srandom(1);
	for (int i = 0; i < OPERATIONS; i++) {
		struct fh_env *env = &envs[random() % ENVS];

		if (random() % 3)
			deadlines_put(&p, env, random() % 1000);
		else
			deadlines_remove(&p, env);
		assert_true(deadlines_first(&p) == earliest(envs));
	}
	for (size_t i = 0; i < ENVS; i++)
		deadlines_remove(&p, &envs[i]);
	assert_int_equal(p.n_heap, 0);
	poller_release(&p);
	free(envs);
}

static void test_comes_out_in_order(void **state)
{
	struct fh_env *envs = xcalloc(ENVS, sizeof(*envs));
	int64_t last = -1;
	struct poller p;

	poller_init(&p);
	for (size_t i = 0; i < ENVS; i++)
		deadlines_put(&p, &envs[i], (int64_t)(i * 7919 % ENVS));
	for (size_t i = 0; i < ENVS; i++) {
		assert_true(deadlines_first(&p) >= last);
		last = deadlines_first(&p);
		deadlines_remove(&p, p.heap[0]);
	}
	assert_int_equal(last, ENVS - 1);
	poller_release(&p);
	free(envs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_as_search),
		cmocka_unit_test(test_comes_out_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
