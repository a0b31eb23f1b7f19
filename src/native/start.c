/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/sandbox.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "proto/guest.h"
#include "native/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <unistd.h>

/* Starting and ending a sandbox, what it uses, and its shell. Its PID 1 is spoken to in control.c. */

/* --- starting -------------------------------------------------------------------------------- */

static int make_pair(int *out_ours, int *out_theirs, struct fh_error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set(err, errno, "make a socket");
	*out_ours = pair[0];
	*out_theirs = pair[1];
	return 0;
}

static int make_sockets(struct sandbox *sb, int theirs[PLAN_SOCKETS], struct fh_error *err)
{
	int r = make_pair(&sb->control, &theirs[PLAN_CONTROL], err);

	if (r == 0)
		r = make_pair(&sb->porter, &theirs[PLAN_PORTER], err);
	if (r == 0)
		r = make_pair(&theirs[PLAN_ERRANDS], &theirs[PLAN_ERRANDS_PORTER], err);
	return r;
}

static int make_mail(struct sandbox *sb, int *out_fd, struct fh_error *err)
{
	sb->turn = 0;
	sb->listening = SHELL_LISTENS_NOT;
	return mail_new(&sb->mail, out_fd, err);
}

void sandbox_close_ends(struct sandbox_ends *ends)
{
	for (size_t i = 0; i < PLAN_SOCKETS; i++)
		close_fd(&ends->sockets[i]);
	close_fd(&ends->mail);
}

/* Files that fill all of an episode's memory would leave none to the process that removes them. */
static int64_t disk_bytes(const struct sandbox_limits *l)
{
	int64_t most = l->memory_bytes - l->memory_bytes / 4;

	if (l->disk_on == DISK_DISK || !l->memory_bytes)
		return l->disk_bytes;
	return l->disk_bytes && l->disk_bytes < most ? l->disk_bytes : most;
}

/*
 * With groups they limit; without, resource limits do what they can, and the owner is warned. A bare
 * sandbox runs one program of ours, for which resource limits are enough: entering a group can take as
 * long as all the rest.
 */
static int set_limits(struct sandbox *sb, const struct sandbox_limits *l, struct plan *plan,
		struct fh_error *err)
{
	plan->disk_bytes = (uint64_t)disk_bytes(l);
	plan->disk_files = (uint64_t)l->disk_files;
	if (l->disk_on == DISK_DISK && !sb->disk_folder) {
		int r = disk_folder_new(sb->owner, l, &sb->disk_folder, &sb->disk_counted, err);

		if (r < 0)
			return r;
	}
	plan->disk_folder = sb->disk_folder;
	if (sb->group) /* of a try before, whose nursery was lost */
		cgroups_give(take_ptr(sb->group));
	if (!(plan->flags & PLAN_BARE)) {
		int r = spares_take(sb->owner, l, &sb->group, &plan->cradle, err);

		if (r < 0)
			return r;
		if (!sb->group && (l->memory_bytes || l->cpus > 0))
			atomic_store(&sb->owner->limits_missed, true);
	}
	if (sb->group) {
		plan->n_groups = (uint32_t)sb->group->n_parts;
		plan->flags |= cgroups_born_into(sb->group->pool) ? PLAN_BORN_IN_GROUP : 0;
	} else {
		plan->processes = (uint64_t)l->pids;
		plan->memory_bytes = (uint64_t)l->memory_bytes;
	}
	return 0;
}

static int send_limited(
		struct sandbox *sb, const struct plan *plan, const struct sandbox_ends *ends)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);
	int fds[PLAN_SOCKETS + 1 + CGROUP_PARTS];
	size_t n = PLAN_SOCKETS;

	memcpy(fds, ends->sockets, sizeof(ends->sockets));
	if (plan->flags & PLAN_SHELL)
		fds[n++] = ends->mail;
	for (uint32_t i = 0; i < plan->n_groups; i++)
		fds[n++] = sb->group->parts[i];
	plan_put(&b, plan);
	return nursery_send_plan(sb->owner, &b, fds, n);
}

int sandbox_send_plan(struct sandbox *sb, const struct plan *plan,
		const struct sandbox_limits *limits, const struct sandbox_ends *ends,
		struct fh_error *err)
{
	struct plan limited = *plan;
	int r = set_limits(sb, limits, &limited, err);

