/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "fault.h"
#include "machine.h"
#include "play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

/* CLOCK_REALTIME jumps by a year at each call of an owner or guest. Nothing may fail because of it:
 * durations and timeouts use another clock. */

static void test_jumps(void **state)
{
	static struct play p;
	bool good;

	fault_spared = true;
	play_set_up();
	machine_watch();
	assert_int_equal(fault_page_open(), 0);
	atomic_store(&fault_page->clock_jumps, true);
	good = play(&p, "sums", SCRIPT_WHOLE) && play_read_records(&p);
	if (!good)
		print_message("%s\n", p.trouble);
	print_message("fault: %u jumps of the clock\n", atomic_load(&fault_page->clock_reads));
	assert_true(good);
	assert_int_equal(p.felt, 0);
	assert_true(atomic_load(&fault_page->clock_reads) > 5);
	assert_true(machine_wait_until_gone() >= 0);
	play_tear_down();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_jumps) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
