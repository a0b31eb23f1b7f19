/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "guest/cradle.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * Cradles: processes from which sandboxes are cloned. Moving a process into v1 control groups may
 * take 5 to 20 ms, longer than the rest of a reset. But a child process starts in the groups of its
 * parent, at no cost. So a clone of the nursery, the cradle, waits in the groups of a future
 * sandbox. When the sandbox' plan comes, the cradle clones PID 1 as a child of the nursery.
 * MOVE_OUT_MS later the cradle moves PID 1 out of the groups, and ends. With v2 no cradle enters
 * the groups: PID 1 puts its children there at their birth.
 *
 * A cradle also makes the sandbox' namespaces ahead, except those of mounts and processes. A
 * network namespace alone takes the kernel about 0.5 ms.
 */

#define MOVE_OUT_MS 20
/* milliseconds without a message after which the nursery makes a cradle, a process for a later
 * sandbox */
#define CRADLE_QUIET_MS 2

/*
 * Places of a sandbox' host paths: slot i is mounted at TREE_BINDS/<slots[i]>. The nursery sends
 * this to the cradle that makes the sandbox, followed by the plan.
 */
struct cradle_places {
	int slots[GUEST_BINDS_MAX];
	int disk;
};

#define PARCEL_MAX (sizeof(struct cradle_places) + GUEST_MESSAGE_MAX)

static bool cradle_is_wanted(const struct cradle *c)
{
	return c->number && c->socket < 0;
}

static void cradle_drop(struct cradle *c)
{
	if (c->number && c->socket >= 0)
		close(c->socket);
	for (size_t i = 0; cradle_is_wanted(c) && i < c->n_procs; i++)
		close(c->procs[i]);
	*c = (struct cradle){ 0 };
}

void cradles_drop(struct nursery *n)
{
	for (size_t i = 0; i < CRADLES_MAX; i++)
		cradle_drop(&n->cradles[i]);
}

/*
 * Moves PID 1 out of the sandbox' control groups, where the agent's limits would apply to it. The
 * cradle does that after it cloned PID 1: the move is slow, and PID 1 would have to wait. The
 * cradle first sleeps for MOVE_OUT_MS: many sandboxes end sooner and need no move.
 */
static void cradle_move_out(const struct nursery *n, pid_t pid, atomic_int *moved_out)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%d", pid);

	nanosleep(&(struct timespec){ .tv_nsec = MOVE_OUT_MS * 1000000L }, NULL);
	if (kill(pid, 0) < 0)
		return;
	/* Set the flag before the move: children that PID 1 forks from then on enter the groups
	 * themselves. */
	*moved_out = 1;
	for (size_t i = 0; i < n->n_home; i++)
		if (write(n->home[i], text, (size_t)length) != length)
			/* PID 1 has ended, or can't be moved and stays in the control groups */
			return;
}

static void cradle_give_birth(struct nursery *n, bool in_groups, char *message, size_t size,
		const int *fds, size_t n_fds)
{
	struct fh_error err = FH_ERROR_INIT;
	struct birth b = {
		.message = message, .message_bytes = size, .n_fds = n_fds, .in_cradle = true
	};
	struct cradle_places places;
	struct wire w;
	pid_t pid;

	if (size <= sizeof(places) || n_fds < 1)
		_exit(1);
	memcpy(&places, message, sizeof(places));
	memcpy(b.slots, places.slots, sizeof(b.slots));
	b.disk = places.disk;
	memcpy(b.fds, fds, n_fds * sizeof(int));
	w = wire_open(message + sizeof(places), size - sizeof(places));
	wire_get_u8(&w); /* skip the first byte, the message's kind NURSERY_PLAN */
	if (plan_get(&w, &b.plan) < 0)
		_exit(1);
	if (in_groups) {
		b.moved_out = mem_share(sizeof(int));
		if (!b.moved_out)
			_exit(1);
	}
	pid = birth_clone(n, &b, &err);
	if (pid < 0)
		guest_fail(b.fds[0], INIT_FAILED, &err);
	/*
	 * Close the cradle's copies of the sandbox' descriptors. A copy of its control socket would
	 * hide from PID 1 that the owner closed the other end.
	 */
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
	if (pid > 0 && in_groups)
		cradle_move_out(n, pid, b.moved_out);
}

/*
 * Prepares a cradle, a process that will make a sandbox. Waits until its ids are mapped, enters the
 * control groups, makes the namespaces. The groups come first: as root of the sandbox the cradle
 * lacks the owner's right to enter them.
 */
