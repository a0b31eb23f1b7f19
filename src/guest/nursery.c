/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "guest/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The nursery: one per owner. It never runs anything of an agent, holds no secret, and is in one user
 * namespace in which it is root and the owner is uid 0. It has two mount namespaces: the host's as it
 * was when it began (`host`), to find paths that are to be bound, and its own minimal tree (`own`),
 * which every sandbox begins as a copy of, so that a reset does not grow with the host's mounts.
 *
 * Children are cloned without an exit signal, so that bash's handling of SIGCHLD stays as it is, and
 * are reaped at each turn of the loop.
 */

#define REAP_MS 500
#define PLAN_FDS_MAX (3 + GUEST_GROUPS_MAX)

struct nursery {
	int socket, owner;
	struct trees trees;
	struct hello hello; /* only the agent's filter, once the trees are made */
	uint8_t can;        /* NURSERY_CAN_* */
	struct binds *binds;
	struct removals *removals;
	unsigned children;
	unsigned failed_layers;
	const struct guest_hooks *hooks;
};

static void answer(const struct nursery *n, uint8_t kind)
{
	fd_send_message(n->socket, &kind, 1, NULL, 0, 0);
}

static void fail(int socket, uint8_t kind, const struct fh_error *err)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);

	wire_put_u8(&b, kind);
	wire_put_u32(&b, (uint32_t)-err->code);
	wire_put_bytes(&b, err->message, strnlen(err->message, GUEST_TEXT_MAX - 1));
	fd_send_message(socket, b.data, b.len, NULL, 0, 0);
}

/* --- setting up ------------------------------------------------------------------------------ */

static int become_root(struct fh_error *err)
{
	if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return error_set(err, errno, "become root of the user namespace");
	return 0;
}

static int own_mount_ns(void)
{
	return open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
}

static int make_trees(struct nursery *n, struct fh_error *err)
{
	int r;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return error_set(err, errno, "make a mount namespace");
	n->trees.host = own_mount_ns();
	if (n->trees.host < 0 || unshare(CLONE_NEWNS) < 0)
		return error_set(err, errno, "make a second mount namespace");
	r = rootfs_build(&n->hello, &n->can, err);
	if (r < 0)
		return r;
	hello_forget_names(&n->hello);
	n->trees.own = own_mount_ns();
	return n->trees.own < 0 ? error_set(err, errno, "open a mount namespace") : 0;
}