	if (r < 0)
		return r;
	r = send_limited(sb, &limited, ends);
	if (sb->group)
		cgroup_sent(sb->group);
	return r < 0 ? error_set(err, -r, "send to the nursery") : 0;
}

/* Only an owner's first sandbox or layer waits for its nursery, so that an error of the machine is told at once. */
static int check_nursery(struct owner *o, struct fh_error *err)
{
	if (o->forked || !atomic_load(&o->had_nursery))
		return owner_need_nursery(o, err);
	return 0;
}

static bool is_ready(struct owner *o)
{
	bool ready;

	pthread_mutex_lock(&o->lock);
	ready = errands_none(o) && nursery_is_ready(o);
	pthread_mutex_unlock(&o->lock);
	return ready;
}

/* At once, or by an errand. */
static int give_plan(struct sandbox *sb, const struct plan *plan,
		const struct sandbox_limits *limits, struct sandbox_ends *ends,
		struct fh_error *err)
{
	struct owner *o = sb->owner;
	int r = -EAGAIN;

	if (is_ready(o))
		r = sandbox_send_plan(sb, plan, limits, ends, err);
	if (r == -EPIPE || r == -ECONNRESET) /* the nursery was killed just then */
		atomic_store(&o->in_doubt, true);
	return nursery_is_lost(r) ? errand_sandbox(sb, plan, limits, ends, err) : r;
}

/* What the nursery could not make, or would take for a broken message, which ends it. */
static int check_options(
		const struct owner *owner, const struct sandbox_options *o, struct fh_error *err)
{
	size_t n_env = 0;

	if (o->layer && !owner_has_layer(owner, o->layer))
		return error_say(err, ENOENT, "there is no layer '%s'", o->layer);
	while (o->env && o->env[n_env])
		n_env++;
	if (n_env > GUEST_ENV_MAX)
		return error_say(err, E2BIG, "more than %d variables", GUEST_ENV_MAX);
	if (o->n_binds > GUEST_BINDS_MAX)
		return error_say(err, E2BIG, "more than %d binds", GUEST_BINDS_MAX);
	for (size_t i = 0; i < o->n_binds; i++)
		if (strlen(o->binds[i].source) > GUEST_PATH_MAX ||
				strlen(o->binds[i].target) > GUEST_PATH_MAX)
			return error_say(err, ENAMETOOLONG, "a bind of more than %d bytes",
					GUEST_PATH_MAX);
	return 0;
}

/* An overlay's upper can't lie in a tmpfs before Linux 6.6: then the sandbox' files lie on a disk. */
static int plan_writable(struct sandbox *sb, const char *source, char layer[FOLDERS_NAME_BYTES],
		struct sandbox_limits *limits, struct plan *plan, struct fh_error *err)
{
	if (!source)
		return 0;
	owner_folders_name(source, layer);
	if (!owner_has_layer(sb->owner, layer))
		return error_say(err, ENOENT, "there is no layer of the folders of '%s'", source);
	plan->writable = source;
	plan->writable_layer = layer;
	if (!(sb->owner->can & NURSERY_CAN_OVERLAY))
		limits->disk_on = DISK_DISK;
	return 0;
}

static int begin(struct sandbox *sb, const struct sandbox_options *o, struct sandbox_ends *ends,
		struct fh_error *err)
{
	static const char *const no_env[] = { NULL };
	auto_arena struct arena arena = ARENA_INIT;
	struct plan_bind binds[GUEST_BINDS_MAX];
	struct sandbox_limits limits = o->limits;
	char folders[FOLDERS_NAME_BYTES];
	struct plan plan = { .layer = o->layer,
		.binds = binds,
		.n_binds = (uint32_t)o->n_binds,
		.env = o->env ? o->env : no_env,
		.random_seed = o->random_seed };
	int r = check_options(sb->owner, o, err);

