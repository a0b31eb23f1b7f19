/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "native/native.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The owner's side of a sandbox' porter (guest/porter.c): files, output and requests. An agent can make
 * the porter wait for ever; so each request has a time by which it is answered, or the sandbox is gone.
 * What it sends is checked as what PID 1 sends; a file must come sealed.
 */
#define ANSWER_MS 5000
#define PUMP_MS                                                                                    \
	15000 /* until it hears PORTER_PUMP: a machine may be busy with a thousand episodes */
#define BYTES_PER_MS (50 << 10) /* of a file that is copied, hashed, and on a slow disk */
#define PIECES_MAX 4  /* of output at a time, so that a loud sandbox keeps nobody waiting */
#define QUEUE_MAX 256 /* events that may come while an answer is awaited, or without a pause */

struct porter_answer {
	uint32_t id; /* of the request */
	int code;
	char text[GUEST_TEXT_MAX];
	int fd;
	uint8_t digest[SHA256_BYTES];
};

void porter_drop_answer(struct sandbox *sb)
{
	if (!sb->answer)
		return;
	close_fd(&sb->answer->fd);
	free(take_ptr(sb->answer));
}

/* --- what comes ------------------------------------------------------------------------------ */

/* Whether it is a copy that nobody can change or lock, and no larger than was asked for. */
static bool is_sealed(const struct sandbox *sb, int fd)
{
	struct stat st;

	return (fcntl(fd, F_GET_SEALS) & GUEST_SEALS) == GUEST_SEALS && fstat(fd, &st) == 0 &&
			S_ISREG(st.st_mode) && st.st_size <= sb->asked_bytes;
}

static bool take_done(struct sandbox *sb, struct wire *w, int *fd, struct sandbox_event *out)
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
	control_copy_reason(w, a->text, sizeof(a->text));
	digest = wire_get_bytes(w, &n);
	if (digest && n == sizeof(a->digest))
		memcpy(a->digest, digest, n);
	else
		w->bad = true;
	a->fd = -1;
	if (*fd >= 0 && is_sealed(sb, *fd))
		a->fd = take_fd(fd);
	*out = (struct sandbox_event){ .kind = SANDBOX_DONE, .id = a->id };
	return wire_done(w);
}

static bool take_output(struct sandbox *sb, struct wire *w)
{
	uint32_t stream = wire_get_u32(w);

	if (w->bad)
		return false;
	if (sb->take_output)
		sb->take_output(sb->output_arg, stream ? STREAM_SLOT(stream) : 0, w->at, w->left);
	return true;
}

/* False if it is broken. What only wakes or brings output gives no event. */
static bool parse(struct sandbox *sb, struct wire *w, int *fd, struct sandbox_event *out)
{
	switch ((enum porter_event)wire_get_u8(w)) {
	case PORTER_OUTPUT:
		return take_output(sb, w);
	case PORTER_REQUEST:
		*out = (struct sandbox_event){ .kind = SANDBOX_REQUEST };
		out->status = wire_get_u8(w);
		return wire_done(w);
	case PORTER_PUMPS:
		sb->pump_by_ns = INT64_MAX;
		return wire_done(w);
	case PORTER_RING: /* who waits is awake, and looks at the mail */
		return wire_done(w);
	case PORTER_HUNGRY:
		*out = (struct sandbox_event){ .kind = SANDBOX_HUNGRY };
		return wire_done(w);
	case PORTER_DONE:
		return take_done(sb, w, fd, out);
	}
	return false;
}

int64_t porter_hangs_at(const struct sandbox *sb)
{
	return sb->pump_by_ns < sb->answer_by_ns ? sb->pump_by_ns : sb->answer_by_ns;
}

static bool hangs(const struct sandbox *sb)
{
	int64_t at = porter_hangs_at(sb);

	return at != INT64_MAX && clock_now_ns() >= at;
}

/* PID 1 ends with its porter, and may say why. One that stays has a deadline to do so. */
static void end_porter(struct sandbox *sb)
{
	int64_t deadline_ns = clock_now_ns() + ANSWER_MS * NS_PER_MS;

	sb->porter_ended = true;
	if (deadline_ns < sb->answer_by_ns)
		sb->answer_by_ns = deadline_ns;
}

