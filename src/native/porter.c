/* SPDX-License-Identifier: Apache-2.0 */
#include "native/porter.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "native/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/*
 * The owner's side of a sandbox' porter (guest/porter.c): files, output and requests. An agent can
 * make the porter hang. So each request has a deadline. After it the sandbox counts as gone. The
 * porter is untrusted: every message is checked whole. A file must come as a memfd with all seals.
 */

#define ANSWER_MS 5000
/* Milliseconds to wait until the porter confirms that it forwards output. The time is long because
 * a machine may run a thousand episodes. */
#define PUMP_MS 15000
/* Bytes per millisecond that even a slow disk copies and hashes: for larger files the porter gets
 * more time. */
#define BYTES_PER_MS (50 << 10)
/* most messages to read at once from a sandbox' porter, so that no other sandbox waits long */
#define PIECES_MAX 4
/* most events that the porter may send without a pause; if it sends more, its sandbox is ended */
#define PORTER_QUEUE_MAX 256

struct porter_answer {
	uint32_t id; /* id of the request of the owner to which this is the answer */
	int code;
	char text[GUEST_TEXT_MAX];
	int fd;
	uint8_t digest[SHA256_BYTES];
};

void porter_drop_answer(struct native_sandbox *sb)
{
	if (!sb->answer)
		return;
	close_fd(&sb->answer->fd);
	free(take_ptr(sb->answer));
}

/* --- events ---------------------------------------------------------------------------------- */

/* Returns true if a descriptor is a memfd whose seals forbid every change, and is small enough. */
static bool porter_is_sealed(const struct native_sandbox *sb, int fd)
{
	struct stat st;

	return (fcntl(fd, F_GET_SEALS) & GUEST_SEALS) == GUEST_SEALS && fstat(fd, &st) == 0 &&
			S_ISREG(st.st_mode) && st.st_size <= sb->asked_bytes;
}

static bool porter_take_done(
		struct native_sandbox *sb, struct wire *w, int *fd, struct sandbox_event *out)
{
	struct porter_answer *a = xcalloc(1, sizeof(*a));
	const char *digest;
	size_t n;

	porter_drop_answer(sb);
	sb->answer = a;
	a->id = wire_get_u32(w);
	if (a->id == sb->asked)
		sb->answer_by_ns = INT64_MAX;
	a->code = (int)wire_get_u32(w);
	channel_copy_reason(w, a->text, sizeof(a->text));
	digest = wire_get_bytes(w, &n);
	if (digest && n == sizeof(a->digest))
		memcpy(a->digest, digest, n);
	else
		w->bad = true;
	a->fd = -1;
	if (*fd >= 0 && porter_is_sealed(sb, *fd))
		a->fd = take_fd(fd);
	*out = (struct sandbox_event){ .kind = SANDBOX_DONE, .id = a->id };
	return wire_done(w);
}

static bool porter_take_output(struct native_sandbox *sb, struct wire *w)
{
	uint32_t stream = wire_get_u32(w);

	if (w->bad)
		return false;
	if (sb->base.take_output)
		sb->base.take_output(sb->base.output_arg, stream ? STREAM_SLOT(stream) : 0, w->at,
				w->left);
	return true;
}

/*
 * Handles a message of the porter. Returns false if the message is malformed. Output, and messages
 * that only wake the owner, give no event.
 */
static bool porter_parse(
		struct native_sandbox *sb, struct wire *w, int *fd, struct sandbox_event *out)
{
	switch ((enum porter_event)wire_get_u8(w)) {
	case PORTER_OUTPUT:
		return porter_take_output(sb, w);
	case PORTER_REQUEST:
		*out = (struct sandbox_event){ .kind = SANDBOX_REQUEST };
		out->status = wire_get_u8(w);
		return wire_done(w);
	case PORTER_PUMPS:
		sb->pump_by_ns = INT64_MAX;
		return wire_done(w);
	/* this message only wakes the owner, which then reads the shell's answer in shared
	 * memory */
	case PORTER_RING:
		return wire_done(w);
	case PORTER_HUNGRY:
		*out = (struct sandbox_event){ .kind = SANDBOX_HUNGRY };
		return wire_done(w);
	case PORTER_DONE:
		return porter_take_done(sb, w, fd, out);
	}
	return false;
}