	for (size_t i = 0; i < o->n_binds && r == 0; i++) {
		/* A bare sandbox is made of its binds. */
		r = o->bare ? 0 : sandbox_bind_check(&o->binds[i], err);
		binds[i] = (struct plan_bind){ o->binds[i].source, o->binds[i].target, false };
	}
	if (r == 0)
		r = gpus_bind(&arena, o->gpus, o->n_gpus, binds, &plan.n_binds, err);
	if (r < 0)
		return r;
	plan.flags = (o->shell ? PLAN_SHELL : 0) | (o->bare ? PLAN_BARE : 0) |
			(o->own_proc ? PLAN_OWN_PROC : 0) | (o->judged ? PLAN_JUDGED : 0) |
			(o->network == NETWORK_HOST ? PLAN_NET_HOST : 0);
	r = check_nursery(sb->owner, err);
	if (r == 0) /* not before: a fork, which is refused here, would take the next of its parent's */
		plan.number = sb->number = roll_number(sb->owner);
	if (r == 0)
		r = make_sockets(sb, ends->sockets, err);
	if (r == 0 && o->shell)
		r = make_mail(sb, &ends->mail, err);
	if (r == 0)
		r = plan_writable(sb, o->writable, folders, &limits, &plan, err);
	if (r == 0)
		r = give_plan(sb, &plan, &limits, ends, err);
	if (r == 0)
		spares_refill(sb->owner);
	return r;
}

int sandbox_start(struct owner *owner, const struct sandbox_options *options, struct sandbox **out,
		struct fh_error *err)
{
	struct sandbox *sb = xcalloc(1, sizeof(*sb));
	struct sandbox_ends ends = SANDBOX_ENDS_INIT;
	int r;

	sb->owner = owner;
	sb->control = sb->porter = sb->files = -1;
	sb->answer_by_ns = sb->pump_by_ns = INT64_MAX;
	fork_watch_sandbox(sb);
	r = begin(sb, options, &ends, err);
	sandbox_close_ends(&ends);
	if (r < 0) {
		sandbox_close(sb);
		return error_wrap(err, "start a sandbox");
	}
	*out = sb;
	return 0;
}

void sandbox_close(struct sandbox *sb)
{
	if (!sb)
		return;
	errand_drop(sb);
	fork_unwatch_sandbox(sb);
	porter_drop_answer(sb);
	/* First, while PID 1 has it mounted: the last to go would have to free its pages. */
	close_fd(&sb->files);
	mail_free(take_ptr(sb->mail));
	close_fd(&sb->porter);
	close_fd(&sb->control);
	roll_close(sb->owner, sb->number);
	if (sb->group)
		cgroups_give(sb->group);
	if (sb->disk_folder)
		nursery_remove(sb->owner, sb->disk_folder);
	free(sb->disk_folder);
	free(sb->queue);
	free(sb);
}

void sandbox_fds(const struct sandbox *sb, int out_fds[SANDBOX_FDS])
{
	out_fds[0] = sb->control;
	out_fds[1] = sb->porter;
}

int sandbox_restart_shell(struct sandbox *sb, struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(64);
	auto_close int mail = -1;
	int r;

	mail_free(take_ptr(sb->mail));
	wire_put_u8(&b, INIT_SHELL);
	r = make_mail(sb, &mail, err);
	if (r == 0)
		r = control_send(sb, sb->control, &b, &mail, 1, err);
	return r < 0 ? error_wrap(err, "start a new shell") : 0;
}

/* --- usage ----------------------------------------------------------------------------------- */

/* Used space of its file system: what it has written, and what it has kept. */
int64_t sandbox_files_bytes(const struct sandbox *sb)
{
	struct statfs s;

	if (sb->disk_folder && !sb->disk_counted) /* it would tell of everyone's files */
		return -1;
	if (sb->files < 0 || fstatfs(sb->files, &s) < 0)
		return -1;
	return (int64_t)(s.f_blocks - s.f_bfree) * s.f_bsize;
}

int64_t sandbox_cpu_ns(struct sandbox *sb)
{
	return sb->group ? cgroup_cpu_ns(sb->group) : -1;
}

void sandbox_usage(struct sandbox *sb, struct sandbox_usage *out)
{
	int64_t files = sandbox_files_bytes(sb);

	*out = (struct sandbox_usage){
		.cpu_ns = sandbox_cpu_ns(sb),
		.written_bytes = files < 0 ? -1 : files - sb->files_base_bytes,
	};
}

int64_t sandbox_memory_peak(struct sandbox *sb)
{
	return sb->group ? cgroup_memory_peak(sb->group) : -1;
}

int64_t sandbox_oom_kills(struct sandbox *sb)
{
	return sb->group ? cgroup_oom_kills(sb->group) : -1;
}