bool sandbox_is_ending(const struct sandbox *sb)
{
	return sb->porter_ended;
}

/* A message that can't be received is lost, and output with it: the sandbox is gone then, too. */
bool porter_next_event(struct sandbox *sb, struct sandbox_event *out)
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
			return !hangs(sb);
		}
		if (n == 0 || n == -ECONNRESET)
			end_porter(sb);
		else if (n < 0 || !parse(sb, &w, &fd, out) || sb->n_told > QUEUE_MAX)
			return false;
		sb->n_told += out->kind != SANDBOX_NONE;
		if (out->kind != SANDBOX_NONE)
			return true;
	}
	sb->more = !sb->porter_ended;
	return !hangs(sb);
}

void sandbox_on_output(struct sandbox *sb, sandbox_take_output *take, void *arg)
{
	sb->take_output = take;
	sb->output_arg = arg;
}

void sandbox_hold_output(struct sandbox *sb, bool hold)
{
	if (sb->held && !hold && sb->answer_by_ns != INT64_MAX)
		sb->answer_by_ns = clock_now_ns() + ANSWER_MS * NS_PER_MS;
	sb->held = hold;
}

/* --- requests -------------------------------------------------------------------------------- */

static int send_to(struct sandbox *sb, const struct buf *b, const int *fd, struct fh_error *err)
{
	return control_send(sb, sb->porter, b, fd, fd ? 1 : 0, err);
}

int sandbox_clear_requests(struct sandbox *sb, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(64);

	wire_put_u8(&b, PORTER_CLEAR);
	return send_to(sb, &b, NULL, err);
}

int sandbox_shut_output(struct sandbox *sb, uint32_t id, int slot, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(64);

	wire_put_u8(&b, PORTER_SHUT);
	wire_put_u32(&b, STREAM_OF(id, slot));
	return send_to(sb, &b, NULL, err);
}

_Static_assert(SANDBOX_FEED_MAX <= PORTER_CHUNK_MAX, "it fits into a message");

int sandbox_feed(struct sandbox *sb, const void *data, size_t n, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);

	sb->n_told = 0; /* it asks once for each */
	wire_put_u8(&b, PORTER_INPUT);
	buf_add(&b, data, n);
	return send_to(sb, &b, NULL, err);
}

int sandbox_pump_shell(struct sandbox *sb, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(64);

	if (sb->pump_by_ns != INT64_MAX) /* the one before was not heard yet */
		return 0;
	sb->pump_by_ns = clock_now_ns() + PUMP_MS * NS_PER_MS;
	wire_put_u8(&b, PORTER_PUMP);
	wire_put_u32(&b, sb->turn);
	return send_to(sb, &b, NULL, err);
}

/* A request with an answer: its message begins. */
static uint32_t ask(struct sandbox *sb, struct buf *b, uint8_t kind, int64_t bytes)
{
	porter_drop_answer(sb);
	sb->asked = ++sb->next_id;
	sb->asked_bytes = kind == PORTER_GET ? bytes : -1;
	sb->answer_by_ns = clock_now_ns() + (ANSWER_MS + bytes / BYTES_PER_MS) * NS_PER_MS;
	wire_put_u8(b, kind);
	wire_put_u32(b, sb->asked);
	return sb->asked;
}

int sandbox_drain_begin(struct sandbox *sb, uint32_t *out_id, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(64);

	*out_id = ask(sb, &b, PORTER_DRAIN, 0);
	return send_to(sb, &b, NULL, err);
}

int sandbox_get_begin(struct sandbox *sb, const char *folder, const char *path, int64_t max_bytes,
		uint32_t *out_id, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);
	int r = control_check_path(path, err);

	if (r < 0)
		return r;
	*out_id = ask(sb, &b, PORTER_GET, max_bytes);
	wire_put_str(&b, folder);
	wire_put_str(&b, path);
	wire_put_u64(&b, (uint64_t)max_bytes);
	return send_to(sb, &b, NULL, err);
}

int sandbox_put_begin(struct sandbox *sb, const char *folder, const char *path, int from,
		mode_t mode, uint32_t *out_id, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);
	int r = control_check_path(path, err);
	struct stat st;

	if (r < 0)
		return r;
	if (fstat(from, &st) < 0)
		return error_set(err, errno, "look at what is put");
	*out_id = ask(sb, &b, PORTER_PUT, st.st_size);
	wire_put_str(&b, folder);
	wire_put_str(&b, path);
	wire_put_u32(&b, (uint32_t)mode);
	return send_to(sb, &b, &from, err);
}