static int load_filter(const void *filter, uint32_t bytes, struct fh_error *err)
{
	struct sock_fprog program = { .len = (unsigned short)(bytes / sizeof(struct sock_filter)),
		.filter = (struct sock_filter *)(uintptr_t)filter };

	if (program.len && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return error_set(err, errno, "install the nursery's seccomp filter");
	return 0;
}

static int set_up(struct nursery *n, struct fh_error *err)
{
	int r = become_root(err);

	if (r == 0)
		r = make_trees(n, err);
	if (r == 0)
		r = load_filter(n->hello.base_filter, n->hello.base_filter_bytes, err);
	return r;
}

static void handle_mapped(struct nursery *n)
{
	struct fh_error err = FH_ERROR_INIT;
	uint8_t stands[2] = { NURSERY_STANDS };

	if (set_up(n, &err) < 0) {
		fail(n->socket, NURSERY_FAILED, &err);
		_exit(1);
	}
	stands[1] = n->can;
	fd_send_message(n->socket, stands, sizeof(stands), NULL, 0, 0);
}

static void handle_hello(struct nursery *n, struct wire *w, const int *fds, size_t n_fds)
{
	struct fh_error err = FH_ERROR_INIT;

	if (n->owner >= 0 || n_fds != 1 || hello_get(w, &n->hello) < 0)
		_exit(1);
	n->owner = fds[0];
	if (unshare(CLONE_NEWUSER) < 0) {
		error_set(&err, errno, "make a user namespace");
		fail(n->socket, NURSERY_FAILED, &err);
		_exit(1);
	}
	answer(n, NURSERY_UNSHARED);
}

/* --- layers ---------------------------------------------------------------------------------- */

static int make_layer(struct nursery *n, const struct layer *layer, struct fh_error *err)
{
	char path[PATH_MAX];
	auto_close int to = -1;
	int r, back;

	if (strchr(layer->name, '/') || layer->name[0] == '.')
		return error_say(err, EINVAL, "'%s' is no name of a layer", layer->name);
	snprintf(path, sizeof(path), TREE_LAYERS "/%s", layer->name);
	if (mkdir(path, 0755) < 0)
		return error_set(err, errno, "make layer '%s'", layer->name);
	if (chown(path, NURSERY_ID(GUEST_AGENT_ID), NURSERY_ID(GUEST_AGENT_ID)) < 0)
		return error_set(err, errno, "give layer '%s' to the agent", layer->name);
	to = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (to < 0)
		return error_set(err, errno, "open layer '%s'", layer->name);
	r = tree_enter(n->trees.host, err);
	if (r == 0)
		r = layer_copy(to, layer, err);
	back = tree_enter(n->trees.own, r < 0 ? NULL : err);
	if (r < 0) { /* its name is free again */
		char aside[PATH_MAX];

		snprintf(aside, sizeof(aside), TREE_LAYERS "/.failed-%u", n->failed_layers++);
		rename(path, aside);
	}
	return r < 0 ? r : back;
}

static void handle_layer(struct nursery *n, struct wire *w)
{
	struct fh_error err = FH_ERROR_INIT;
	struct layer layer;
	int r;

	if (layer_get(w, &layer) < 0)
		_exit(1);
	r = make_layer(n, &layer, &err);
	layer_release(&layer);
	if (r < 0)
		fail(n->socket, NURSERY_FAILED, &err);
	else
		answer(n, NURSERY_LAYER_MADE);
}

/* --- sandboxes ------------------------------------------------------------------------------- */

struct birth {
	struct plan plan;
	int slots[GUEST_BINDS_MAX];
	int disk;   /* slot of the folder for its files, -1 */
	int mapped; /* eventfd: the child's ids are mapped */
	int fds[PLAN_FDS_MAX];
	size_t n_fds;
};

static int write_text(const char *path, const char *text)
{
	auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return -errno;
	return 0;
}

static int map_ids(pid_t pid, struct fh_error *err)
{
	char path[64], map[64];
	int r;

	snprintf(map, sizeof(map), "0 %d %d", NURSERY_ID(0), GUEST_IDS);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	r = write_text(path, map);
	if (r == 0) {
		snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
		r = write_text(path, map);
	}
	return r < 0 ? error_set(err, -r, "map the sandbox's ids") : 0;
}

/* What a clone of the nursery knows and its sandbox must not. */
static void forget(struct nursery *n)
{
	binds_forget(n->binds);
	removals_forget(n->removals);
	close_fd(&n->socket);
	close_fd(&n->trees.host);
	close_fd(&n->trees.own);
}

static int child_set_up(struct nursery *n, struct birth *b, int *out_files, struct fh_error *err)
{
	uint64_t go;
	int r;

	if (read(b->mapped, &go, sizeof(go)) != sizeof(go))
		return error_set(err, errno, "wait for the nursery");
	close_fd(&b->mapped);
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0 || setsid() < 0)
		return error_set(err, errno, "become root of the sandbox");
	if (sethostname("fumehood", 8) < 0)
		return error_set(err, errno, "set the host's name");
	r = mounts_build(&(struct mounts_request){ .plan = &b->plan,
					 .bind_numbers = b->slots,
					 .disk_number = b->disk,
					 .can = n->can },
			out_files, err);
	if (r == 0 && confine_drop_bounding() < 0)
		r = error_set(err, EPERM, "drop the bounding set");
	return r;
}

_Noreturn static void child(struct nursery *n, struct birth *b)
{
	struct init_start start = { .control = b->fds[0],
		.owner = n->owner,
		.shell = -1,
		.output = -1,
		.plan = &b->plan,
		.hooks = n->hooks };
	struct fh_error err = FH_ERROR_INIT;
	size_t at = 1;
	int r;

	forget(n);
	if (b->plan.flags & PLAN_SHELL) {
		start.shell = b->fds[at++];
		start.output = b->fds[at++];
	}
	start.confinement = (struct confinement){ .n_groups = b->plan.n_groups,
		.processes = b->plan.processes,
		.memory_bytes = b->plan.memory_bytes,
		.filter = n->hello.agent_filter,
		.filter_bytes = n->hello.agent_filter_bytes };
	for (uint32_t i = 0; i < b->plan.n_groups; i++)
		start.confinement.groups[i] = b->fds[at++];
	r = child_set_up(n, b, &start.files, &err);
	plan_forget_binds(&b->plan);
	if (r < 0) {
		fail(start.control, INIT_FAILED, &err);
		_exit(1);
	}
	init_main(&start);
}

static int clone_child(struct nursery *n, struct birth *b, struct fh_error *err)
{
	struct clone_args args = { .flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
				CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP };
	uint64_t go = 1;
	pid_t pid;
	int r;

	if (!(b->plan.flags & PLAN_NET_HOST))
		args.flags |= CLONE_NEWNET;
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		return error_set(err, errno, "make namespaces");
	if (pid == 0)
		child(n, b);
	n->children++;
	r = map_ids(pid, err);
	if (r < 0)
		kill(pid, SIGKILL);
	else if (write(b->mapped, &go, sizeof(go)) < 0)
		r = error_set(err, errno, "wake the sandbox");
	return r;
}

