/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_NURSERY_STATE_H
#define GUEST_NURSERY_STATE_H

#include "guest/start.h"
#include "guest/tree.h"

#define PLAN_FDS_MAX (PLAN_SOCKETS + 1 + GUEST_GROUPS_MAX)
#define CRADLES_MAX 16

struct cradle {
	uint32_t number; /* number that the owner gave the cradle; 0: this entry is free */
	/* socket to the cradle, a process that waits; -1: the cradle is not cloned yet */
	int socket;
	/*
	 * Descriptors of cgroup.procs of the control groups that the cradle enters. They are closed
	 * once the cradle is cloned.
	 */
	int procs[GUEST_GROUPS_MAX];
	size_t n_procs;
};

/*
 * The nursery's state, shared by nursery.c, birth.c and cradle.c. Each process that the nursery
 * clones begins with a copy.
 */
struct nursery {
	int socket, owner;
	/*
	 * Descriptors of cgroup.procs of the owner's control groups. By them PID 1 and the porter
	 * leave the agent's limits. None with control groups v2, where processes are born into
	 * their groups.
	 */
	int home[GUEST_GROUPS_MAX];
	size_t n_home;
	struct trees trees;
	/* first message of the owner; once the mount trees are made, only its seccomp filters are
	 * kept */
	struct hello hello;
	uint8_t can; /* bits NURSERY_CAN_*: features that this machine supports */
	struct binds *binds;
	struct removals *removals;
	struct ends *ends;
	struct cradle cradles[CRADLES_MAX];
	unsigned children, layers;
	const struct guest_hooks *hooks;
};

#endif
