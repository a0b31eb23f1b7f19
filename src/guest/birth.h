/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_BIRTH_H
#define GUEST_BIRTH_H

#include "guest/nursery_state.h"

#include <stdatomic.h>

/* A sandbox that is being made. */
struct birth {
	struct plan plan;
	char *message; /* bytes that the plan was read from; a clone wipes its copy of them */
	size_t message_bytes;
	int slots[GUEST_BINDS_MAX];
	int disk; /* slot in TREE_BINDS of the folder for the sandbox' files; -1: none */
	int fds[PLAN_FDS_MAX];
	size_t n_fds;
	/* A cradle, which is root and in its namespaces already, clones the sandbox. */
	bool in_cradle;
	/* Set if a cradle in control groups clones PID 1: see struct init_start. */
	atomic_int *moved_out;
};

/* Maps the ids of a process in a new user namespace. Runs in the nursery. */
int birth_map_ids(pid_t pid, struct fh_error *err);
/* Makes this process root of its user namespace. The nursery must have mapped its ids. */
int birth_become_root(struct fh_error *err);
/* Enters all of a sandbox' namespaces but mounts and processes, and drops the bounding set. */
int birth_surroundings(bool own_network, struct fh_error *err);

/* Mounts the plan's binds in the nursery's tree. Runs in the nursery. */
int birth_prepare(struct nursery *n, struct birth *b, struct fh_error *err);
/*
 * Clones PID 1 and returns its pid. Runs in the nursery or in a cradle; PID 1 is the nursery's
 * child.
 */
pid_t birth_clone(struct nursery *n, struct birth *b, struct fh_error *err);

#endif
