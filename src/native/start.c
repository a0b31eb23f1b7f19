/* SPDX-License-Identifier: Apache-2.0 */
#include "native/start.h"

#include "base/mem.h"
#include "base/scope.h"
#include "native/channel.h"
#include "native/devices.h"
#include "native/disk_stale.h"
#include "native/errands.h"
#include "native/fork.h"
#include "native/layers.h"
#include "native/mail.h"
#include "native/nursery.h"
#include "native/nursery_talk.h"
#include "native/porter.h"
#include "native/provision.h"
#include "native/roll.h"
#include "native/spares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Devices of NVIDIA's driver that belong to no single GPU. Every sandbox with a GPU gets those that
 * exist. */
static const char *const gpu_common[] = { "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools",
	"nvidia-caps" };

/* --- starting and ending a sandbox, and starting a new shell --------------------------------- */

static int start_make_pair(int *out_ours, int *out_theirs, struct fh_error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set(err, errno, "make a socket");
	*out_ours = pair[0];
	*out_theirs = pair[1];
	return 0;
}

static int start_make_sockets(
		struct native_sandbox *sb, int theirs[PLAN_SOCKETS], struct fh_error *err)
{
	int r = start_make_pair(&sb->control, &theirs[PLAN_CONTROL], err);

	if (r < 0)
		return r;
	r = start_make_pair(&sb->porter, &theirs[PLAN_PORTER], err);
	if (r < 0)
		return r;
	return start_make_pair(&theirs[PLAN_ERRANDS], &theirs[PLAN_ERRANDS_PORTER], err);
}

static int start_make_mail(struct native_sandbox *sb, int *out_fd, struct fh_error *err)
{
	sb->turn = 0;
	sb->listening = SHELL_LISTENS_NOT;
	return mail_new(&sb->mail, out_fd, err);
}

/* Sends the sandbox' plan to the nursery at once, or has a thread send it later (errands.c). */
static int start_give_plan(struct native_sandbox *sb, const struct plan *plan,
		const struct sandbox_limits *limits, struct sandbox_ends *ends,
		struct fh_error *err)
{
	struct native_owner *o = sb->owner;
	int r = -EAGAIN;
	bool ready;

	pthread_mutex_lock(&o->lock);
	ready = errands_none(o) && nursery_is_ready(o);
	pthread_mutex_unlock(&o->lock);
	if (ready)
		r = provision_send_plan(sb, plan, limits, ends, err);
	if (r == -EPIPE || r == -ECONNRESET) /* the nursery was killed while the plan was sent */
		atomic_store(&o->in_doubt, true);
	return nursery_is_lost(r) ? errand_sandbox(sb, plan, limits, ends, err) : r;
}

/*
 * Refuses options of a sandbox with which its plan would be malformed, or which the nursery can't
 * carry out.
 */
static int start_check(
		struct native_owner *owner, const struct sandbox_options *o, struct fh_error *err)
{
	size_t n_env = 0;

