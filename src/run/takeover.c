/* SPDX-License-Identifier: Apache-2.0 */
#include "run/takeover.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Most orders that wait for an episode. */
#define ORDERS_MAX 64
#define WATCHED_NS (3 * NS_PER_S)

/* Orders of persons for one episode, and what pages show of it. */
struct desk {
	struct takeover *mailbox;
	struct desk *next;
	char *record;
	struct desk_view view;
	bool acted; /* an action for this step was accepted */
	bool interrupts;
	struct desk_order *orders; /* the oldest first */
	size_t n;
};

struct takeover {
	pthread_mutex_t lock; /* protects the members below, and all members of the desks */
	int fd;
	struct desk *desks; /* in the order in which they were opened */
	int64_t looked_ns;  /* when a person looked last; 0: never */
};

static const char *const order_names[] = {
	[DESK_PAUSE] = "pause",
	[DESK_LET_GO] = "let_go",
	[DESK_HINT] = "hint",
	[DESK_ACT] = "act",
	[DESK_INTERRUPT] = "interrupt",
};

const char *desk_order_name(enum desk_order_kind kind)
{
	return kind < ARRAY_SIZE(order_names) ? order_names[kind] : NULL;
}

void desk_order_release(struct desk_order *order)
{
	free(take_ptr(order->text));
	free(take_ptr(order->thought));
}

int takeover_new(struct takeover **out, struct fh_error *err)
{
	struct takeover *t;
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return error_set(err, errno, "create an eventfd");
	t = xcalloc(1, sizeof(*t));
	t->fd = fd;
	pthread_mutex_init(&t->lock, NULL);
	*out = t;
	return 0;
}

void takeover_free(struct takeover *t)
{
	if (!t)
		return;
	while (t->desks) {
		struct desk *d = t->desks;

		t->desks = d->next;
		for (size_t i = 0; i < d->n; i++)
			desk_order_release(&d->orders[i]);
		free(d->orders);
		free(d->record);
		free(d);
	}
	close_fd(&t->fd);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* --- the playing thread ----------------------------------------------------------------------- */

int takeover_fd(const struct takeover *t)
{
	return t->fd;
}

bool takeover_came(struct takeover *t)
{
	uint64_t count;

	return read(t->fd, &count, sizeof(count)) == sizeof(count);
}

struct desk *desk_open(struct takeover *t, const struct desk_options *options)
{
	struct desk *d = xcalloc(1, sizeof(*d)), **at;

	d->mailbox = t;
	d->record = xstrdup(options->record);
	d->view.options = *options;
	d->view.options.record = NULL;
	d->view.step = 1;
	pthread_mutex_lock(&t->lock);
	for (at = &t->desks; *at; at = &(*at)->next)
		;
	*at = d;
	pthread_mutex_unlock(&t->lock);
	return d;
}

void desk_show(struct desk *d, enum desk_state state, int step)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->mailbox->lock);
	d->acted = d->acted && step == d->view.step;
	d->interrupts = false;
	d->view.state = state;
	d->view.step = step;
	pthread_mutex_unlock(&d->mailbox->lock);
}

bool desk_take(struct desk *d, struct desk_order *out)
{
	bool found;

	pthread_mutex_lock(&d->mailbox->lock);
	found = d->n > 0;
	if (found) {
		*out = d->orders[0];
		memmove(d->orders, d->orders + 1, --d->n * sizeof(*d->orders));
	}
	pthread_mutex_unlock(&d->mailbox->lock);
	return found;
}

bool desk_take_interrupt(struct desk *d)
{
	bool wanted;

	pthread_mutex_lock(&d->mailbox->lock);
	wanted = d->interrupts;
	d->interrupts = false;
	pthread_mutex_unlock(&d->mailbox->lock);
	return wanted;
}

bool desk_is_held(struct desk *d)
{
	bool held;

	pthread_mutex_lock(&d->mailbox->lock);
	held = d->view.options.is_human || d->view.is_paused;
	pthread_mutex_unlock(&d->mailbox->lock);
	return held;
}

/* --- the serving thread ----------------------------------------------------------------------- */

static struct desk *takeover_find(const struct takeover *t, const char *record)
{
	for (struct desk *d = t->desks; d; d = d->next)
		if (str_eq(d->record, record))
			return d;
	return NULL;
}

