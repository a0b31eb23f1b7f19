/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"
#include "base/fd.h"
#include "base/scope.h"
#include "guest/confine.h"
#include "guest/cradle.h"
#include "guest/ends.h"
#include "guest/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The nursery: one per owner. The nursery never runs code of an agent and holds no secret. It is
 * root in its user namespace, in which uid 0 is the owner. The nursery has two mount namespaces.
 * `host` is a copy of the host's at the start, to find paths to bind. `own` is a minimal tree.
 * Every sandbox begins as a copy of `own`, so that a reset does not slow down with the host's
 * mounts.
 *
 * Children are cloned without an exit signal, so that bash's handling of SIGCHLD stays as it is.
 * The nursery reaps them now and then. Children do the work that takes long: copies, removals.
 */

#define REAP_MS 500 /* milliseconds between checks for ended children, while no message comes */
/* Milliseconds between checks for ended children, when the owner waits for the nursery's end. */
#define RETIRED_MS 100
/* least milliseconds between checks for ended children: the kernel examines each child */
#define REAP_PAUSE_MS 20
/* milliseconds between checks for ended children, while the owner waits for folders to be
 * removed */
#define FINISH_PAUSE_MS 10
/* bytes of stack to overwrite with zeros: more than setting up the nursery uses */
#define STACK_BYTES (128 << 10)

/*
 * Sends an answer to the owner. If that fails, ends the nursery: the owner, which waits for the
 * answer, then sees that the nursery has ended.
 */
static void nursery_reply(const struct nursery *n, void *data, size_t size)
{
	if (fd_send_message(n->socket, data, size, NULL, 0, 0) < 0)
		_exit(1);
}

/* Sends an answer without data, only its kind, on the socket that came with a request. */
static void nursery_answer_kind(int socket, uint8_t kind)
{
	fd_send_message(socket, &kind, sizeof(kind), NULL, 0, 0);
}

/* --- setting up ------------------------------------------------------------------------------ */

static int nursery_open_mounts(void)
{
	return open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
}

static int nursery_make_trees(struct nursery *n, struct fh_error *err)
{
	int r;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return error_set(err, errno, "make a mount namespace");
	n->trees.host = nursery_open_mounts();
	if (n->trees.host < 0 || unshare(CLONE_NEWNS) < 0)
		return error_set(err, errno, "make a second mount namespace");
	r = rootfs_build(&n->hello, &n->can, err);
	if (r < 0)
		return r;
	r = mounts_note_parts(err);
	if (r < 0)
		return r;
	hello_forget_names(&n->hello);
	n->trees.own = nursery_open_mounts();
	return n->trees.own < 0 ? error_set(err, errno, "open a mount namespace") : 0;
}

static int nursery_set_up(struct nursery *n, struct fh_error *err)
{
	const struct sock_fprog filter =
			confine_filter(n->hello.base_filter, n->hello.base_filter_bytes);
	int r;

	if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return error_set(err, errno, "become root of the user namespace");
	/*
	 * Leave the owner's session keyring: /proc/keys would show its keys. A kernel without
	 * keyrings refuses the call, which does no harm.
	 */
	syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	r = nursery_make_trees(n, err);
	if (r < 0)
		return r;
	if (filter.len && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) < 0)
		return error_set(err, errno, "install the nursery's seccomp filter");
	return 0;
}

static void nursery_handle_hello(struct nursery *n, struct wire *w, const int *fds, size_t n_fds)
{
	uint8_t unshared = NURSERY_UNSHARED;
	struct fh_error err = FH_ERROR_INIT;

	if (n->owner >= 0 || n_fds < 2 || n_fds > 2 + GUEST_GROUPS_MAX ||
			hello_get(w, &n->hello) < 0)
		_exit(1);
	n->owner = fds[0];
	n->n_home = n_fds - 2;
	memcpy(n->home, fds + 2, n->n_home * sizeof(int));
	if (ends_open(n->ends, fds[1], &err) >= 0 && unshare(CLONE_NEWUSER) < 0)
		error_set(&err, errno, "make a user namespace");
	close(fds[1]);
	if (err.code)
		guest_die(n->socket, NURSERY_FAILED, &err);
	nursery_reply(n, &unshared, sizeof(unshared));
}

