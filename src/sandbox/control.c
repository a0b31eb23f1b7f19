/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "proto/guest.h"
#include "sandbox/owner.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The owner's side of a sandbox' PID 1. The guest may be taken over by its agent: every message is
 * checked whole, requests are sent and their answers awaited for a limited time, and whatever breaks the
 * protocol makes the sandbox "gone", which only it feels.
 */
#define ANSWER_MS 5000
#define QUEUE_MAX 256 /* events that may come while an answer is awaited, or without a pause */
#define EVENT_BYTES_MAX 1024

/* An answer (INIT_DONE) is no event: it goes to whoever awaits it. */
struct answer {
	bool came;
	uint32_t id; /* of the request */
	int code;
	char text[GUEST_TEXT_MAX];
	int fd;
};

static void set_gone(struct sandbox *sb, struct sandbox_event *out)
{
	sb->gone = true;
	if (!sb->stood)
		atomic_store(&sb->owner->in_doubt, true);
	*out = (struct sandbox_event){ .kind = SANDBOX_GONE };
}

/* Why something failed, which a guest that was taken over may leave out. */
static void copy_reason(struct wire *w, char *out, size_t size)
{
	size_t n;
	const char *at = wire_get_bytes(w, &n);

	if (!at)
		n = 0;
	if (n >= size)
		w->bad = true;
	else
		memcpy(out, at ? at : "", n);
	n = n < size ? n : 0;
	out[n] = '\0';
	for (ssize_t bad; (bad = str_utf8_invalid(out, n)) >= 0;)
		out[bad] = '?';
	if (!*out)
		snprintf(out, size, "the sandbox gave no reason");
}

/* Takes what a message says; false if it is broken. Descriptors that are kept are set to -1. */
static bool parse(struct sandbox *sb, struct wire *w, int *fd, struct sandbox_event *out,
		struct answer *answer)
{
	switch ((enum init_event)wire_get_u8(w)) {
	case INIT_READY:
		out->kind = SANDBOX_READY;
		sb->stood = true;
		if (*fd >= 0 && sb->files < 0) {
			sb->files = take_fd(fd);
			sb->files_base_bytes = sandbox_files_bytes(sb);
		}
		break;
	case INIT_FAILED:
		out->kind = SANDBOX_FAILED;
		out->status = (int)wire_get_u32(w);
		copy_reason(w, out->text, sizeof(out->text));
		break;
	case INIT_EXITED:
		out->kind = SANDBOX_EXITED;
		out->id = wire_get_u32(w);
		out->status = (int)wire_get_u32(w);
		break;
	case INIT_SHELL_END:
		out->kind = SANDBOX_SHELL;
		out->status = (int)wire_get_u32(w);
		break;
	case INIT_REQUEST:
		out->kind = SANDBOX_REQUEST;
		out->status = wire_get_u8(w);
		break;
	case INIT_INTERRUPTED:
		out->kind = SANDBOX_INTERRUPTED;
		break;
	case INIT_DONE:
		answer->came = true;
		answer->id = wire_get_u32(w);
		answer->code = (int)wire_get_u32(w);
		copy_reason(w, answer->text, sizeof(answer->text));
		answer->fd = take_fd(fd);
		break;
	default:
		return false;
	}
	return wire_done(w);
}

static void drop_answer(struct answer *answer)
{
	if (answer->came)
		close_fd(&answer->fd);
	*answer = (struct answer){ .fd = -1 };
}

/* The next message without waiting; SANDBOX_NONE with answer->came for an answer. */
static void receive(struct sandbox *sb, struct sandbox_event *out, struct answer *answer)
{
	char message[EVENT_BYTES_MAX];
	auto_close int fd = -1;
	size_t n_fds = 0;
	struct wire w;
	ssize_t n;

	*out = (struct sandbox_event){ .kind = SANDBOX_NONE };
	if (sb->gone || sb->control < 0) {
		set_gone(sb, out);
		return;
	}
	n = fd_recv_message(sb->control, message, sizeof(message), &fd, 1, &n_fds, MSG_DONTWAIT);
	if (n == -EAGAIN) {
		sb->n_unasked = 0;
		return;
	}
	w = wire_open(message, n > 0 ? (size_t)n : 0);
	/* One that never pauses would keep its owner from all others. */
	if (n <= 0 || sb->n_unasked++ == QUEUE_MAX || !parse(sb, &w, &fd, out, answer)) {
		drop_answer(answer);
		set_gone(sb, out);
	}
}

void sandbox_next_event(struct sandbox *sb, struct sandbox_event *out)
{
	struct answer late = { .fd = -1 };

	if (sb->n_queue) {
		*out = sb->queue[0];
		memmove(sb->queue, sb->queue + 1, --sb->n_queue * sizeof(*sb->queue));
		return;
	}
	do { /* an answer that nobody awaits any more */
		drop_answer(&late);
		receive(sb, out, &late);
	} while (late.came);
}