bool takeover_look(struct takeover *t, const char *record, struct desk_view *out)
{
	const struct desk *d;

	pthread_mutex_lock(&t->lock);
	d = takeover_find(t, record);
	if (d) {
		*out = d->view;
		/* The playing thread has not begun the step yet. */
		if (d->acted && out->state == DESK_PERSON) {
			out->state = DESK_BUSY;
			out->step++;
		}
		t->looked_ns = clock_now_ns();
	}
	pthread_mutex_unlock(&t->lock);
	return d != NULL;
}

static int desk_check_act(const struct desk *d, int step, struct fh_error *err)
{
	if (d->acted || step < d->view.step)
		return error_say(err, EBUSY, "Step %d was taken already, maybe on another page.",
				step);
	if (d->view.state != DESK_PERSON || step != d->view.step)
		return error_say(err, EBUSY, "The episode is not ready for step %d.", step);
	if (!d->view.options.is_human && !d->view.is_paused)
		return error_say(err, EBUSY, "The model goes on: pause it first.");
	return 0;
}

/* Returns true if a command runs, or if a language model is at a last reply before a pause. */
static bool desk_can_interrupt(const struct desk *d)
{
	const struct desk_view *v = &d->view;

	return (v->state == DESK_BUSY && v->step > 1) ||
			(v->state == DESK_MODEL && v->is_paused && v->options.takes_hints);
}

/* Checks whether an order fits the state of the desk. */
static int desk_check(
		const struct desk *d, enum desk_order_kind kind, int step, struct fh_error *err)
{
	const struct desk_options *o = &d->view.options;

	if (d->view.state == DESK_ENDED)
		return error_say(err, EBUSY, "The episode has ended.");
	if (d->n == ORDERS_MAX)
		return error_say(err, EBUSY, "The episode has many orders to follow: wait.");
	switch (kind) {
	case DESK_PAUSE:
	case DESK_LET_GO:
		return o->is_human ? error_say(err, EINVAL, "A person takes each step already.")
				   : 0;
	case DESK_HINT:
		return o->takes_hints ? 0 : error_say(err, EINVAL, "No language model plays.");
	case DESK_ACT:
		return desk_check_act(d, step, err);
	case DESK_INTERRUPT:
		return desk_can_interrupt(d) ? 0 : error_say(err, EBUSY, "No command runs now.");
	}
	return 0;
}

static void desk_accept(struct desk *d, struct desk_order *order)
{
	switch (order->kind) {
	case DESK_PAUSE:
	case DESK_LET_GO:
		if (d->view.is_paused == (order->kind == DESK_PAUSE))
			return;
		d->view.is_paused = order->kind == DESK_PAUSE;
		break;
	case DESK_ACT:
		d->acted = true;
		break;
	case DESK_INTERRUPT:
		d->interrupts = true;
		break;
	case DESK_HINT:
		break;
	}
	log_time(order->time, sizeof(order->time));
	d->orders = xgrow(d->orders, d->n, sizeof(*d->orders));
	d->orders[d->n++] = *order;
	order->text = order->thought = NULL;
}

static int takeover_accept(struct takeover *t, const char *record, struct desk_order *order,
		int step, struct fh_error *err)
{
	auto_unlock pthread_mutex_t *held = scope_lock(&t->lock);
	struct desk *d = takeover_find(t, record);
	int r = d ? desk_check(d, order->kind, step, err)
		  : error_say(err, ENOENT, "This run is not played by this server.");

	if (r < 0)
		return r;
	desk_accept(d, order);
	return 0;
}

int takeover_give(struct takeover *t, const char *record, struct desk_order *order, int step,
		struct fh_error *err)
{
	int r = takeover_accept(t, record, order, step, err);

	if (r < 0)
		return r;
	(void)!write(t->fd, &(uint64_t){ 1 }, sizeof(uint64_t));
	return 0;
}

char *takeover_first(struct takeover *t)
{
	char *record = NULL;

	pthread_mutex_lock(&t->lock);
	for (const struct desk *d = t->desks; d && !record; d = d->next)
		if (d->view.state != DESK_ENDED)
			record = xstrdup(d->record);
	pthread_mutex_unlock(&t->lock);
	return record;
}

bool takeover_is_watched(struct takeover *t)
{
	bool watched;

	pthread_mutex_lock(&t->lock);
	watched = t->looked_ns && clock_now_ns() - t->looked_ns < WATCHED_NS;
	pthread_mutex_unlock(&t->lock);
	return watched;
}
