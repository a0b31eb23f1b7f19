/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "trials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

/* Makes calls of an owner fail, be interrupted, or transfer fewer bytes. Or they kill the owner. */

static void test_errors(void **state)
{
	static const enum fault_call must[] = { CALL_open64, CALL_write, CALL_read, CALL_fdatasync,
		CALL_realloc, CALL_socketpair, CALL_pipe2, CALL_memfd_create, CALL_mmap64,
		CALL_recvmsg, CALL_sendmsg, CALL_mkdir, CALL_posix_spawn, CALL_xasprintf,
		CALL_xcalloc, CALL_xgrow, CALL_xstrdup, CALL_xstrndup };
	unsigned bad = trials_run(&(struct campaign){
			.name = "errors in the owner", .side = FAULT_OWNER, .kind = FAULT_ERROR });

	for (size_t i = 0; i < ARRAY_SIZE(must); i++)
		if (!trials_sites_of(FAULT_OWNER, must[i]))
			fail_msg("%s was never called", fault_call_name(must[i]));
	assert_int_equal(bad, 0);
}

static void test_interruptions(void **state)
{
	assert_int_equal(trials_run(&(struct campaign){ .name = "interruptions of the owner",
					 .side = FAULT_OWNER,
					 .kind = FAULT_INTR }),
			0);
}

static void test_short_transfers(void **state)
{
	assert_int_equal(trials_run(&(struct campaign){ .name = "short transfers of the owner",
					 .side = FAULT_OWNER,
					 .kind = FAULT_SHORT }),
			0);
}

static void test_deaths(void **state)
{
	assert_int_equal(trials_run(&(struct campaign){ .name = "deaths of the owner",
					 .side = FAULT_OWNER,
					 .kind = FAULT_KILL }),
			0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_interruptions),
		cmocka_unit_test(test_short_transfers),
		cmocka_unit_test(test_deaths),
	};

	return cmocka_run_group_tests(tests, trials_set_up, trials_tear_down);
}