static int wait_ready(int fd, short events, int64_t deadline_ns)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, clock_ms_left(deadline_ns));
}

bool sandbox_has_event(const struct sandbox *sb)
{
	return sb->n_queue > 0;
}

void sandbox_wait_event(struct sandbox *sb, int timeout_ms, struct sandbox_event *out)
{
	int64_t deadline = timeout_ms < 0 ? INT64_MAX : clock_now_ns() + timeout_ms * NS_PER_MS;

	for (;;) {
		sandbox_next_event(sb, out);
		if (out->kind != SANDBOX_NONE)
			return;
		if (wait_ready(sb->control, POLLIN, deadline) == 0)
			return;
	}
}

static void put_in_queue(struct sandbox *sb, const struct sandbox_event *event)
{
	if (sb->n_queue == QUEUE_MAX) { /* no honest guest sends so many */
		sb->gone = true;
		return;
	}
	sb->queue = xrealloc(sb->queue, sb->n_queue + 1, sizeof(*sb->queue));
	sb->queue[sb->n_queue++] = *event;
}

/* The answer to the request with the last id; one to an earlier request came too late for it. */
static int await(struct sandbox *sb, struct answer *out, struct fh_error *err)
{
	int64_t deadline = clock_now_ns() + ANSWER_MS * NS_PER_MS;
	struct answer answer = { .fd = -1 };
	struct sandbox_event event;

	for (;;) {
		receive(sb, &event, &answer);
		if (answer.came && answer.id == sb->next_id)
			break;
		drop_answer(&answer);
		if (event.kind == SANDBOX_GONE)
			return error_say(err, EPIPE, "the sandbox is gone");
		if (event.kind != SANDBOX_NONE)
			put_in_queue(sb, &event);
		else if (wait_ready(sb->control, POLLIN, deadline) == 0)
			return error_say(err, ETIMEDOUT, "the sandbox does not answer");
	}
	if (answer.code) {
		close_fd(&answer.fd);
		return error_say(err, answer.code > 0 && answer.code < 4096 ? answer.code : EIO,
				"%s", answer.text);
	}
	*out = answer;
	return 0;
}

int control_send(struct sandbox *sb, const struct buf *b, const int *fds, size_t n,
		struct fh_error *err)
{
	int64_t deadline = clock_now_ns() + ANSWER_MS * NS_PER_MS;
	int r;

	if (b->truncated)
		return error_say(err, E2BIG, "the request is larger than %zu bytes", b->cap);
	sb->n_unasked = 0;
	r = sb->gone ? -EPIPE : fd_send_message(sb->control, b->data, b->len, fds, n, MSG_DONTWAIT);
	while (r == -EAGAIN && clock_now_ns() < deadline) { /* it has not read the last ones */
		wait_ready(sb->control, POLLOUT, deadline);
		r = fd_send_message(sb->control, b->data, b->len, fds, n, MSG_DONTWAIT);
	}
	if (r == -EAGAIN)
		sb->gone = true;
	return r < 0 ? error_set(err, -r, "send to the sandbox") : 0;
}

/* --- what the guest would take for a broken message ----------------------------------------- */

static size_t count(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static int check_path(const char *path, struct fh_error *err)
{
	if (path && strlen(path) > GUEST_PATH_MAX)
		return error_say(err, ENAMETOOLONG, "a path of more than %d bytes", GUEST_PATH_MAX);
	return 0;
}

/* A sandbox would walk this machine through it, by /proc/self/fd/N. */
static int check_fd(const int *fds, size_t i, struct fh_error *err)
{
	struct stat st;

	if (fstat(fds[i], &st) < 0)
		return error_set(err, errno, "look at descriptor %zu of a program", i);
	if (S_ISDIR(st.st_mode))
		return error_say(err, EISDIR,
				"descriptor %zu is a folder, through which a sandbox would see this "
				"machine's files: give it a file, a pipe or /dev/null",
				i);
	return 0;
}

static int check_run(const struct run_request *request, struct fh_error *err)
{
	if (!count(request->argv))
		return error_say(err, EINVAL, "a program without a name");
	if (count(request->argv) > GUEST_ARGS_MAX)
		return error_say(err, E2BIG, "more than %d arguments", GUEST_ARGS_MAX);
	if (count(request->env) > GUEST_ENV_MAX)
		return error_say(err, E2BIG, "more than %d variables", GUEST_ENV_MAX);
	if (request->n_fds > GUEST_FDS_MAX)
		return error_say(err, E2BIG, "more than %d descriptors", GUEST_FDS_MAX);
	for (size_t i = 0; i < request->n_fds; i++) {
		int r = check_fd(request->fds, i, err);

		if (r < 0)
			return r;
	}
	return check_path(request->cwd, err);
}

/* --- requests without an answer -------------------------------------------------------------- */

int sandbox_run(struct sandbox *sb, const struct run_request *request, uint32_t *out_id,
		struct fh_error *err)
{
	static const uint8_t users[] = {
		[USER_AGENT] = RUN_AGENT, [USER_ROOT] = RUN_ROOT, [USER_PACKER] = RUN_PACKER
	};
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);
	int fds[GUEST_FDS_MAX + 1];
	size_t n = 0;
	int r = check_run(request, err);

	if (r < 0)
		return r;
	if (request->program_fd >= 0)
		fds[n++] = request->program_fd;
	for (size_t i = 0; i < request->n_fds; i++)
		fds[n++] = request->fds[i];
	run_put(&b,
			&(struct run){ .id = ++sb->next_id,
					.user = users[request->user],
					.has_program = request->program_fd >= 0,
					.cwd = request->cwd,
					.argv = request->argv,
					.env = request->env });
	r = control_send(sb, &b, fds, n, err);
	if (r == 0)
		*out_id = sb->next_id;
	return r;
}

