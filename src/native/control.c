/* SPDX-License-Identifier: Apache-2.0 */
#include "native/control.h"

#include "base/fd.h"
#include "base/scope.h"
#include "native/channel.h"
#include "native/usage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/*
 * The owner's side of a sandbox' PID 1. PID 1 is untrusted: every message is checked whole. A
 * malformed message closes the sandbox that sent it.
 */
/* most messages that PID 1 may send without a pause; if it sends more, the sandbox is ended */
#define CONTROL_QUEUE_MAX 256
#define CONTROL_EVENT_BYTES_MAX 1024

void control_set_gone(struct native_sandbox *sb, struct sandbox_event *out)
{
	sb->gone = true;
	if (!sb->stood)
		atomic_store(&sb->owner->in_doubt, true);
	*out = (struct sandbox_event){ .kind = SANDBOX_GONE };
}

/*
 * Handles a message of PID 1. False if the message is malformed. Sets *fd to -1 if it keeps the
 * message's descriptor. Messages about the shell give no event: they set fields that shell.c reads.
 */
static bool control_parse(
		struct native_sandbox *sb, struct wire *w, int *fd, struct sandbox_event *out)
{
	switch ((enum init_event)wire_get_u8(w)) {
	case INIT_READY:
		/* Another thread may have sent the plan: see all that it set before. */
		if (!atomic_load(&sb->provided))
			return false;
		out->kind = SANDBOX_READY;
		sb->stood = true;
		if (*fd >= 0 && sb->files < 0) {
			sb->files = take_fd(fd);
			sb->files_base_bytes = usage_files_bytes(sb);
		}
		break;
	case INIT_FAILED:
		out->kind = SANDBOX_FAILED;
		out->status = (int)wire_get_u32(w);
		channel_copy_reason(w, out->text, sizeof(out->text));
		break;
	case INIT_EXITED:
		out->kind = SANDBOX_EXITED;
		out->id = wire_get_u32(w);
		out->status = (int)wire_get_u32(w);
		break;
	case INIT_SHELL_END:
		sb->shell_ended = true;
		sb->shell_status = (int)wire_get_u32(w);
		break;
	case INIT_INTERRUPTED:
		if (sb->interruptions > 0)
			sb->interruptions--;
		break;
	default:
		return false;
	}
	return wire_done(w);
}

void control_receive(struct native_sandbox *sb, struct sandbox_event *out)
{
	*out = (struct sandbox_event){ .kind = SANDBOX_NONE };
	while (out->kind == SANDBOX_NONE) {
		char message[CONTROL_EVENT_BYTES_MAX];
		auto_close int fd = -1;
		size_t n_fds = 0;
		struct wire w;
		ssize_t n = sb->gone || sb->control < 0
				? 0
				: fd_recv_message(sb->control, message, sizeof(message), &fd, 1,
						  &n_fds, MSG_DONTWAIT);

		if (n == -EAGAIN) {
			sb->n_unasked = 0;
			return;
		}
		w = wire_open(message, n > 0 ? (size_t)n : 0);
		/*
		 * Limit the number of messages that PID 1 may send without a pause. With more it
		 * would keep its owner from serving other sandboxes.
		 */
		if (n <= 0 || sb->n_unasked++ == CONTROL_QUEUE_MAX ||
				!control_parse(sb, &w, &fd, out))
			control_set_gone(sb, out);
	}
}

/* --- checks of requests, before the guest would find them malformed --------------------------- */

static size_t control_count(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static int control_check_run(const struct program_request *request, struct fh_error *err)
{
	if (!control_count(request->argv))
		return error_say(err, EINVAL, "the program to start has no name");
	if (control_count(request->argv) > GUEST_ARGS_MAX)
		return error_say(err, E2BIG, "more than %d arguments", GUEST_ARGS_MAX);
	if (control_count(request->env) > GUEST_ENV_MAX)
		return error_say(err, E2BIG, "more than %d variables", GUEST_ENV_MAX);
	if (request->n_streams > GUEST_FDS_MAX)
		return error_say(err, E2BIG, "more than %d descriptors", GUEST_FDS_MAX);
	for (size_t i = 0; i < request->n_streams; i++) {
		struct stat st;

		if (request->streams[i] < 0)
			continue;
		if (fstat(request->streams[i], &st) < 0)
			return error_set(err, errno, "look at descriptor %zu of a program", i);
		/*
		 * Refuse a folder as a program's descriptor. Through /proc/self/fd/N the sandbox
		 * could reach files of this machine.
		 */
		if (S_ISDIR(st.st_mode))
			return error_say(err, EISDIR,
					"descriptor %zu is a folder, through which a sandbox would see "
					"this machine's files: give it a file, a pipe or /dev/null",
					i);
	}
	return channel_check_path(request->cwd, err);
}

/* --- starting, signalling and interrupting programs ------------------------------------------- */

_Static_assert((int)STREAM_NOTHING == (int)SLOT_NOTHING &&
				(int)STREAM_PIPE_1 == (int)SLOT_STREAM_1 &&
				(int)STREAM_PIPE_2 == (int)SLOT_STREAM_2 &&
				(int)STREAM_INPUT == (int)SLOT_INPUT &&
				(int)STREAM_TERMINAL == (int)SLOT_TERMINAL,
		"the guest has the same numbers");

static int control_send_run(struct native_sandbox *sb, const struct init_run *run, const int *fds,
		size_t n, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);

	sb->next_id = run->id;
	init_run_put(&b, run);
	return channel_send(sb, sb->control, &b, fds, n, err);
}

