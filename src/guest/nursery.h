/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_NURSERY_H
#define GUEST_NURSERY_H

#include "guest/guest.h"

/*
 * What nursery.c, birth.c and cradle.c share: the nursery's state, which a clone begins with a copy of,
 * and the making of one sandbox.
 */
#define PLAN_FDS_MAX (PLAN_SOCKETS + 1 + GUEST_GROUPS_MAX)
#define CRADLES_MAX 16

struct cradle {
	uint32_t number;             /* 0: free */
	int socket;                  /* -1: it is not made yet */
	int procs[GUEST_GROUPS_MAX]; /* cgroup.procs to enter; those of one that is made are closed */
	size_t n_procs;
};

struct nursery {
	int socket, owner;
	int home[GUEST_GROUPS_MAX]; /* cgroup.procs of the owner's own groups */
	size_t n_home;
	struct trees trees;
	struct hello hello; /* only the agent's filter, once the trees are made */
	uint8_t can;        /* NURSERY_CAN_* */
	struct binds *binds;
	struct removals *removals;
	struct ends *ends;
	struct cradle cradles[CRADLES_MAX];
	unsigned children, layers;
	int64_t reaped_ns; /* when it was last looked for ended children */
	const struct guest_hooks *hooks;
};

/* birth.c: a sandbox on its way. */
struct birth {
	struct plan plan;
	char *message; /* that the plan was read from; a clone wipes its copy */
	size_t message_bytes;
	int slots[GUEST_BINDS_MAX];
	int disk; /* slot of the folder for its files, -1 */
	int fds[PLAN_FDS_MAX];
	size_t n_fds;
	bool in_cradle;          /* which has become root, and has its surroundings (below) */
	volatile int *moved_out; /* in a cradle that is in its groups: see struct init_start */
};

/* In the nursery: gives a process in a new user namespace its ids. */
int birth_map_ids(pid_t pid, struct fh_error *err);
/* In that process, once it has them. */
int birth_become_root(struct fh_error *err);
/* All that a sandbox is in but its mounts and its processes: namespaces, bounding set. */
int birth_surroundings(bool own_network, struct fh_error *err);

/* In the nursery: brings what the plan binds into the tree. */
int birth_prepare(struct nursery *n, struct birth *b, struct fh_error *err);
/* In the nursery or a cradle: clones PID 1, a child of the nursery in either case. Its pid. */
pid_t birth_clone(struct nursery *n, struct birth *b, struct fh_error *err);

/* ends.c: sandboxes that should have ended. */
struct ends *ends_new(void);
int ends_open(struct ends *e, int roll, struct fh_error *err); /* a memfd of struct roll */
void ends_forget(struct ends *e);                              /* in a sandbox */
/* In the nursery: there is a plan with that number; in it or a cradle: its PID 1 was born. */
void ends_watch(struct ends *e, uint32_t number);
void ends_born(const struct ends *e, uint32_t number, pid_t pid);
/* Looks, and starts a worker if one is overdue and none is at it: how many children began. */
int ends_turn(struct ends *e);
void ends_reaped(struct ends *e, pid_t pid);
/* The owner is gone: kills each PID 1; those that have not ended in a moment are overdue. */
void ends_close_all(struct ends *e);
bool ends_left(const struct ends *e);
int ends_pause_ms(const struct ends *e, int quiet_ms); /* until the next turn */
/* A pidfd of one that was closed and has not ended; -1: there is none. */
int ends_open_next(const struct ends *e);

/* cradle.c */
/* Keeps the descriptors. It is made by cradles_make(), or when it is given something. */
void cradle_add(struct nursery *n, uint32_t number, const int *procs, size_t n_procs);
bool cradles_wanted(const struct nursery *n); /* some are not made yet */
bool cradles_hurry(const struct nursery *n);  /* and none is that could be given something */
void cradles_make(struct nursery *n);         /* one of them */
void cradles_drop(struct nursery *n);         /* all end that were given nothing */
/* Hands the birth over to that cradle; false if there is none. */
bool cradle_give(struct nursery *n, const struct birth *b, const void *message, size_t size);

#endif
