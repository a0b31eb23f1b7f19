/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "trials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

/* Makes calls fail in an owner's processes: the nursery, spare processes, PID 1, shells, and
 * programs before their exec. */

static void test_errors(void **state)
{
	static const enum fault_call must[] = { CALL_open64, CALL_mount, CALL_syscall, CALL_fork,
		CALL_unshare, CALL_setns, CALL_recvmsg, CALL_sendmsg, CALL_mmap64, CALL_write,
		CALL_setresuid, CALL_prctl };
	unsigned bad = trials_run(&(struct campaign){
			.name = "errors in the guest", .side = FAULT_GUEST, .kind = FAULT_ERROR });

	for (size_t i = 0; i < ARRAY_SIZE(must); i++)
		if (!trials_sites_of(FAULT_GUEST, must[i]))
			fail_msg("%s was never called", fault_call_name(must[i]));
	assert_int_equal(bad, 0);
}

static void test_interruptions(void **state)
{
	assert_int_equal(trials_run(&(struct campaign){ .name = "interruptions of the guest",
					 .side = FAULT_GUEST,
					 .kind = FAULT_INTR }),
			0);
}

static void test_deaths(void **state)
{
	assert_int_equal(trials_run(&(struct campaign){ .name = "deaths of the guest",
					 .side = FAULT_GUEST,
					 .kind = FAULT_KILL }),
			0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_interruptions),
		cmocka_unit_test(test_deaths),
	};

	return cmocka_run_group_tests(tests, trials_set_up, trials_tear_down);
}