/* --- layers ---------------------------------------------------------------------------------- */

/*
 * Copies a layer's files (starting files). Afterwards the caller is still in the host's mount
 * namespace, so it can't make sandboxes any more.
 */
static int nursery_fill_layer(const struct nursery *n, const struct layer *layer, const char *path,
		struct fh_error *err)
{
	auto_close int to = -1;
	int r;

	if (chown(path, NURSERY_ID(GUEST_AGENT_ID), NURSERY_ID(GUEST_AGENT_ID)) < 0)
		return error_set(err, errno, "give layer '%s' to the agent", layer->name);
	to = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (to < 0)
		return error_set(err, errno, "open layer '%s'", layer->name);
	r = tree_enter(n->trees.host, err);
	return r < 0 ? r : layer_copy(to, layer, err);
}

/* Fills a layer's folder under a temporary name, and renames it when it is complete. */
static int nursery_build_layer(
		const struct nursery *n, const struct layer *layer, struct fh_error *err)
{
	auto_close int layers = open(TREE_LAYERS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char aside[32], path[PATH_MAX];
	int r;

	/*
	 * Refuse a name that no folder can have, or with characters that have a meaning in an
	 * overlay's mount options.
	 */
	if (!*layer->name || strpbrk(layer->name, "/,:\\") || layer->name[0] == '.')
		return error_say(err, EINVAL, "'%s' can't be the name of a layer", layer->name);
	snprintf(aside, sizeof(aside), ".new-%u", n->layers);
	snprintf(path, sizeof(path), TREE_LAYERS "/%s", aside);
	if (layers < 0 || mkdir(path, 0755) < 0)
		return error_set(err, errno, "make layer '%s'", layer->name);
	r = nursery_fill_layer(n, layer, path, err);
	if (r < 0)
		return r;
	if (renameat2(layers, aside, layers, layer->name, RENAME_NOREPLACE) < 0)
		return error_set(err, errno, "name layer '%s'", layer->name);
	return 0;
}

/*
 * Copies a layer in a child, so that the nursery can make sandboxes meanwhile. Only the child
 * enters the host's mount namespace and reads the owner's paths. The child ends when the nursery
 * ends.
 */
_Noreturn static void nursery_copy_layer(
		struct nursery *n, pid_t nursery, struct wire *w, int answer_to)
{
	struct fh_error err = FH_ERROR_INIT;
	struct layer layer;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != nursery ||
			layer_get(w, &layer) < 0)
		_exit(1);
	/*
	 * Close the copy of the nursery's socket. As long as it is open, the owner can't see that
	 * the nursery has ended.
	 */
	close_fd(&n->socket);
	cradles_drop(n);
	if (nursery_build_layer(n, &layer, &err) < 0)
		guest_fail(answer_to, NURSERY_FAILED, &err);
	else
		nursery_answer_kind(answer_to, NURSERY_LAYER_MADE);
	_exit(0);
}

static void nursery_handle_layer(struct nursery *n, struct wire *w, int answer_to)
{
	struct fh_error err = FH_ERROR_INIT;
	pid_t self = getpid();
	pid_t pid = guest_clone(0);

	if (pid == 0)
		nursery_copy_layer(n, self, w, answer_to);
	n->layers++;
	if (pid > 0) {
		n->children++;
		return;
	}
	error_set(&err, errno, "start a process that copies a layer");
	guest_fail(answer_to, NURSERY_FAILED, &err);
}

/* Removes a layer in a child. The name is free at once. */
static void nursery_handle_drop_layer(struct nursery *n, struct wire *w)
{
	auto_free char *name = wire_get_str(w, GUEST_PATH_MAX);
	char path[PATH_MAX], gone[64];
	pid_t pid;

	guest_expect(wire_done(w) && !strchr(name, '/'));
	snprintf(path, sizeof(path), TREE_LAYERS "/%s", name);
	snprintf(gone, sizeof(gone), TREE_LAYERS "/.gone-%u", n->layers++);
	if (rename(path, gone) < 0)
		return;
	pid = guest_clone(0);
	if (pid == 0) {
		/* While its socket is open, the owner can't see that the nursery has ended. */
		close_range(3, ~0U, 0);
		_exit(removals_remove(gone) < 0 ? 1 : 0);
	}
	/* Without a child the files stay until the nursery ends. */
	n->children += pid > 0;
}

