/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_BIRTH_H
#define GUEST_BIRTH_H

#include "guest/nursery_state.h"

#include <stdatomic.h>

/* A sandbox that the nursery or a cradle is making. */
struct birth {
	struct plan plan;
	/* message of the owner that has `plan`; the clone wipes its copy of it */
	char *message;
	size_t message_bytes;
	int slots[GUEST_BINDS_MAX];
	/* index of the mount TREE_BINDS/<index> of the host folder for the sandbox' files; -1: a
	 * tmpfs has them */
	int disk;
	int fds[PLAN_FDS_MAX];
	size_t n_fds;
	/* True: a cradle, a process made ahead, clones PID 1. The cradle is root of its namespaces
	 * already. */
	bool in_cradle;
	/*
	 * Flag in shared memory: PID 1 has left the control groups in which it was born. NULL: it
	 * was born in none of the sandbox' groups. See struct init_start.
	 */
	atomic_int *moved_out;
};

/* Maps user and group ids for a process in a new user namespace. Runs in the nursery, the process
 * that makes sandboxes. */
int birth_map_ids(pid_t pid, struct fh_error *err);
/* Makes this process root of its user namespace. birth_map_ids() must have run for it before. */
int birth_become_root(struct fh_error *err);
/*
 * Puts this process into new namespaces of a sandbox: IPC, host name and, if `own_network`,
 * network. Without a network of its own, the process is kept from abstract unix sockets outside the
 * sandbox. Empties the process' capability bounding set.
 */
int birth_surroundings(bool own_network, struct fh_error *err);

/* Checks the descriptors of a plan, and mounts its host paths into the mount tree of the nursery.
 * The sandbox gets a copy of that tree. Runs in the nursery. */
int birth_prepare(struct nursery *n, struct birth *b, struct fh_error *err);
/*
 * Clones PID 1 of a sandbox and returns its pid. Runs in the nursery, which makes sandboxes, or in
 * a cradle, a process made ahead. PID 1 becomes a child of the nursery in both cases.
 */
pid_t birth_clone(struct nursery *n, struct birth *b, struct fh_error *err);

#endif
