/* SPDX-License-Identifier: Apache-2.0 */
#include "native/native.h"

#include "base/mem.h"
#include "base/places.h"
#include "base/scope.h"
#include "native/cgroup_collect.h"
#include "native/control.h"
#include "native/cover.h"
#include "native/devices.h"
#include "native/disk.h"
#include "native/disk_stale.h"
#include "native/errands.h"
#include "native/fork.h"
#include "native/inbox.h"
#include "native/layers.h"
#include "native/nursery.h"
#include "native/nursery_talk.h"
#include "native/porter.h"
#include "native/roll.h"
#include "native/seccomp.h"
#include "native/shell.h"
#include "native/start.h"
#include "native/usage.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Opens and closes an owner, which holds what all its sandboxes share. The nursery starts only with
 * the first sandbox or layer. */

static void owner_release(struct owner *base);

static int owner_init(
		struct native_owner *o, const struct owner_options *options, struct fh_error *err)
{
	auto_free char *state = NULL;
	int r;

	o->self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (o->self < 0)
		return error_set(err, errno, "open a pidfd of this process");
	r = roll_open(o, err);
	if (r < 0)
		return r;
	r = cover_hide(&o->base, places_get()->share_dir, err);
	if (r < 0)
		return r;
	/* Ignore a failure to find the state folder: if it does not exist, it needs no hiding from
	 * sandboxes. */
	if (places_state_dir(NULL, &state, NULL) == 0) {
		r = cover_hide(&o->base, state, err);
		if (r < 0)
			return r;
	}
	r = seccomp_build(&o->base_filter, &o->agent_filter, &o->judged_filter, err);
	if (r < 0 || !options || !options->gpus.n)
		return r;
	r = devices_open(&options->gpus, &o->devices, err);
	if (r < 0)
		return r;
	o->base.gpus = devices_pool(o->devices);
	return 0;
}

static int owner_new(const struct owner_options *options, struct owner **out, struct fh_error *err)
{
	struct native_owner *o = xcalloc(1, sizeof(*o));
	int r;

	o->base.ops = &sandbox_native;
	pthread_mutex_init(&o->changing, NULL);
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->errand_settled, NULL);
	o->label = arena_strdup(&o->arena, options && options->label ? options->label : "run");
	o->nursery = o->nursery_process = o->disk_claim = o->roll_fd = -1;
	r = owner_init(o, options, err);
	fork_watch_owner(o);
	if (r < 0) {
		owner_release(&o->base);
		return r;
	}
	*out = &o->base;
	return 0;
}

static void owner_release(struct owner *base)
{
	struct native_owner *o = native_owner_of(base);

	fork_unwatch_owner(o);
	errands_finish(o);
	if (o->disk_folders || o->disk_removals)
		nursery_do_all(o->nursery);
	nursery_leave(o);
	nursery_await_retired(o);
	roll_release(o);
	disk_close(o);
	close_fd(&o->self);
	cgroups_close(o->cgroups);
	layers_release(o);
	buf_release(&o->base_filter);
	buf_release(&o->agent_filter);
	buf_release(&o->judged_filter);
	pthread_cond_destroy(&o->errand_settled);
	pthread_mutex_destroy(&o->lock);
	pthread_mutex_destroy(&o->changing);
	free(o->no_cgroups);
	gpus_free(o->base.gpus);
	devices_close(o->devices); /* after all sandboxes have ended that use the GPUs */
	arena_release(&o->arena);
	free(o);
}

static const char *owner_missed_limits(const struct owner *base)
{
	const struct native_owner *o = (const struct native_owner *)base;

	if (atomic_load(&o->limits_missed))
		return o->no_cgroups;
	if (atomic_load(&o->disk_unlimited))
		return "disk space is not limited: the state folder's file system has no project "
		       "quota that this user may set";
	return NULL;
}

static int owner_collect_stale(void)
{
	int count = cgroups_collect();
	struct owner *base;

	if (owner_new(&(struct owner_options){ .label = "gc" }, &base, NULL) < 0)
		return count;
	count += disk_stale_collect(native_owner_of(base));
	owner_release(base);
	return count;
}

const struct sandbox_ops sandbox_native = {
	.shell = &shell_native,
	.owner_open = owner_new,
	.owner_close = owner_release,
	.hide = cover_hide,
	.hide_check = cover_check,
	.warning = owner_missed_limits,
	.collect = owner_collect_stale,
	.add_layer = layers_add,
	.drop_layer = layers_drop,
	.add_writable = layers_add_writable,
	.start = start_begin,
	.close = start_close,
	.close_traceless = start_close_traceless,
	.pause = start_pause,
	.resume = start_resume,
	.waits = inbox_waits,
	.fds = start_fds,
	.next_event = inbox_next_event,
	.clear_requests = porter_clear_requests,
	.run = control_run,
	.go = control_go,
	.pack = control_pack,
	.send_signal = control_signal,
	.hold_output = porter_hold_output,
	.shut_output = porter_shut_output,
	.feed = porter_send_input,
	.get_begin = porter_get_begin,
	.put_begin = porter_put_begin,
	.drain_begin = porter_drain_begin,
	.take = porter_take,
	.answered = inbox_answered,
	.answer_waits = inbox_answer_waits,
	.count = usage_count,
};
