/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/seats.h"

#include "gym_fixture.h"

#include <poll.h>

/* More sessions than threads may open environments. */

#define SESSIONS (OPENINGS_MAX + 2)

static const struct serve_options options = { .max_sessions = SESSIONS };
static struct host_task task;
static struct host host = { .options = &options, .tasks = &task, .n_tasks = 1 };

static int setup(void **state)
{
	int r = gym_setup(state);

	host.gym = gym;
	task.env = FH_ENV_OPTIONS(.task = "no-such-task", .polled = true);
	assert_done(openings_open(&host.openings, &error));
	return r;
}

static int teardown(void **state)
{
	openings_close(&host.openings);
	return gym_teardown(state);
}

static void count_answer(void *user, const struct seat *s, const struct seat_answer *answer)
{
	assert_int_equal(answer->failure, SEAT_NO_OPENING);
	++*(int *)user;
}

static int count_phase(const struct seats *seats, enum seat_phase phase)
{
	const struct seat *s;
	int n = 0;

	TAILQ_FOREACH(s, &seats->list, link)
		n += s->phase == phase;
	return n;
}

static void wait_for_threads(const struct seats *seats)
{
	const struct seat *s;

	TAILQ_FOREACH(s, &seats->list, link)
		while (s->phase == SEAT_OPENING && !opening_is_over(s->opening))
			poll(NULL, 0, 1);
}

/* If all threads end before the server looks, none is left to wake it for queued sessions. */
static void test_queue_moves_when_all_openings_end_at_once(void **state)
{
	struct seats seats = SEATS_INIT(seats, &host);
	struct seat *s;
	int n_answers = 0;

	for (int i = 0; i < SESSIONS; i++)
		assert_non_null(seats_open(&seats));
	TAILQ_FOREACH_REVERSE(s, &seats.list, seat_list, link)
		seat_reset(s, &(struct seat_reset){ 0 }, count_answer, &n_answers);
	assert_int_equal(count_phase(&seats, SEAT_OPENING), OPENINGS_MAX);
	assert_int_equal(count_phase(&seats, SEAT_QUEUED), SESSIONS - OPENINGS_MAX);

	wait_for_threads(&seats);
	assert_done(seats_advance(&seats, &error));
	assert_int_equal(n_answers, OPENINGS_MAX);
	assert_int_equal(count_phase(&seats, SEAT_QUEUED), 0);

	wait_for_threads(&seats);
	assert_done(seats_advance(&seats, &error));
	assert_int_equal(n_answers, SESSIONS);
	seats_end(&seats);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue_moves_when_all_openings_end_at_once),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