int sandbox_put_text_begin(struct sandbox *sb, const char *folder, const char *path,
		const void *data, size_t n, mode_t mode, uint32_t *out_id, struct fh_error *err)
{
	auto_close int from = memfd_create("file", MFD_CLOEXEC);
	int r;

	if (from < 0)
		return error_set(err, errno, "make a memory file");
	r = fd_write_full(from, data, n);
	if (r < 0)
		return error_set(err, -r, "fill a memory file");
	return sandbox_put_begin(sb, folder, path, from, mode, out_id, err);
}

int sandbox_take(struct sandbox *sb, struct sandbox_answer *out, struct fh_error *err)
{
	struct porter_answer *a = sb->answer;
	int r = 0;

	if (!a)
		return error_say(err, EPIPE, "the sandbox does not answer");
	if (a->code)
		r = error_say(err, a->code > 0 && a->code < 4096 ? a->code : EIO, "%s", a->text);
	else if (sb->asked_bytes >= 0 && a->fd < 0)
		r = error_say(err, EPROTO, "the sandbox answered without a sealed file");
	if (r == 0) {
		out->fd = take_fd(&a->fd);
		memcpy(out->digest, a->digest, sizeof(out->digest));
	}
	porter_drop_answer(sb);
	return r;
}

/* --- the same, waiting ----------------------------------------------------------------------- */

static bool put_in_queue(struct sandbox *sb, const struct sandbox_event *event)
{
	if (sb->n_queue == QUEUE_MAX) /* no honest guest sends so many */
		return false;
	sb->queue = xrealloc(sb->queue, sb->n_queue + 1, sizeof(*sb->queue));
	sb->queue[sb->n_queue++] = *event;
	return true;
}

/* Past what the queue holds, which is put back in front of what comes now. */
static void next_event(struct sandbox *sb, struct sandbox_event *out)
{
	size_t n = sb->n_queue;

	sb->n_queue = 0;
	sandbox_next_event(sb, out);
	sb->n_queue = n;
}

bool sandbox_answered(struct sandbox *sb, uint32_t id)
{
	struct sandbox_event event = { .kind = SANDBOX_DONE };

	while (!sb->gone && event.kind != SANDBOX_NONE) {
		if (sb->answer && sb->answer->id == id)
			return true;
		next_event(sb, &event);
		if (event.kind != SANDBOX_NONE && event.kind != SANDBOX_DONE &&
				event.kind != SANDBOX_GONE && !put_in_queue(sb, &event))
			sb->gone = true;
	}
	return sb->gone;
}

void sandbox_answer_waits(const struct sandbox *sb, struct waits *w)
{
	waits_add(w, sb->control, POLLIN);
	if (!sb->porter_ended)
		waits_add(w, sb->porter, POLLIN);
	waits_until(w, sb->more ? 0 : porter_hangs_at(sb));
}

static int await(struct sandbox *sb, uint32_t id, struct sandbox_answer *out, struct fh_error *err)
{
	while (!sandbox_answered(sb, id)) {
		struct waits w = WAITS_INIT;

		sandbox_answer_waits(sb, &w);
		waits_poll(&w);
	}
	return sandbox_take(sb, out, err);
}

int sandbox_get(struct sandbox *sb, const char *folder, const char *path, int64_t max_bytes,
		int *out_fd, struct fh_error *err)
{
	struct sandbox_answer answer = { .fd = -1 };
	uint32_t id;
	int r = sandbox_get_begin(sb, folder, path, max_bytes, &id, err);

	if (r == 0)
		r = await(sb, id, &answer, err);
	if (r == 0)
		*out_fd = answer.fd;
	return r;
}

int sandbox_put(struct sandbox *sb, const char *folder, const char *path, const void *data,
		size_t n, mode_t mode, struct fh_error *err)
{
	struct sandbox_answer answer = { .fd = -1 };
	uint32_t id;
	int r = sandbox_put_text_begin(sb, folder, path, data, n, mode, &id, err);

	return r < 0 ? r : await(sb, id, &answer, err);
}
