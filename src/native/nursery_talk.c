/* SPDX-License-Identifier: Apache-2.0 */
#include "native/nursery_talk.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "proto/guest.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Messages to a running nursery. Most need no answer and never wait. If the nursery's socket is
 * full, the caller makes an errand of the message (errands.c). A request carries a socket for its
 * answer, so that no thread holds the owner's `lock` while it waits. The asking thread holds the
 * owner's `changing`.
 */

/* --- sending --------------------------------------------------------------------------------- */

int nursery_send(int nursery, const struct buf *b, const int *fds, size_t n_fds)
{
	if (nursery < 0)
		return -EPIPE;
	return b->truncated ? -EMSGSIZE
			    : fd_send_message(nursery, b->data, b->len, fds, n_fds, MSG_DONTWAIT);
}

bool nursery_poll(int fd, short events, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = events };
	int r;

	while ((r = poll(&p, 1, timeout_ms)) < 0 && errno == EINTR)
		;
	return r > 0;
}

/* --- asking ---------------------------------------------------------------------------------- */

static int nursery_failed(struct wire *w, struct fh_error *err)
{
	uint32_t code = wire_get_u32(w);
	auto_free char *text = wire_get_str(w, GUEST_TEXT_MAX);

	if (!wire_done(w) || !code || code > 4095)
		return error_say_kind(
				err, FH_ERROR_INTERNAL, EPROTO, "the nursery sent a broken error");
	return error_say(err, (int)code, "%s", text);
}

int nursery_await(int socket, uint8_t kind, int timeout_ms, uint8_t *out_bits, struct fh_error *err)
{
	char message[GUEST_TEXT_MAX + 64];
	size_t n_fds;
	struct wire w;
	ssize_t n;
	uint8_t got;

	if (!nursery_poll(socket, POLLIN, timeout_ms))
		return error_say(err, ETIMEDOUT, "the nursery does not answer");
	n = fd_recv_message(socket, message, sizeof(message), NULL, 0, &n_fds, 0);
	if (n <= 0)
		return error_say(err, EPIPE, "the nursery ended");
	w = wire_open(message, (size_t)n);
	got = wire_get_u8(&w);
	if (got == NURSERY_FAILED)
		return nursery_failed(&w, err);
	if (out_bits)
		*out_bits = wire_get_u8(&w);
	if (got != kind || !wire_done(&w))
		return error_say_kind(err, FH_ERROR_INTERNAL, EPROTO,
				"the nursery sent another answer than it was asked for");
	return 0;
}

/*
 * Sends the nursery a request and waits for the answer `kind` (NURSERY_*). The caller holds
 * `changing`.
 */
static int nursery_ask(int nursery, const struct buf *b, uint8_t kind, int timeout_ms,
		struct fh_error *err)
{
	auto_close int ours = -1;
	int pair[2], r;

	if (nursery < 0 || !nursery_poll(nursery, POLLOUT, NURSERY_ANSWER_MS))
		return error_say(err, ETIMEDOUT, "the nursery does not read");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set(err, errno, "make a socket for the nursery's answer");
	ours = pair[0];
	r = nursery_send(nursery, b, &pair[1], 1);
	close(pair[1]);
	if (r < 0)
		return error_set(err, -r, "send to the nursery");
	return nursery_await(ours, kind, timeout_ms, NULL, err);
}

static int nursery_ask_kind(int nursery, uint8_t question, uint8_t kind)
{
	auto_buf struct buf b = BUF_INIT(8);

	wire_put_u8(&b, question);
	return nursery_ask(nursery, &b, kind, NURSERY_ANSWER_MS, NULL);
}

bool nursery_answers(int nursery)
{
	return nursery_ask_kind(nursery, NURSERY_PING, NURSERY_RUNS) == 0;
}

void nursery_do_all(int nursery)
{
	nursery_ask_kind(nursery, NURSERY_FINISH, NURSERY_FINISHED);
}

/* --- layers ---------------------------------------------------------------------------------- */

/* Refuses a layer whose message to the nursery would be malformed: the nursery ends at such a
 * message. */
static int nursery_check_layer(const struct owner_layer *layer, struct fh_error *err)
{
	bool long_path = strlen(layer->name) > GUEST_PATH_MAX;

	if (layer->n > GUEST_ITEMS_MAX)
		return error_say(err, E2BIG, "a layer has more than %d items", GUEST_ITEMS_MAX);
	for (size_t i = 0; i < layer->n; i++) {
		const struct layer_item *item = &layer->items[i];

		if ((item->source && strlen(item->source) > GUEST_PATH_MAX) ||
				strlen(item->target) > GUEST_PATH_MAX)
			long_path = true;
	}
	if (long_path)
		return error_say(err, ENAMETOOLONG, "a layer with a path of more than %d bytes",
				GUEST_PATH_MAX);
	return 0;
}

int nursery_make_layer(int nursery, const struct owner_layer *layer, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);
	auto_free struct layer_entry *entries = xcalloc(layer->n, sizeof(*entries));
	int r = nursery_check_layer(layer, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < layer->n; i++)
		entries[i] = (struct layer_entry){ .source = layer->items[i].source,
			.target = layer->items[i].target,
			.read_only = layer->items[i].read_only,
			.folders_only = layer->folders_only };
	layer_put(&b,
			&(struct layer){ .name = layer->name,
					.entries = entries,
					.n_entries = (uint32_t)layer->n });
	return nursery_ask(nursery, &b, NURSERY_LAYER_MADE, -1, err);
}

/* --- messages to the nursery that have no answer ---------------------------------------------- */

int nursery_add_cradle(struct native_owner *o, uint32_t number, const struct cgroup *group)
{
	auto_buf struct buf b = BUF_INIT(16);

	wire_put_u8(&b, NURSERY_CRADLE);
	wire_put_u32(&b, number);
	return nursery_send(o->nursery, &b, group->parts,
			cgroups_born_into(group->pool) ? 0 : group->n_parts);
}

void nursery_drop_layer(struct native_owner *o, const char *name)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);

	wire_put_u8(&b, NURSERY_DROP_LAYER);
	wire_put_str(&b, name);
	/* Ignore a failure: the files then stay until the nursery ends. */
	pthread_mutex_lock(&o->lock);
	if (o->nursery >= 0)
		(void)nursery_send(o->nursery, &b, NULL, 0);
	pthread_mutex_unlock(&o->lock);
}

int nursery_send_plan(
		struct native_owner *o, const struct buf *message, const int *fds, size_t n_fds)
{
	int r;

	pthread_mutex_lock(&o->lock);
	r = nursery_send(o->nursery, message, fds, n_fds);
	pthread_mutex_unlock(&o->lock);
	return r;
}