static int cradle_get_ready(int socket, const struct cradle *own)
{
	char go;

	if (recv(socket, &go, 1, 0) != 1)
		return -EPIPE;
	for (size_t i = 0; i < own->n_procs; i++) {
		if (write(own->procs[i], "0", 1) != 1)
			return -errno;
		close(own->procs[i]);
	}
	if (birth_become_root(NULL) < 0)
		return -EPERM;
	return birth_surroundings(true, NULL);
}

_Noreturn static void cradle_main(struct nursery *n, int socket, struct cradle *c)
{
	static char message[PARCEL_MAX];
	const struct cradle own = *c;
	int fds[PLAN_FDS_MAX];
	size_t n_fds = 0;
	ssize_t size;

	/* mark this cradle's entry as free, so that cradles_drop() does not close its
	 * descriptors */
	c->number = 0;
	/*
	 * Close the copy of the nursery's socket. As long as it is open, the owner can't see that
	 * the nursery has ended.
	 */
	close_fd(&n->socket);
	cradles_drop(n);
	if (cradle_get_ready(socket, &own) < 0)
		_exit(1);
	size = fd_recv_message(socket, message, sizeof(message), fds, PLAN_FDS_MAX, &n_fds, 0);
	if (size > 0)
		cradle_give_birth(n, own.n_procs > 0, message, (size_t)size, fds, n_fds);
	_exit(0);
}

static struct cradle *cradle_find(struct nursery *n, uint32_t number)
{
	for (size_t i = 0; i < CRADLES_MAX; i++)
		if (n->cradles[i].number == number)
			return &n->cradles[i];
	return NULL;
}

/*
 * Clones a cradle, a process for a future sandbox, from the nursery. On failure returns false. The
 * nursery then makes the sandbox itself, and the sandbox' processes enter the control groups
 * themselves.
 */
static bool cradle_make(struct nursery *n, struct cradle *c)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	pid = guest_clone(CLONE_NEWUSER);
	if (pid == 0) {
		close(pair[0]);
		cradle_main(n, pair[1], c);
	}
	close(pair[1]);
	if (pid > 0)
		n->children++;
	if (pid < 0 || birth_map_ids(pid, NULL) < 0 || write(pair[0], "", 1) != 1) {
		close(pair[0]); /* a closed socket makes the cradle exit */
		return false;
	}
	for (size_t i = 0; i < c->n_procs; i++)
		close(c->procs[i]);
	c->socket = pair[0];
	return true;
}

void cradle_add(struct nursery *n, uint32_t number, const int *procs, size_t n_procs)
{
	struct cradle *c = cradle_find(n, 0);

	if (!c || n_procs > GUEST_GROUPS_MAX) {
		for (size_t i = 0; i < n_procs; i++)
			close(procs[i]);
		return;
	}
	*c = (struct cradle){ .number = number, .socket = -1, .n_procs = n_procs };
	memcpy(c->procs, procs, n_procs * sizeof(*procs));
}

int cradles_pause_ms(const struct nursery *n)
{
	bool wanted = false, ready = false;

	for (size_t i = 0; i < CRADLES_MAX; i++) {
		wanted = wanted || cradle_is_wanted(&n->cradles[i]);
		ready = ready || (n->cradles[i].number && n->cradles[i].socket >= 0);
	}
	if (!wanted)
		return -1;
	return ready ? CRADLE_QUIET_MS : 0;
}

void cradles_make(struct nursery *n)
{
	struct cradle *next = NULL;

	for (size_t i = 0; i < CRADLES_MAX; i++) {
		struct cradle *c = &n->cradles[i];

		if (cradle_is_wanted(c) && (!next || c->number < next->number))
			next = c;
	}
	if (next && !cradle_make(n, next))
		cradle_drop(next);
}

bool cradle_give(struct nursery *n, const struct birth *b, const void *message, size_t size)
{
	static char parcel[PARCEL_MAX];
	struct cradle *c = b->plan.cradle ? cradle_find(n, b->plan.cradle) : NULL;
	struct cradle_places places = { .disk = b->disk };
	int r = -ENOENT;

	if (!c)
		return false;
	/* Skip the cradle if the sandbox needs the host's network: a cradle has left the host's
	 * network for good. */
	if (!(b->plan.flags & PLAN_NET_HOST) && (c->socket >= 0 || cradle_make(n, c))) {
		memcpy(places.slots, b->slots, sizeof(places.slots));
		memcpy(parcel, &places, sizeof(places));
		memcpy(parcel + sizeof(places), message, size);
		r = fd_send_message(c->socket, parcel, sizeof(places) + size, b->fds, b->n_fds, 0);
		explicit_bzero(parcel, sizeof(places) + size);
	}
	cradle_drop(c); /* close the socket to the cradle: if the cradle got no plan, it exits */
	return r == 0;
}