/* --- sandboxes ------------------------------------------------------------------------------- */

/*
 * Makes a sandbox from its plan. If a cradle, a process made ahead, waits for this plan, it clones
 * PID 1. Otherwise this process does.
 */
static int nursery_give_birth(struct nursery *n, struct birth *b, struct fh_error *err)
{
	int r = birth_prepare(n, b, err);

	if (r < 0)
		return r;
	if (cradle_give(n, b, b->message, b->message_bytes))
		return 0;
	return (int)birth_clone(n, b, err);
}

static void nursery_handle_plan(struct nursery *n, struct wire *w, char *message, size_t size,
		const int *fds, size_t n_fds)
{
	struct fh_error err = FH_ERROR_INIT;
	struct birth b = { .message = message, .message_bytes = size, .disk = -1, .n_fds = n_fds };

	if (n_fds < 1 || n_fds > PLAN_FDS_MAX)
		_exit(1);
	memcpy(b.fds, fds, n_fds * sizeof(int));
	if (plan_get(w, &b.plan) < 0)
		_exit(1);
	if (nursery_give_birth(n, &b, &err) < 0) {
		guest_fail(b.fds[0], INIT_FAILED, &err);
	} else {
		n->children++;
		ends_watch(n->ends, b.plan.number);
	}
	plan_release(&b.plan);
	explicit_bzero(&b, sizeof(b));
}

/* --- ended children, and folders of ended episodes -------------------------------------------- */

