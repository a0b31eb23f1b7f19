/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_BIRTH_H
#define GUEST_BIRTH_H

#include "guest/nursery_state.h"

/* A sandbox on its way. */
struct birth {
	struct plan plan;
	char *message; /* the plan came in it; a clone wipes its copy */
	size_t message_bytes;
	int slots[GUEST_BINDS_MAX];
	int disk; /* slot of the folder for its files, -1 */
	int fds[PLAN_FDS_MAX];
	size_t n_fds;
	bool in_cradle;          /* a cradle clones it: it is root and in its namespaces already */
	volatile int *moved_out; /* in a cradle that is in its groups: see struct init_start */
};

/* In the nursery: gives a process in a new user namespace its ids. */
int birth_map_ids(pid_t pid, struct fh_error *err);
/* In that process, once it has them. */
int birth_become_root(struct fh_error *err);
/* Enters all of a sandbox' namespaces but mounts and processes, and drops the bounding set. */
int birth_surroundings(bool own_network, struct fh_error *err);

/* In the nursery: brings the plan's binds into the tree. */
int birth_prepare(struct nursery *n, struct birth *b, struct fh_error *err);
/* Clones PID 1 as a child of the nursery, from there or from a cradle. Returns its pid. */
pid_t birth_clone(struct nursery *n, struct birth *b, struct fh_error *err);

#endif