int sandbox_signal(struct sandbox *sb, uint32_t id, int signal_number, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(64);

	wire_put_u8(&b, INIT_SIGNAL);
	wire_put_u32(&b, id);
	wire_put_u32(&b, (uint32_t)signal_number);
	return control_send(sb, &b, NULL, 0, err);
}

int sandbox_interrupt(struct sandbox *sb, enum interrupt_level level, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(64);

	wire_put_u8(&b, INIT_INTERRUPT);
	wire_put_u8(&b, (uint8_t)level);
	return control_send(sb, &b, NULL, 0, err);
}

int sandbox_clear_requests(struct sandbox *sb, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(64);

	wire_put_u8(&b, INIT_CLEAR);
	return control_send(sb, &b, NULL, 0, err);
}

/* --- files ----------------------------------------------------------------------------------- */

/* What the agent may still write to becomes a copy that nobody can. */
static int copy_sealed(int from, int64_t most, int *out_fd, struct fh_error *err)
{
	auto_close int copy = memfd_create("file", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r;

	if (copy < 0)
		return error_set(err, errno, "make a memory file");
	r = fd_copy_sparse(from, copy, most);
	if (r == -EFBIG)
		return error_say(err, EFBIG, "it grew over %lld bytes while it was read",
				(long long)most);
	if (r < 0)
		return error_set(err, -r, "copy the file");
	if (fcntl(copy, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) <
					0 ||
			lseek(copy, 0, SEEK_SET) < 0)
		return error_set(err, errno, "seal a file");
	*out_fd = take_fd(&copy);
	return 0;
}

int sandbox_get(struct sandbox *sb, const char *folder, const char *path, int64_t max_bytes,
		int *out_fd, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);
	struct answer answer = { .fd = -1 };
	auto_close int fd = -1;
	struct stat st;
	int r = check_path(path, err);

	if (r < 0)
		return r;
	wire_put_u8(&b, INIT_GET);
	wire_put_u32(&b, ++sb->next_id);
	wire_put_str(&b, folder);
	wire_put_str(&b, path);
	wire_put_u64(&b, (uint64_t)max_bytes);
	r = control_send(sb, &b, NULL, 0, err);
	if (r == 0)
		r = await(sb, &answer, err);
	if (r < 0)
		return r;
	fd = answer.fd;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return error_say(err, EPROTO, "the sandbox answered without a file");
	return copy_sealed(fd, max_bytes, out_fd, err);
}

int sandbox_put(struct sandbox *sb, const char *folder, const char *path, const void *data,
		size_t n, mode_t mode, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);
	auto_close int from = memfd_create("file", MFD_CLOEXEC);
	struct answer answer = { .fd = -1 };
	int r = check_path(path, err);

	if (r < 0)
		return r;
	if (from < 0)
		return error_set(err, errno, "make a memory file");
	r = fd_write_full(from, data, n);
	if (r < 0 || lseek(from, 0, SEEK_SET) < 0)
		return error_set(err, r < 0 ? -r : errno, "fill a memory file");
	wire_put_u8(&b, INIT_PUT);
	wire_put_u32(&b, ++sb->next_id);
	wire_put_str(&b, folder);
	wire_put_str(&b, path);
	wire_put_u32(&b, (uint32_t)mode);
	r = control_send(sb, &b, &from, 1, err);
	if (r == 0)
		r = await(sb, &answer, err);
	if (r == 0)
		close_fd(&answer.fd);
	return r;
}