static void nursery_reap(struct nursery *n)
{
	int status;
	pid_t pid;

	while (n->children && (pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		n->children--;
		removals_reaped(n->removals, pid, status);
		ends_reaped(n->ends, pid);
	}
	if (n->children && pid < 0 && errno == ECHILD)
		/* no child is left: one was counted that a cradle failed to clone */
		n->children = 0;
	n->children += (unsigned)removals_turn(n->removals, &n->trees);
	n->children += (unsigned)ends_turn(n->ends);
}

static void nursery_handle_remove(struct nursery *n, struct wire *w)
{
	auto_free char *path = wire_get_str(w, GUEST_PATH_MAX);

	guest_expect(wire_done(w));
	binds_drop(n->binds, path);
	removals_add(n->removals, path);
}

/*
 * Overwrites the unused stack. Earlier calls left paths of the owner there, which every sandbox
 * would inherit.
 */
__attribute__((noinline)) static void nursery_wipe_stack(void)
{
	char below[STACK_BYTES];

	explicit_bzero(below, sizeof(below));
}

/* --- the loop -------------------------------------------------------------------------------- */

static void nursery_handle(
		struct nursery *n, char *message, size_t size, const int *fds, size_t n_fds)
{
	struct wire w = wire_open(message, size);
	struct fh_error err;
	uint32_t number;

	switch ((enum nursery_message)wire_get_u8(&w)) {
	case NURSERY_HELLO:
		nursery_handle_hello(n, &w, fds, n_fds);
		/* keep the message's descriptors open: nursery_handle_hello() has stored them */
		return;
	case NURSERY_MAPPED:
		if (nursery_set_up(n, &err) < 0)
			guest_die(n->socket, NURSERY_FAILED, &err);
		nursery_reply(n, (uint8_t[]){ NURSERY_STANDS, n->can }, 2);
		nursery_wipe_stack();
		break;
	case NURSERY_LAYER:
		guest_expect(n_fds == 1);
		nursery_handle_layer(n, &w, fds[0]);
		break;
	case NURSERY_PLAN:
		nursery_handle_plan(n, &w, message, size, fds, n_fds);
		break;
	case NURSERY_CRADLE:
		number = wire_get_u32(&w);
		guest_expect(wire_done(&w) && number);
		cradle_add(n, number, fds, n_fds);
		return; /* keep the message's descriptors open: cradle_add() has taken them */
	case NURSERY_DROP_LAYER:
		nursery_handle_drop_layer(n, &w);
		break;
	case NURSERY_REMOVE:
		nursery_handle_remove(n, &w);
		break;
	case NURSERY_FINISH:
		guest_expect(n_fds == 1);
		for (nursery_reap(n); removals_left(n->removals); nursery_reap(n))
			poll(NULL, 0, FINISH_PAUSE_MS);
		nursery_answer_kind(fds[0], NURSERY_FINISHED);
		break;
	case NURSERY_PING:
		guest_expect(n_fds == 1);
		nursery_answer_kind(fds[0], NURSERY_RUNS);
		break;
	}
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
}

/*
 * Ends the nursery once all its sandboxes have ended. Runs when the owner has ended, or when it has
 * closed the socket and its open sandboxes live on. It polls, and never waits for a single sandbox.
 */
_Noreturn static void nursery_outlive(struct nursery *n)
{
	bool gone = false;

	close_fd(&n->socket);
	cradles_drop(n);
	for (;;) {
		auto_close int next = -1;
		struct pollfd fds[2] = { { .fd = gone ? -1 : n->owner, .events = POLLIN } };

		if (gone)
			ends_close_all(n->ends);
		nursery_reap(n);
		if (!ends_left(n->ends))
			_exit(0);
		next = ends_open_next(n->ends);
		fds[1] = (struct pollfd){ .fd = next, .events = POLLIN };
		if (poll(fds, 2, ends_pause_ms(n->ends, RETIRED_MS)) > 0 && fds[0].revents)
			gone = true;
	}
}

static void nursery_receive(struct nursery *n)
{
	static char message[GUEST_MESSAGE_MAX];
	int fds[PLAN_FDS_MAX];
	size_t n_fds = 0;
	ssize_t size = fd_recv_message(
			n->socket, message, sizeof(message), fds, PLAN_FDS_MAX, &n_fds, 0);

	if (size <= 0)
		nursery_outlive(n);
	nursery_handle(n, message, (size_t)size, fds, n_fds);
	explicit_bzero(message, (size_t)size);
}

/*
 * Resets this process' oom_score_adj if it is negative. The owner may have a negative one, which
 * protects it from the OOM killer. Agents would inherit that.
 */
static void nursery_drop_preference(void)
{
	auto_close int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	char sign;

	if (fd >= 0 && read(fd, &sign, 1) == 1 && sign == '-' && pwrite(fd, "0", 1, 0) != 1)
		_exit(1);
}

_Noreturn void nursery_main(int socket, const struct guest_hooks *hooks)
{
	struct nursery n = { .socket = socket,
		.owner = -1,
		.trees = { -1, -1 },
		.binds = binds_new(),
		.removals = removals_new(),
		.ends = ends_new(),
		.hooks = hooks };
	int64_t reaped_ns = 0;

	/* Replace the owner's umask. With it, sandboxes might not be able to read folders that are
	 * made for them. */
	umask(022);
	prctl(PR_SET_NAME, NURSERY_NAME);
	nursery_drop_preference();
	for (;;) {
		struct pollfd fds[2] = { { .fd = n.socket, .events = POLLIN },
			{ .fd = n.owner, .events = POLLIN } };
		int64_t now = clock_now_ns();
		int r;

		if (now - reaped_ns >= REAP_PAUSE_MS * NS_PER_MS) {
			reaped_ns = now;
			nursery_reap(&n);
		}
		r = cradles_pause_ms(&n);
		if (r < 0 && n.children)
			r = ends_pause_ms(n.ends, REAP_MS);
		r = poll(fds, 2, r);
		if (r < 0)
			continue;
		if (fds[1].revents)
			nursery_outlive(&n); /* the owner's process has ended */
		if (fds[0].revents)
			nursery_receive(&n);
		else if (r == 0)
			cradles_make(&n);
	}
}
