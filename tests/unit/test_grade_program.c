/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox_fixture.h"

#include "grade/program.h"

#include <errno.h>

/* Starts /bin/true in a sandbox. `peer` is a program that shares pipes with it, or NULL. */
static void start(struct program *p, const struct program *peer)
{
	static const char *const argv[] = { "/bin/true", NULL };
	static const char *const env[] = { "PATH=/usr/bin:/bin", NULL };

	assert_done(program_start(p, owner,
			&(struct program_plan){
					.argv = argv,
					.env = env,
					.streams = { PROGRAM_NOTHING, PROGRAM_LOG, PROGRAM_LOG },
					.n_streams = 3,
					.peer = peer,
			},
			&error));
}

/* A program may run only after its peer runs: until then the owner may hold ends of their common
 * pipes. */
static void test_peer_goes_first(void **state)
{
	struct program peer = { .state = PROGRAM_STARTING };
	struct program p;

	start(&p, &peer);
	while (p.state != PROGRAM_HELD)
		program_wait(&p, 10, &error);
	assert_int_equal(program_wait(&p, 300, &error), -ETIMEDOUT);
	assert_int_equal(p.state, PROGRAM_HELD);
	peer.state = PROGRAM_RUNNING;
	assert_done(program_wait(&p, PATIENCE_MS, &error));
	assert_int_equal(p.state, PROGRAM_ENDED);
	assert_int_equal(p.status, 0);
	program_release(&p);
}

/* A program never runs if its peer failed to start. */
static void test_broken_peer(void **state)
{
	struct program peer = { .state = PROGRAM_BROKEN };
	struct program p;

	start(&p, &peer);
	while (p.state != PROGRAM_HELD)
		program_wait(&p, 10, &error);
	assert_int_equal(program_wait(&p, 300, &error), -ETIMEDOUT);
	assert_int_equal(p.state, PROGRAM_HELD);
	program_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_peer_goes_first),
		cmocka_unit_test(test_broken_peer),
	};

	return cmocka_run_group_tests(tests, open_owner, close_owner);
}