	if (o->layer && !layers_has(owner, o->layer))
		return error_say(err, ENOENT, "there is no layer '%s'", o->layer);
	while (o->env && o->env[n_env])
		n_env++;
	if (n_env > GUEST_ENV_MAX)
		return error_say(err, E2BIG, "more than %d variables", GUEST_ENV_MAX);
	if (o->n_binds > GUEST_BINDS_MAX)
		return error_say(err, E2BIG, "more than %d binds", GUEST_BINDS_MAX);
	for (size_t i = 0; i < o->n_binds; i++) {
		const struct sandbox_bind *bind = &o->binds[i];
		int r;

		if (strlen(bind->source) > GUEST_PATH_MAX || strlen(bind->target) > GUEST_PATH_MAX)
			return error_say(err, ENAMETOOLONG, "a bind of more than %d bytes",
					GUEST_PATH_MAX);
		/* In a bare sandbox, skip the check of binds' targets: they can't hide anything. */
		r = o->role == SANDBOX_PROGRAM ? 0 : sandbox_bind_check(bind, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Sets in a sandbox' plan the overlay for writable binds of `source`. Before Linux 6.6 a tmpfs
 * can't be an overlay's upper, so the sandbox' files then lie on a disk.
 */
static int start_plan_writable(struct native_sandbox *sb, const char *source,
		char layer[FOLDERS_NAME_BYTES], struct sandbox_limits *limits, struct plan *plan,
		struct fh_error *err)
{
	if (!source)
		return 0;
	layers_folders_name(source, layer);
	if (!layers_has(sb->owner, layer))
		return error_say(err, ENOENT, "there is no layer of the folders of '%s'", source);
	plan->writable = source;
	plan->writable_layer = layer;
	if (!(sb->owner->can & NURSERY_CAN_OVERLAY))
		limits->disk_on = DISK_DISK;
	return 0;
}

/* Adds the device files of a sandbox' GPUs, and those of the driver, to its binds. */
static int start_bind_gpus(struct arena *a, const struct gpu_lease *gpus, struct plan_bind *binds,
		uint32_t *n_binds, struct fh_error *err)
{
	size_t n = gpus ? gpus->n : 0;

	for (size_t i = 0; n && i < n + ARRAY_SIZE(gpu_common); i++) {
		const char *path = i < n ? arena_printf(a, GPU_DEVICE, gpus->numbers[i])
					 : arena_printf(a, "/dev/%s", gpu_common[i - n]);

		if (i >= n && access(path, F_OK) < 0)
			continue;
		if (*n_binds == GUEST_BINDS_MAX)
			return error_say(err, E2BIG, "more than %d binds and devices",
					GUEST_BINDS_MAX);
		binds[(*n_binds)++] = (struct plan_bind){
			.source = path, .target = path, .device = true
		};
	}
	return 0;
}

static uint32_t start_flags(const struct sandbox_options *o)
{
	static const uint32_t roles[] = {
		[SANDBOX_PLAIN] = 0,
		[SANDBOX_GRADER] = PLAN_OWN_PROC,
		[SANDBOX_JUDGED] = PLAN_OWN_PROC | PLAN_JUDGED,
		[SANDBOX_PROGRAM] = PLAN_OWN_PROC | PLAN_BARE,
	};

	return roles[o->role] | (o->shell ? PLAN_SHELL : 0) |
			(o->network == NETWORK_HOST ? PLAN_NET_HOST : 0);
}

/*
 * Makes the sandbox' sockets and memory, and sends its plan to the nursery. The plan may point to
 * `folders`, whose text this function writes.
 */
static int start_planned(struct native_sandbox *sb, const struct sandbox_options *o,
		struct plan *plan, char folders[FOLDERS_NAME_BYTES], struct sandbox_ends *ends,
		struct fh_error *err)
{
	struct sandbox_limits limits = o->limits;
	int r = start_make_sockets(sb, ends->sockets, err);

	if (r < 0)
		return r;
	r = o->shell ? start_make_mail(sb, &ends->mail, err) : 0;
	if (r < 0)
		return r;
	r = start_plan_writable(sb, o->writable, folders, &limits, plan, err);
	if (r < 0)
		return r;
	if (limits.disk_on == DISK_DISK)
		disk_stale_collect_once(sb->owner);
	r = start_give_plan(sb, plan, &limits, ends, err);
	if (r < 0)
		return r;
	spares_refill(sb->owner);
	return 0;
}

static int start_with(struct native_sandbox *sb, const struct sandbox_options *o,
		struct sandbox_ends *ends, struct fh_error *err)
{
	static const char *const no_env[] = { NULL };
	auto_arena struct arena arena = ARENA_INIT;
	struct plan_bind binds[GUEST_BINDS_MAX];
	char folders[FOLDERS_NAME_BYTES];
	struct plan plan = { .flags = start_flags(o),
		.layer = o->layer,
		.binds = binds,
		.n_binds = (uint32_t)o->n_binds,
		.env = o->env ? o->env : no_env,
		.random_seed = o->random_seed };
	int r = start_check(sb->owner, o, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < o->n_binds; i++)
		binds[i] = (struct plan_bind){ o->binds[i].source, o->binds[i].target, false };
	r = start_bind_gpus(&arena, o->gpus, binds, &plan.n_binds, err);
	if (r < 0)
		return r;
	/*
	 * Wait for the nursery only at an owner's first sandbox or layer, to report errors of this
	 * machine at once. In a fork nursery_ensure() fails, before the fork takes a number that
	 * its parent would use.
	 */
	if (sb->owner->forked || !atomic_load(&sb->owner->had_nursery)) {
		r = nursery_ensure(sb->owner, err);
		if (r < 0)
			return r;
	}
	plan.number = sb->number = roll_number(sb->owner);
	return start_planned(sb, o, &plan, folders, ends, err);
}

int start_begin(struct owner *owner, const struct sandbox_options *options, struct sandbox **out,
		struct fh_error *err)
{
	struct native_sandbox *sb = xcalloc(1, sizeof(*sb));
	struct sandbox_ends ends = SANDBOX_ENDS_INIT;
	int r;

	sb->base.ops = owner->ops;
	sb->owner = native_owner_of(owner);
	sb->control = sb->porter = sb->files = -1;
	sb->answer_by_ns = sb->pump_by_ns = INT64_MAX;
	fork_watch_sandbox(sb);
	r = start_with(sb, options, &ends, err);
	provision_close_ends(&ends);
	if (r < 0) {
		start_close(&sb->base);
		return error_wrap(err, "start a sandbox");
	}
	*out = &sb->base;
	return 0;
}

void start_close(struct sandbox *base)
{
	struct native_sandbox *sb = native_of(base);

	errand_drop(sb);
	fork_unwatch_sandbox(sb);
	porter_drop_answer(sb);
	/*
	 * Close the descriptor of the sandbox' file system before PID 1 ends and unmounts it. The
	 * last process that lets go of the file system has to free its pages.
	 */
	close_fd(&sb->files);
	close_fd(&sb->porter);
	close_fd(&sb->control);
	/*
	 * Unmap the memory shared with the shell only after closing `control`, which ends the
	 * sandbox. Then none of its processes can hold the kernel's lock of a page.
	 */
	mail_free(take_ptr(sb->mail));
	roll_close(sb->owner, sb->number);
	if (sb->group)
		cgroups_give(sb->group);
	if (sb->disk_folder)
		errand_remove(sb->owner, sb->disk_folder);
	free(sb->disk_folder);
	free(sb->queue);
	free(sb);
}

void start_close_traceless(struct sandbox *base, struct job **out)
{
	struct cgroup *group = take_ptr(native_of(base)->group);

	start_close(base);
	*out = group ? cgroups_give_traceless(group) : NULL;
}

int start_pause(struct sandbox *base, struct job **out, struct fh_error *err)
{
	struct cgroup *group = native_of(base)->group;

	if (!group)
		return error_say(err, EOPNOTSUPP, "there are no control groups");
	return cgroup_freeze(group, out, err);
}

void start_resume(struct sandbox *base)
{
	const struct cgroup *group = native_of(base)->group;

	if (group)
		cgroup_thaw(group);
}

void start_fds(const struct sandbox *base, int out_fds[SANDBOX_FDS])
{
	const struct native_sandbox *sb = native_view(base);

	out_fds[0] = sb->control;
	out_fds[1] = sb->porter;
}

int start_shell_again(struct native_sandbox *sb, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(64);
	auto_close int mail = -1;
	int r;

	mail_free(take_ptr(sb->mail));
	wire_put_u8(&b, INIT_SHELL);
	r = start_make_mail(sb, &mail, err);
	if (r < 0)
		return error_wrap(err, "start a new shell");
	r = channel_send(sb, sb->control, &b, &mail, 1, err);
	return r < 0 ? error_wrap(err, "start a new shell") : 0;
}