int64_t porter_hangs_at(const struct native_sandbox *sb)
{
	return sb->pump_by_ns < sb->answer_by_ns ? sb->pump_by_ns : sb->answer_by_ns;
}

static bool porter_hangs(const struct native_sandbox *sb)
{
	int64_t at = porter_hangs_at(sb);

	return at != INT64_MAX && clock_now_ns() >= at;
}

/*
 * Handles the end of the porter. PID 1 ends soon after its porter, and may send the reason before.
 * Sets a deadline for that.
 */
static void porter_end(struct native_sandbox *sb)
{
	int64_t deadline_ns = clock_now_ns() + ANSWER_MS * NS_PER_MS;

	sb->porter_ended = true;
	if (deadline_ns < sb->answer_by_ns)
		sb->answer_by_ns = deadline_ns;
}

/*
 * Returns the porter's next event. If a message can't be received, the sandbox is ended, because
 * output may be lost.
 */
bool porter_next_event(struct native_sandbox *sb, struct sandbox_event *out)
{
	char message[GUEST_MESSAGE_MAX];

	sb->more = false;
	for (int i = 0; i < PIECES_MAX && !sb->porter_ended && !sb->held; i++) {
		auto_close int fd = -1;
		size_t n_fds = 0;
		ssize_t n = fd_recv_message(
				sb->porter, message, sizeof(message), &fd, 1, &n_fds, MSG_DONTWAIT);
		struct wire w = wire_open(message, n > 0 ? (size_t)n : 0);

		if (n == -EAGAIN) {
			sb->n_told = 0;
			return !porter_hangs(sb);
		}
		if (n == 0 || n == -ECONNRESET)
			porter_end(sb);
		else if (n < 0 || !porter_parse(sb, &w, &fd, out) || sb->n_told > PORTER_QUEUE_MAX)
			return false;
		sb->n_told += out->kind != SANDBOX_NONE;
		if (out->kind != SANDBOX_NONE)
			return true;
	}
	sb->more = !sb->porter_ended;
	return !porter_hangs(sb);
}

void porter_hold_output(struct sandbox *base, bool hold)
{
	struct native_sandbox *sb = native_of(base);

	if (sb->held && !hold && sb->answer_by_ns != INT64_MAX)
		sb->answer_by_ns = clock_now_ns() + ANSWER_MS * NS_PER_MS;
	sb->held = hold;
}

/* --- requests -------------------------------------------------------------------------------- */

int porter_clear_requests(struct sandbox *base, struct fh_error *err)
{
	struct native_sandbox *sb = native_of(base);
	auto_buf struct buf b = BUF_INIT(64);

	wire_put_u8(&b, PORTER_CLEAR);
	return channel_send(sb, sb->porter, &b, NULL, 0, err);
}

int porter_shut_output(struct sandbox *base, uint32_t id, int slot, struct fh_error *err)
{
	struct native_sandbox *sb = native_of(base);
	auto_buf struct buf b = BUF_INIT(64);

	wire_put_u8(&b, PORTER_SHUT);
	wire_put_u32(&b, STREAM_OF(id, slot));
	return channel_send(sb, sb->porter, &b, NULL, 0, err);
}

_Static_assert(SANDBOX_FEED_MAX <= PORTER_CHUNK_MAX, "it fits into a message");

int porter_send_input(struct sandbox *base, const void *data, size_t n, struct fh_error *err)
{
	struct native_sandbox *sb = native_of(base);
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);

	wire_put_u8(&b, PORTER_INPUT);
	buf_add(&b, data, n);
	return channel_send(sb, sb->porter, &b, NULL, 0, err);
}

