/* SPDX-License-Identifier: Apache-2.0 */
#include "native/errands.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "native/nursery.h"
#include "native/nursery_talk.h"
#include "native/provision.h"
#include "native/spares.h"
#include "proto/guest.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * An errand is a plan or message that the nursery can't take at once. Either the nursery was
 * killed, and a new one first has to make all layers again. Or its socket is full. A thread sends
 * the errands in order, so that no loop over many episodes waits. The thread ends when no errand is
 * left. If a sandbox can't be made, the thread sends INIT_FAILED on the sandbox' socket, as PID 1
 * would.
 */
struct errand {
	struct errand *next;
	/* sandbox to make from a plan; NULL: `message` is another message for the nursery */
	struct native_sandbox *sb;
	/* message to send to the nursery, or a sandbox' plan whose limits are not set yet */
	struct buf message;
	struct sandbox_limits limits;
	struct sandbox_ends ends;
	int tries;
};

static void errand_free(struct errand *e)
{
	provision_close_ends(&e->ends);
	buf_release(&e->message);
	free(e);
}

/* --- running --------------------------------------------------------------------------------- */

static int errand_deliver(struct native_owner *o, struct errand *e, struct fh_error *err)
{
	struct wire w = wire_open(e->message.data, e->message.len);
	struct plan plan;
	int r;

	if (!e->sb)
		return nursery_send_plan(o, &e->message, NULL, 0);
	wire_get_u8(&w); /* skip the first byte, the message's kind NURSERY_PLAN */
	r = plan_get(&w, &plan);
	if (r < 0)
		return error_set(err, -r, "read a plan");
	r = provision_send_plan(e->sb, &plan, &e->limits, &e->ends, err);
	plan_release(&plan);
	return r;
}

static void errand_tell_failure(const struct errand *e, const struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);

	wire_put_u8(&b, INIT_FAILED);
	wire_put_u32(&b, (uint32_t)-err->code);
	wire_put_bytes(&b, err->message, strnlen(err->message, GUEST_TEXT_MAX - 1));
	fd_send_message(e->ends.sockets[PLAN_CONTROL], b.data, b.len, NULL, 0, MSG_DONTWAIT);
}

static void errand_settle(
		struct native_owner *o, struct errand *e, int r, const struct fh_error *err)
{
	bool again = nursery_is_lost(r) && ++e->tries < SANDBOX_STARTS_MAX;

	pthread_mutex_lock(&o->lock);
	o->errand_in_hand = NULL;
	if (again) {
		e->next = o->errands;
		o->errands = e;
	}
	pthread_cond_broadcast(&o->errand_settled);
	pthread_mutex_unlock(&o->lock);
	if (again)
		return;
	if (r < 0 && e->sb)
		errand_tell_failure(e, err);
	errand_free(e);
}

static int errand_need_nursery(struct native_owner *o, struct fh_error *err)
{
	int r = nursery_need(o, err);

	if (r < 0)
		return r;
	if (nursery_poll(o->nursery, POLLOUT, NURSERY_ANSWER_MS))
		return 0;
	atomic_store(&o->in_doubt, true);
	return error_say(err, ETIMEDOUT, "the nursery does not read");
}

/*
 * Tries to deliver the first errand, a message that waits for the nursery. *out is this errand, or
 * NULL. The caller then frees it or puts it back.
 */
static int errand_try_first(struct native_owner *o, struct errand **out, struct fh_error *err)
{
	auto_unlock pthread_mutex_t *held = scope_lock(&o->changing);
	int r = errand_need_nursery(o, err);

	/*
	 * Take the errand only now, after the wait for the nursery. errand_drop() has to wait for
	 * an errand that was taken.
	 */
	pthread_mutex_lock(&o->lock);
	*out = o->errand_in_hand = o->errands;
	if (o->errands)
		o->errands = o->errands->next;
	pthread_mutex_unlock(&o->lock);
	if (r < 0 || !*out)
		return r;
	return errand_deliver(o, *out, err);
}

static void errand_run_first(struct native_owner *o)
{
	struct fh_error err = FH_ERROR_INIT;
	struct errand *e;
	int r = errand_try_first(o, &e, &err);

	if (nursery_is_lost(r))
		atomic_store(&o->in_doubt, true);
	if (e)
		errand_settle(o, e, r, &err);
	if (r < 0)
		return;
	spares_refill(o);
}

