/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/scope.h"
#include "run/takeover.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>

static struct fh_error error;
static struct takeover *mailbox;

#define RECORD "/r/events.jsonl"
#define MODEL                                                                                      \
	{                                                                                          \
		.record = RECORD, .takes_hints = true                                              \
	}
#define HUMAN                                                                                      \
	{                                                                                          \
		.record = RECORD, .is_human = true                                                 \
	}
#define SCRIPT                                                                                     \
	{                                                                                          \
		.record = RECORD                                                                   \
	}

static int give(enum desk_order_kind kind, int step, const char *text)
{
	struct desk_order order = { .kind = kind, .text = text ? strdup(text) : NULL };
	int r = takeover_give(mailbox, RECORD, &order, step, &error);

	desk_order_release(&order);
	return r;
}

/* Takes the next order and compares its kind and text. */
static void assert_taken(struct desk *d, enum desk_order_kind kind, const char *text)
{
	struct desk_order order;

	assert_true(desk_take(d, &order));
	assert_int_equal(order.kind, kind);
	if (text)
		assert_string_equal(order.text, text);
	assert_has(order.time, "T");
	desk_order_release(&order);
}

static void test_orders_fit_the_state(void **state)
{
	static const struct {
		struct desk_options options;
		enum desk_state state;
		enum desk_order_kind kind;
		int step, result;
		const char *why;
	} rows[] = {
		{ MODEL, DESK_MODEL, DESK_PAUSE, 0, 0, "" },
		{ MODEL, DESK_MODEL, DESK_HINT, 0, 0, "" },
		{ MODEL, DESK_BUSY, DESK_INTERRUPT, 0, 0, "" },
		{ MODEL, DESK_MODEL, DESK_INTERRUPT, 0, -EBUSY, "No command runs" },
		{ SCRIPT, DESK_BUSY, DESK_INTERRUPT, 0, 0, "" },
		{ MODEL, DESK_MODEL, DESK_ACT, 5, -EBUSY, "not ready for step 5" },
		{ MODEL, DESK_PERSON, DESK_ACT, 5, -EBUSY, "pause it first" },
		{ MODEL, DESK_ENDED, DESK_PAUSE, 0, -EBUSY, "has ended" },
		{ SCRIPT, DESK_MODEL, DESK_HINT, 0, -EINVAL, "No language model" },
		{ HUMAN, DESK_PERSON, DESK_PAUSE, 0, -EINVAL, "A person takes each step" },
		{ HUMAN, DESK_PERSON, DESK_ACT, 5, 0, "" },
		{ HUMAN, DESK_PERSON, DESK_ACT, 4, -EBUSY, "Step 4 was taken already" },
		{ HUMAN, DESK_PERSON, DESK_ACT, 6, -EBUSY, "not ready for step 6" },
		{ HUMAN, DESK_ENDED, DESK_ACT, 5, -EBUSY, "has ended" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_done(takeover_new(&mailbox, &error));
		desk_show(desk_open(mailbox, &rows[i].options), rows[i].state, 5);
		error.message[0] = '\0';
		print_message("row %zu\n", i);
		assert_int_equal(give(rows[i].kind, rows[i].step, "x"), rows[i].result);
		assert_has(error.message, rows[i].why);
		takeover_free(mailbox);
	}
}

static void test_a_second_action_is_refused(void **state)
{
	const struct desk_options human = HUMAN;
	struct desk_view view;
	struct desk *d;

	assert_done(takeover_new(&mailbox, &error));
	assert_int_equal(give(DESK_ACT, 1, "ls"), -ENOENT);
	d = desk_open(mailbox, &human);
	assert_true(desk_is_held(d));
	desk_show(d, DESK_PERSON, 1);
	assert_false(takeover_came(mailbox));
	assert_done(give(DESK_ACT, 1, "ls"));
	/* The page must not offer the step again before it begins. */
	assert_true(takeover_look(mailbox, RECORD, &view));
	assert_true(view.state == DESK_BUSY && view.step == 2);
	assert_true(takeover_came(mailbox));
	assert_int_equal(give(DESK_ACT, 1, "pwd"), -EBUSY);
	assert_has(error.message, "taken already");
	desk_show(d, DESK_PERSON, 1); /* the playing thread followed an earlier order */
	assert_int_equal(give(DESK_ACT, 1, "pwd"), -EBUSY);
	assert_taken(d, DESK_ACT, "ls");
	desk_show(d, DESK_BUSY, 2);
	assert_int_equal(give(DESK_ACT, 1, "pwd"), -EBUSY);
	desk_show(d, DESK_PERSON, 2);
	assert_done(give(DESK_ACT, 2, "pwd"));
	takeover_free(mailbox);
}

static void test_orders_come_in_their_order(void **state)
{
	const struct desk_options model = MODEL;
	struct desk_order order;
	struct desk_view view;
	struct desk *d;

	assert_done(takeover_new(&mailbox, &error));
	d = desk_open(mailbox, &model);
	desk_show(d, DESK_MODEL, 3);
	assert_done(give(DESK_PAUSE, 0, NULL));
	assert_done(give(DESK_PAUSE, 0, NULL)); /* no second pause */
	assert_done(give(DESK_HINT, 0, "look"));
	assert_true(desk_is_held(d));
	assert_done(give(DESK_LET_GO, 0, NULL));
	assert_false(desk_is_held(d));
	assert_taken(d, DESK_PAUSE, NULL);
	assert_taken(d, DESK_HINT, "look");
	assert_taken(d, DESK_LET_GO, NULL);
	assert_false(desk_take(d, &order));
	assert_true(takeover_look(mailbox, RECORD, &view));
	assert_true(view.state == DESK_MODEL && view.step == 3 && !view.is_paused);
	assert_false(takeover_look(mailbox, "/other", &view));
	for (int i = 0; i < 1000; i++)
		give(DESK_HINT, 0, "again");
	assert_int_equal(give(DESK_HINT, 0, "again"), -EBUSY);
	takeover_free(mailbox);
}

static void test_the_first_that_goes_on(void **state)
{
	const struct desk_options one = { .record = "/1" }, two = { .record = "/2" };
	auto_free char *first = NULL, *second = NULL;
	struct desk *d;

	assert_done(takeover_new(&mailbox, &error));
	assert_null(takeover_first(mailbox));
	d = desk_open(mailbox, &one);
	desk_open(mailbox, &two);
	first = takeover_first(mailbox);
	assert_string_equal(first, "/1");
	desk_show(d, DESK_ENDED, 1);
	second = takeover_first(mailbox);
	assert_string_equal(second, "/2");
	takeover_free(mailbox);
}

/* --- two threads ------------------------------------------------------------------------------ */

#define STEPS 200

/* Acts in each step as soon as that is possible, as two pages do at once. */
static void *act(void *arg)
{
	int *taken = arg, step = 1;

	while (step <= STEPS) {
		struct desk_order order = { .kind = DESK_ACT, .text = strdup("ls") };
		struct desk_view view;
		struct fh_error err;

		*taken += takeover_give(mailbox, RECORD, &order, step, &err) == 0;
		desk_order_release(&order);
		if (takeover_look(mailbox, RECORD, &view))
			step = view.step;
	}
	return NULL;
}

static void test_each_step_is_taken_once(void **state)
{
	const struct desk_options human = HUMAN;
	pthread_t threads[2];
	int taken[2] = { 0 };
	struct desk *d;

	assert_done(takeover_new(&mailbox, &error));
	d = desk_open(mailbox, &human);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, act, &taken[i]), 0);
	for (int step = 1; step <= STEPS; step++) {
		struct pollfd fd = { .fd = takeover_fd(mailbox), .events = POLLIN };
		struct desk_order order;

		desk_show(d, DESK_PERSON, step);
		while (!desk_take(d, &order)) {
			assert_int_equal(poll(&fd, 1, 60000), 1);
			takeover_came(mailbox);
		}
		desk_order_release(&order);
		desk_show(d, DESK_BUSY, step + 1);
		assert_false(desk_take(d, &order));
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(taken[0] + taken[1], STEPS);
	takeover_free(mailbox);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orders_fit_the_state),
		cmocka_unit_test(test_a_second_action_is_refused),
		cmocka_unit_test(test_orders_come_in_their_order),
		cmocka_unit_test(test_the_first_that_goes_on),
		cmocka_unit_test(test_each_step_is_taken_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
