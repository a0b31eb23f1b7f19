/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_NURSERY_STATE_H
#define GUEST_NURSERY_STATE_H

#include "guest/start.h"
#include "guest/tree.h"

/* The nursery's state, shared by nursery.c, birth.c and cradle.c. Each clone begins with a copy. */
#define PLAN_FDS_MAX (PLAN_SOCKETS + 1 + GUEST_GROUPS_MAX)
#define CRADLES_MAX 16

struct cradle {
	uint32_t number; /* 0: this entry is free */
	int socket;      /* socket to the cradle; -1: the cradle is not cloned yet */
	/* cgroup.procs of the groups to enter; closed once the cradle is cloned. */
	int procs[GUEST_GROUPS_MAX];
	size_t n_procs;
};

struct nursery {
	int socket, owner;
	int home[GUEST_GROUPS_MAX]; /* cgroup.procs of the owner's own groups */
	size_t n_home;
	struct trees trees;
	struct hello hello; /* once the trees are made, only the agent's filters are left in it */
	uint8_t can;        /* abilities of this machine: NURSERY_CAN_* */
	struct binds *binds;
	struct removals *removals;
	struct ends *ends;
	struct cradle cradles[CRADLES_MAX];
	unsigned children, layers;
	const struct guest_hooks *hooks;
};

#endif