bool porter_pump(struct native_sandbox *sb)
{
	auto_buf struct buf b = BUF_INIT(64);
	int r;

	/* Do nothing if the last PORTER_PUMP, a request to forward output, is not answered yet. */
	if (sb->pump_by_ns != INT64_MAX)
		return true;
	wire_put_u8(&b, PORTER_PUMP);
	wire_put_u32(&b, sb->turn);
	r = channel_send(sb, sb->porter, &b, NULL, 0, NULL);
	/*
	 * If the porter has ended, act as if the request was sent. No answer comes in time, and the
	 * sandbox is ended.
	 */
	if (r < 0 && r != -EPIPE)
		return false;
	sb->pump_by_ns = clock_now_ns() + PUMP_MS * NS_PER_MS;
	return true;
}

/* Begins a message for a request to the porter that has an answer. Returns the request's id. */
static uint32_t porter_ask(struct native_sandbox *sb, struct buf *b, uint8_t kind, int64_t bytes)
{
	porter_drop_answer(sb);
	sb->asked = ++sb->next_id;
	sb->asked_bytes = kind == PORTER_GET ? bytes : -1;
	sb->answer_by_ns = clock_now_ns() + (ANSWER_MS + bytes / BYTES_PER_MS) * NS_PER_MS;
	wire_put_u8(b, kind);
	wire_put_u32(b, sb->asked);
	return sb->asked;
}

int porter_drain_begin(struct sandbox *base, uint32_t *out_id, struct fh_error *err)
{
	struct native_sandbox *sb = native_of(base);
	auto_buf struct buf b = BUF_INIT(64);

	*out_id = porter_ask(sb, &b, PORTER_DRAIN, 0);
	return channel_send(sb, sb->porter, &b, NULL, 0, err);
}

int porter_get_begin(struct sandbox *base, const char *folder, const char *path, int64_t max_bytes,
		uint32_t *out_id, struct fh_error *err)
{
	struct native_sandbox *sb = native_of(base);
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);
	int r = channel_check_path(path, err);

	if (r < 0)
		return r;
	*out_id = porter_ask(sb, &b, PORTER_GET, max_bytes);
	wire_put_str(&b, folder);
	wire_put_str(&b, path);
	wire_put_u64(&b, (uint64_t)max_bytes);
	return channel_send(sb, sb->porter, &b, NULL, 0, err);
}

int porter_put_begin(struct sandbox *base, const char *folder, const char *path, int from,
		mode_t mode, uint32_t *out_id, struct fh_error *err)
{
	struct native_sandbox *sb = native_of(base);
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);
	int r = channel_check_path(path, err);
	struct stat st;

	if (r < 0)
		return r;
	if (fstat(from, &st) < 0)
		return error_set(err, errno, "look at the content of '%s'", path);
	*out_id = porter_ask(sb, &b, PORTER_PUT, st.st_size);
	wire_put_str(&b, folder);
	wire_put_str(&b, path);
	wire_put_u32(&b, (uint32_t)mode);
	return channel_send(sb, sb->porter, &b, &from, 1, err);
}

/* --- answers --------------------------------------------------------------------------------- */

int porter_take(struct sandbox *base, struct sandbox_answer *out, struct fh_error *err)
{
	struct native_sandbox *sb = native_of(base);
	struct porter_answer *a = sb->answer;
	int r = 0;

	if (!a)
		return error_say(err, EPIPE, "the sandbox does not answer");
	if (a->code) {
		r = error_say(err, a->code > 0 && a->code < 4096 ? a->code : EIO, "%s", a->text);
	} else if (sb->asked_bytes >= 0 && a->fd < 0) {
		r = error_say_kind(err, FH_ERROR_INTERNAL, EPROTO,
				"the sandbox answered without a sealed file");
	} else {
		out->fd = take_fd(&a->fd);
		memcpy(out->digest, a->digest, sizeof(out->digest));
	}
	porter_drop_answer(sb);
	return r;
}

bool porter_has_answer(const struct native_sandbox *sb, uint32_t id)
{
	return sb->answer && sb->answer->id == id;
}