static void *errand_thread_main(void *owner)
{
	struct native_owner *o = owner;

	pthread_mutex_lock(&o->lock);
	while (o->errands) {
		pthread_mutex_unlock(&o->lock);
		errand_run_first(o);
		pthread_mutex_lock(&o->lock);
	}
	o->runs_errands = false;
	pthread_mutex_unlock(&o->lock);
	return NULL;
}

/* --- adding errands and dropping them --------------------------------------------------------- */

/*
 * Starts the thread that sends errands (delayed messages), if none runs. Joins an earlier thread
 * that has ended. The caller holds the owner's `lock`: an ended thread does not need it.
 */
static int errand_need_thread(struct native_owner *o)
{
	sigset_t all, before;
	int r;

	if (o->runs_errands)
		return 0;
	if (o->ran_errands)
		pthread_join(o->errand_thread, NULL);
	o->ran_errands = false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&o->errand_thread, NULL, errand_thread_main, o);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	o->runs_errands = o->ran_errands = r == 0;
	return -r;
}

/* Adds an errand, a delayed message, to the queue, which owns the errand from now on. */
static int errand_add(struct native_owner *o, struct errand *e)
{
	auto_unlock pthread_mutex_t *held = scope_lock(&o->lock);
	struct errand **end;
	int r = errand_need_thread(o);

	if (r < 0) {
		errand_free(e);
		return r;
	}
	for (end = &o->errands; *end; end = &(*end)->next)
		;
	*end = e;
	return 0;
}

static struct errand *errand_new(void)
{
	struct errand *e = xcalloc(1, sizeof(*e));

	buf_init(&e->message, GUEST_MESSAGE_MAX);
	e->ends = (struct sandbox_ends)SANDBOX_ENDS_INIT;
	return e;
}

void errand_remove(struct native_owner *o, const char *folder)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);
	struct errand *e;
	int r;

	wire_put_u8(&b, NURSERY_REMOVE);
	wire_put_str(&b, folder);
	pthread_mutex_lock(&o->lock);
	r = nursery_send(o->nursery, &b, NULL, 0);
	pthread_mutex_unlock(&o->lock);
	if (r != -EAGAIN)
		return;
	/* The nursery's socket had no room for the message: send it later. */
	e = errand_new();
	buf_add(&e->message, b.data, b.len);
	errand_add(o, e);
}

int errand_sandbox(struct native_sandbox *sb, const struct plan *plan,
		const struct sandbox_limits *limits, struct sandbox_ends *ends,
		struct fh_error *err)
{
	struct errand *e = errand_new();
	int r;

	e->sb = sb;
	e->limits = *limits;
	plan_put(&e->message, plan);
	if (e->message.truncated) {
		errand_free(e);
		return error_say(err, EMSGSIZE, "the plan of a sandbox is too long");
	}
	e->ends = *ends;
	*ends = (struct sandbox_ends)SANDBOX_ENDS_INIT;
	sb->is_errand = true;
	r = errand_add(sb->owner, e);
	return r < 0 ? error_set(err, -r, "start a thread that starts the nursery") : 0;
}

bool errands_none(const struct native_owner *o)
{
	return !o->errands && !o->errand_in_hand;
}

void errand_drop(struct native_sandbox *sb)
{
	struct native_owner *o = sb->owner;
	struct errand *dropped = NULL;

	if (!sb->is_errand)
		return;
	pthread_mutex_lock(&o->lock);
	/*
	 * First wait for the errand that the thread is delivering, as the thread may put it back
	 * into the queue. The wait is short, because the nursery runs and has room for messages.
	 */
	while (o->errand_in_hand && o->errand_in_hand->sb == sb)
		pthread_cond_wait(&o->errand_settled, &o->lock);
	for (struct errand **at = &o->errands; *at && !dropped; at = &(*at)->next)
		if ((*at)->sb == sb) {
			dropped = *at;
			*at = dropped->next;
			break;
		}
	pthread_mutex_unlock(&o->lock);
	if (dropped)
		errand_free(dropped);
}

void errands_finish(struct native_owner *o)
{
	if (o->ran_errands)
		pthread_join(o->errand_thread, NULL);
	o->ran_errands = false;
}

void errands_forget(struct native_owner *o)
{
	for (struct errand *e = o->errands; e; e = e->next)
		provision_close_ends(&e->ends);
	if (o->errand_in_hand)
		provision_close_ends(&o->errand_in_hand->ends);
	o->errands = o->errand_in_hand = NULL;
	o->runs_errands = o->ran_errands = false;
	pthread_cond_init(&o->errand_settled, NULL);
}
