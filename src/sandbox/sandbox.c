/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/ops.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/scope.h"

#include <errno.h>
#include <sys/mman.h>

/* The functions of sandbox.h. Most call the implementation's functions (ops.h); others combine such
 * calls. */

/* --- the owner ------------------------------------------------------------------------------- */

int owner_open(const struct owner_options *options, struct owner **out, struct fh_error *err)
{
	return sandbox_native.owner_open(options, out, err);
}

void owner_close(struct owner *o)
{
	if (o)
		o->ops->owner_close(o);
}

int owner_hide(struct owner *o, const char *folder, struct fh_error *err)
{
	return o->ops->hide(o, folder, err);
}

int sandbox_hide_check(const char *folder, struct fh_error *err)
{
	return sandbox_native.hide_check(folder, err);
}

const char *owner_warning(const struct owner *o)
{
	return o->ops->warning(o);
}

int owner_lease_gpus(struct owner *o, size_t n, struct gpu_lease **out, struct fh_error *err)
{
	return gpu_lease_new(o->gpus, n, out, err);
}

const char *sandbox_gpus_variable(struct arena *a, const struct gpu_lease *gpus)
{
	auto_buf struct buf text = BUF_INIT(4096);

	if (!gpus)
		return NULL;
	for (size_t i = 0; i < gpus->n; i++)
		buf_printf(&text, "%s%zu", i ? "," : "CUDA_VISIBLE_DEVICES=", i);
	return arena_strdup(a, buf_str(&text));
}

int owner_collect(void)
{
	return sandbox_native.collect();
}

int owner_add_layer(struct owner *o, const char *name, const struct layer_item *items, size_t n,
		struct fh_error *err)
{
	return o->ops->add_layer(o, name, items, n, err);
}

void owner_drop_layer(struct owner *o, const char *name)
{
	o->ops->drop_layer(o, name);
}

int owner_add_writable(struct owner *o, const char *source, struct fh_error *err)
{
	return o->ops->add_writable(o, source, err);
}

/* --- starting sandboxes, and their events ----------------------------------------------------- */

int sandbox_start(struct owner *o, const struct sandbox_options *options, struct sandbox **out,
		struct fh_error *err)
{
	return o->ops->start(o, options, out, err);
}

void sandbox_close(struct sandbox *sb)
{
	if (sb)
		sb->ops->close(sb);
}

void sandbox_close_traceless(struct sandbox *sb, struct job **out)
{
	sb->ops->close_traceless(sb, out);
}

int sandbox_pause(struct sandbox *sb, struct job **out, struct fh_error *err)
{
	return sb->ops->pause(sb, out, err);
}

void sandbox_resume(struct sandbox *sb)
{
	sb->ops->resume(sb);
}

void sandbox_waits(const struct sandbox *sb, struct waits *w)
{
	sb->ops->waits(sb, w);
}

void sandbox_fds(const struct sandbox *sb, int out_fds[SANDBOX_FDS])
{
	sb->ops->fds(sb, out_fds);
}

void sandbox_next_event(struct sandbox *sb, struct sandbox_event *out)
{
	sb->ops->next_event(sb, out);
}

void sandbox_wait_event(struct sandbox *sb, int timeout_ms, struct sandbox_event *out)
{
	int64_t deadline = timeout_ms < 0 ? INT64_MAX : clock_now_ns() + timeout_ms * NS_PER_MS;

	for (;;) {
		struct waits w = WAITS_INIT;

		sandbox_next_event(sb, out);
		if (out->kind != SANDBOX_NONE || clock_now_ns() >= deadline)
			return;
		sandbox_waits(sb, &w);
		waits_until(&w, deadline);
		waits_poll(&w);
	}
}

int sandbox_clear_requests(struct sandbox *sb, struct fh_error *err)
{
	return sb->ops->clear_requests(sb, err);
}

/* --- programs -------------------------------------------------------------------------------- */

int sandbox_run(struct sandbox *sb, const struct program_request *request, uint32_t *out_id,
		struct fh_error *err)
{
	return sb->ops->run(sb, request, out_id, err);
}

int sandbox_go(struct sandbox *sb, uint32_t id, struct fh_error *err)
{
	return sb->ops->go(sb, id, err);
}

int sandbox_signal(struct sandbox *sb, uint32_t id, int signal_number, struct fh_error *err)
{
	return sb->ops->send_signal(sb, id, signal_number, err);
}

void sandbox_on_output(struct sandbox *sb, sandbox_take_output *take, void *arg)
{
	sb->take_output = take;
	sb->output_arg = arg;
}

void sandbox_hold_output(struct sandbox *sb, bool hold)
{
	sb->ops->hold_output(sb, hold);
}

int sandbox_shut_output(struct sandbox *sb, uint32_t id, int slot, struct fh_error *err)
{
	return sb->ops->shut_output(sb, id, slot, err);
}

int sandbox_feed(struct sandbox *sb, const void *data, size_t n, struct fh_error *err)
{
	return sb->ops->feed(sb, data, n, err);
}

/* --- files ----------------------------------------------------------------------------------- */

int sandbox_pack(struct sandbox *sb, const char *folder, const char *except, int to,
		struct fh_error *err)
{
	return sb->ops->pack(sb, folder, except, to, err);
}

int sandbox_get_begin(struct sandbox *sb, const char *folder, const char *path, int64_t max_bytes,
		uint32_t *out_id, struct fh_error *err)
{
	return sb->ops->get_begin(sb, folder, path, max_bytes, out_id, err);
}

int sandbox_put_begin(struct sandbox *sb, const char *folder, const char *path, int from,
		mode_t mode, uint32_t *out_id, struct fh_error *err)
{
	return sb->ops->put_begin(sb, folder, path, from, mode, out_id, err);
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

int sandbox_drain_begin(struct sandbox *sb, uint32_t *out_id, struct fh_error *err)
{
	return sb->ops->drain_begin(sb, out_id, err);
}

int sandbox_take(struct sandbox *sb, struct sandbox_answer *out, struct fh_error *err)
{
	return sb->ops->take(sb, out, err);
}

bool sandbox_answered(struct sandbox *sb, uint32_t id)
{
	return sb->ops->answered(sb, id);
}

void sandbox_answer_waits(const struct sandbox *sb, struct waits *w)
{
	sb->ops->answer_waits(sb, w);
}

int sandbox_await(struct sandbox *sb, uint32_t id, struct sandbox_answer *out, struct fh_error *err)
{
	while (!sandbox_answered(sb, id)) {
		struct waits w = WAITS_INIT;

		sandbox_answer_waits(sb, &w);
		waits_poll(&w);
	}
	return sandbox_take(sb, out, err);
}

/* --- usage ----------------------------------------------------------------------------------- */

int64_t sandbox_count(const struct sandbox *sb, enum sandbox_counter counter)
{
	return sb->ops->count(sb, counter);
}
