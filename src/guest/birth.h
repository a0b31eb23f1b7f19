/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_BIRTH_H
#define GUEST_BIRTH_H

#include "guest/nursery_state.h"

#include <stdatomic.h>

/* A sandbox that the nursery or a cradle is making. */
struct birth {
	struct plan plan;
	char *message; /* the message from which `plan` was read; a clone wipes its copy of it */
	size_t message_bytes;
	int slots[GUEST_BINDS_MAX];
	/* slot in TREE_BINDS of the folder for the sandbox' files; -1: they are in a tmpfs */
	int disk;
	int fds[PLAN_FDS_MAX];
	size_t n_fds;
	/* True: a cradle clones PID 1. A cradle is root of its namespaces already. */
	bool in_cradle;
	/*
	 * Shared flag: PID 1 has left the control groups in which its cradle was. NULL: PID 1 is in
	 * no such groups. See struct init_start.
	 */
	atomic_int *moved_out;
};

/* Maps the ids of a process in a new user namespace. Runs in the nursery. */
int birth_map_ids(pid_t pid, struct fh_error *err);
/* Makes this process root of its user namespace. The nursery must have mapped the process' ids. */
int birth_become_root(struct fh_error *err);
/*
 * Puts this process into new namespaces of a sandbox: IPC, host name and, if `own_network`,
 * network. Without a network of its own, it is kept from abstract unix sockets outside the sandbox.
 * Empties its capability bounding set.
 */
int birth_surroundings(bool own_network, struct fh_error *err);

/* Mounts the paths of the plan's binds in the nursery's tree. Runs in the nursery. */
int birth_prepare(struct nursery *n, struct birth *b, struct fh_error *err);
/*
 * Clones a sandbox' PID 1 and returns its pid. Runs in the nursery or in a cradle. PID 1 becomes a
 * child of the nursery in both cases.
 */
pid_t birth_clone(struct nursery *n, struct birth *b, struct fh_error *err);

#endif
