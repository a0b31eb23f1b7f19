/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/clock.h"
#include "base/scope.h"
#include "env/poller.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Tests the poller with items that are not environments. Each item waits for an eventfd, and counts
 * its advances and interrupts. */

struct thing {
	struct poll_item item;
	int fd;
	int64_t deadline_ns;
	int n_advances;
	int n_interrupts;
	bool interrupted;
	int failed; /* code of its error; 0: none */
	bool over;
};

static struct fh_error error;
static struct poller poller;

static struct thing *thing_of(const struct poll_item *item)
{
	return (struct thing *)((uintptr_t)item - offsetof(struct thing, item));
}

static void thing_waits(struct poll_item *item, struct waits *w)
{
	struct thing *t = thing_of(item);

	waits_add(w, t->fd, POLLIN);
	waits_until(w, t->deadline_ns);
}

static bool thing_advance(struct poll_item *item)
{
	struct thing *t = thing_of(item);
	uint64_t count = 0;

	t->n_advances++;
	t->n_interrupts += t->interrupted;
	t->interrupted = false;
	t->over = read(t->fd, &count, sizeof(count)) > 0 || t->n_interrupts ||
			clock_now_ns() >= t->deadline_ns;
	return t->over;
}

static void thing_fail(struct poll_item *item, const struct fh_error *err)
{
	thing_of(item)->failed = err->code;
}

static bool thing_is_quick(struct poll_item *item)
{
	return false;
}

static bool thing_is_interrupted(struct poll_item *item)
{
	return thing_of(item)->interrupted;
}

static void interrupt(struct thing *t)
{
	t->interrupted = true;
	waker_interrupt(poller.waker);
}

static const struct poll_ops ops = {
	.waits = thing_waits,
	.advance = thing_advance,
	.fail = thing_fail,
	.is_quick = thing_is_quick,
	.is_interrupted = thing_is_interrupted,
};

static int poller_setup(void **state)
{
	poller_init(&poller);
	assert_done(poller_open(&poller, &error));
	return 0;
}

static int poller_teardown(void **state)
{
	poller_release(&poller);
	return 0;
}

static struct thing thing_new(int fd)
{
	return (struct thing){ .item = { .ops = &ops }, .fd = fd, .deadline_ns = INT64_MAX };
}

static int event_new(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	assert_true(fd >= 0);
	return fd;
}

static void tell(int fd)
{
	assert_int_equal(write(fd, &(uint64_t){ 1 }, sizeof(uint64_t)), sizeof(uint64_t));
}

static void assert_none_over(void)
{
	assert_done(poller_wait(&poller, 0, &error));
	assert_null(poller_take(&poller));
}

static void assert_over(struct thing *t)
{
	assert_done(poller_wait(&poller, 60000, &error));
	assert_ptr_equal(poller_take(&poller), &t->item);
	assert_null(poller_take(&poller));
}

static void test_only_what_came_is_advanced(void **state)
{
	auto_close int first = event_new(), second = event_new();
	struct thing one = thing_new(first), two = thing_new(second);

	poller_add(&poller, &one.item);
	poller_add(&poller, &two.item);
	assert_none_over();
	tell(second);
	assert_over(&two);
	assert_int_equal(one.n_advances, 0);
	assert_int_equal(two.n_advances, 1);

	/* If an event comes while an item has no work, its next work gets the event. */
	tell(second);
	assert_none_over();
	poller_add(&poller, &two.item);
	assert_over(&two);
	poller_forget(&poller, &one.item);
	tell(first);
	assert_none_over();
	assert_int_equal(one.n_advances, 0);
}

static void test_deadlines_and_interrupts(void **state)
{
	auto_close int first = event_new(), second = event_new();
	struct thing one = thing_new(first), two = thing_new(second);

	one.deadline_ns = clock_now_ns() + 20 * NS_PER_MS;
	poller_add(&poller, &one.item);
	poller_add(&poller, &two.item);
	assert_over(&one);
	assert_true(clock_now_ns() >= one.deadline_ns);
	interrupt(&two);
	assert_over(&two);
	assert_int_equal(two.n_interrupts, 1);
}

static void test_done_at_once(void **state)
{
	struct thing t = thing_new(-1);

	poller_add_done(&poller, &t.item);
	assert_over(&t);
	poller_add_done(&poller, &t.item);
	poller_untake(&t.item);
	assert_none_over();
	assert_int_equal(t.n_advances, 0);
}

/* epoll refuses regular files. An item that waits for such a file fails, and its work ends. */
static void test_a_descriptor_that_cannot_be_watched(void **state)
{
	auto_close int fd = event_new();
	auto_close int unreadable = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_close int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct thing t, later = thing_new(fd);

	assert_true(file >= 0);
	t = thing_new(file);
	poller_add(&poller, &t.item);
	assert_int_equal(t.failed, -EPERM);
	assert_over(&t);
	assert_int_equal(t.n_advances, 0);

	/* An item also fails if it changes to a descriptor that epoll refuses. */
	poller_add(&poller, &later.item);
	later.fd = unreadable;
	tell(fd);
	assert_over(&later);
	assert_int_equal(later.failed, -EPERM);
	assert_int_equal(later.n_advances, 1);
}

#define poller_test(f) cmocka_unit_test_setup_teardown(f, poller_setup, poller_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		poller_test(test_only_what_came_is_advanced),
		poller_test(test_deadlines_and_interrupts),
		poller_test(test_done_at_once),
		poller_test(test_a_descriptor_that_cannot_be_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