int control_run(struct sandbox *base, const struct program_request *request, uint32_t *out_id,
		struct fh_error *err)
{
	static const uint8_t users[] = { [USER_AGENT] = RUN_AGENT, [USER_ROOT] = RUN_ROOT };
	struct native_sandbox *sb = native_of(base);
	auto_close int program = -1;
	int fds[GUEST_FDS_MAX + 2];
	struct init_run run = { .id = sb->next_id + 1,
		.user = users[request->user],
		.has_program = request->program != NULL,
		.n_slots = (uint32_t)request->n_streams,
		.cwd = request->cwd,
		.argv = request->argv,
		.env = request->env };
	size_t n = 0;
	int r = control_check_run(request, err);

	if (r < 0)
		return r;
	if (request->program) {
		program = fd_open_file(request->program, err);
		if (program < 0)
			return program;
		fds[n++] = program;
	}
	for (size_t i = 0; i < request->n_streams; i++) {
		if (request->streams[i] >= 0)
			fds[n++] = request->streams[i];
		else
			run.slots[i] = (int8_t)request->streams[i];
	}
	if (init_run_has_terminal(&run))
		fds[n++] = request->terminal;
	r = control_send_run(sb, &run, fds, n, err);
	if (r < 0)
		return r;
	r = request->held ? 0 : control_go(base, run.id, err);
	if (r < 0)
		return r;
	*out_id = run.id;
	return 0;
}

int control_pack(struct sandbox *base, const char *folder, const char *except, int to,
		struct fh_error *err)
{
	struct native_sandbox *sb = native_of(base);
	const char *const argv[] = { folder, except, NULL };
	const struct init_run run = { .id = sb->next_id + 1,
		.user = RUN_PACKER,
		.slots = { SLOT_NOTHING, 0, SLOT_NOTHING },
		.n_slots = 3,
		.cwd = "/",
		.argv = argv };
	int r = control_send_run(sb, &run, &to, 1, err);

	return r < 0 ? r : control_go(base, run.id, err);
}

int control_go(struct sandbox *base, uint32_t id, struct fh_error *err)
{
	struct native_sandbox *sb = native_of(base);
	auto_buf struct buf b = BUF_INIT(64);

	wire_put_u8(&b, INIT_GO);
	wire_put_u32(&b, id);
	return channel_send(sb, sb->control, &b, NULL, 0, err);
}

int control_signal(struct sandbox *base, uint32_t id, int signal_number, struct fh_error *err)
{
	struct native_sandbox *sb = native_of(base);
	auto_buf struct buf b = BUF_INIT(64);

	wire_put_u8(&b, INIT_SIGNAL);
	wire_put_u32(&b, id);
	wire_put_u32(&b, (uint32_t)signal_number);
	return channel_send(sb, sb->control, &b, NULL, 0, err);
}

void control_interrupt(struct native_sandbox *sb, enum interrupt_level level)
{
	auto_buf struct buf b = BUF_INIT(64);
	struct shell_mark mark = { .began_ns = INT64_MAX };

	if (sb->mail)
		mark = *(const volatile struct shell_mark *)&sb->mail->mark;
	wire_put_u8(&b, INIT_INTERRUPT);
	wire_put_u8(&b, (uint8_t)level);
	wire_put_u64(&b, (uint64_t)mark.began_ns);
	wire_put_u32(&b, (uint32_t)mark.last_pid);
	if (channel_send(sb, sb->control, &b, NULL, 0, NULL) == 0)
		sb->interruptions++;
}
