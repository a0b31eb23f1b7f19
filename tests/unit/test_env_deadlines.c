/* SPDX-License-Identifier: Apache-2.0 */
#include "env/deadlines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

/* Compares the heap of deadlines with a plain search, over many random operations. */

#define N_DEADLINES 200
#define OPERATIONS 20000

static int64_t earliest(const struct deadline *all)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < N_DEADLINES; i++)
		if (all[i].is_set && all[i].at_ns < first)
			first = all[i].at_ns;
	return first;
}

static void test_same_as_search(void **state)
{
	struct deadline all[N_DEADLINES] = { 0 };
	struct deadlines heap = { 0 };

	assert_true(deadlines_first(&heap) == INT64_MAX);
	srandom(1);
	for (int i = 0; i < OPERATIONS; i++) {
		struct deadline *d = &all[random() % N_DEADLINES];

		if (random() % 3)
			deadlines_set(&heap, d, random() % 1000);
		else
			deadlines_clear(&heap, d);
		assert_true(deadlines_first(&heap) == earliest(all));
	}
	for (size_t i = 0; i < N_DEADLINES; i++)
		deadlines_clear(&heap, &all[i]);
	assert_int_equal(heap.n, 0);
	free(heap.heap);
}

static void test_comes_out_in_order(void **state)
{
	struct deadline all[N_DEADLINES] = { 0 };
	struct deadlines heap = { 0 };
	int64_t last = -1;

	for (size_t i = 0; i < N_DEADLINES; i++)
		deadlines_set(&heap, &all[i], (int64_t)(i * 7919 % N_DEADLINES));
	for (size_t i = 0; i < N_DEADLINES; i++) {
		assert_true(deadlines_first(&heap) >= last);
		last = deadlines_first(&heap);
		deadlines_clear(&heap, heap.heap[0]);
	}
	assert_int_equal(last, N_DEADLINES - 1);
	free(heap.heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_as_search),
		cmocka_unit_test(test_comes_out_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