static int prepare_binds(struct nursery *n, struct birth *b, struct fh_error *err)
{
	for (uint32_t i = 0; i < b->plan.n_binds; i++) {
		b->slots[i] = binds_slot(
				n->binds, &n->trees, b->plan.binds[i].source, BIND_READ_ONLY, err);
		if (b->slots[i] < 0)
			return b->slots[i];
	}
	if (b->plan.disk_folder)
		b->disk = binds_slot(n->binds, &n->trees, b->plan.disk_folder, BIND_EPISODE, err);
	return b->plan.disk_folder && b->disk < 0 ? b->disk : 0;
}

static int give_birth(struct nursery *n, struct birth *b, struct fh_error *err)
{
	size_t need = 1 + (b->plan.flags & PLAN_SHELL ? 2 : 0) + b->plan.n_groups;
	int r;

	if (b->n_fds != need)
		return error_say(err, EPROTO, "a plan with %zu descriptors instead of %zu",
				b->n_fds, need);
	/* So that /dev/stdout can be opened by the agent, whose pipe it is. */
	if (b->plan.flags & PLAN_SHELL &&
			fchown(b->fds[2], NURSERY_ID(GUEST_AGENT_ID), NURSERY_ID(GUEST_AGENT_ID)) <
					0)
		return error_set(err, errno, "give the output to the agent");
	r = prepare_binds(n, b, err);
	if (r < 0)
		return r;
	b->mapped = eventfd(0, EFD_CLOEXEC);
	if (b->mapped < 0)
		return error_set(err, errno, "make an eventfd");
	r = clone_child(n, b, err);
	close(b->mapped);
	return r;
}

static void handle_plan(struct nursery *n, struct wire *w, const int *fds, size_t n_fds)
{
	struct fh_error err = FH_ERROR_INIT;
	struct birth b = { .mapped = -1, .disk = -1, .n_fds = n_fds };

	if (n_fds < 1 || n_fds > PLAN_FDS_MAX)
		_exit(1);
	memcpy(b.fds, fds, n_fds * sizeof(int));
	if (plan_get(w, &b.plan) < 0)
		_exit(1);
	if (give_birth(n, &b, &err) < 0)
		fail(b.fds[0], INIT_FAILED, &err);
	plan_release(&b.plan);
	explicit_bzero(&b, sizeof(b));
}

/* --- ended children and their folders ---------------------------------------------------------- */

static void reap(struct nursery *n)
{
	int status;
	pid_t pid;

	while (n->children && (pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		n->children--;
		removals_reaped(n->removals, pid, status);
	}
	n->children += (unsigned)removals_turn(n->removals, &n->trees);
}

static void handle_remove(struct nursery *n, struct wire *w)
{
	auto_free char *path = wire_get_str(w, GUEST_PATH_MAX);

	if (!wire_done(w))
		_exit(1);
	removals_add(n->removals, path);
}

static void handle_finish(struct nursery *n)
{
	for (reap(n); removals_left(n->removals); reap(n))
		removals_pause();
	answer(n, NURSERY_FINISHED);
}

/* --- the loop -------------------------------------------------------------------------------- */

static void handle(
		struct nursery *n, const char *message, size_t size, const int *fds, size_t n_fds)
{
	struct wire w = wire_open(message, size);
	uint8_t kind = wire_get_u8(&w);

	switch ((enum nursery_message)kind) {
	case NURSERY_HELLO:
		handle_hello(n, &w, fds, n_fds);
		return; /* the owner's pidfd stays open */
	case NURSERY_MAPPED:
		handle_mapped(n);
		break;
	case NURSERY_LAYER:
		handle_layer(n, &w);
		break;
	case NURSERY_PLAN:
		handle_plan(n, &w, fds, n_fds);
		break;
	case NURSERY_REMOVE:
		handle_remove(n, &w);
		break;
	case NURSERY_FINISH:
		handle_finish(n);
		break;
	}
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
}

static void receive(struct nursery *n)
{
	static char message[GUEST_MESSAGE_MAX];
	int fds[PLAN_FDS_MAX];
	size_t n_fds = 0;
	ssize_t size = fd_recv_message(
			n->socket, message, sizeof(message), fds, PLAN_FDS_MAX, &n_fds, 0);

	if (size <= 0)
		_exit(0);
	handle(n, message, (size_t)size, fds, n_fds);
	explicit_bzero(message, (size_t)size);
}

_Noreturn void nursery_main(int socket, const struct guest_hooks *hooks)
{
	struct nursery n = { .socket = socket,
		.owner = -1,
		.trees = { -1, -1 },
		.binds = binds_new(),
		.removals = removals_new(),
		.hooks = hooks };

	prctl(PR_SET_NAME, "fh-nursery");
	for (;;) {
		struct pollfd fds[2] = { { .fd = n.socket, .events = POLLIN },
			{ .fd = n.owner, .events = POLLIN } };

		reap(&n);
		if (poll(fds, 2, n.children ? REAP_MS : -1) < 0)
			continue;
		if (fds[1].revents)
			_exit(0); /* the owner is gone */
		if (fds[0].revents)
			receive(&n);
	}
}
