/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_CONFINE_H
#define GUEST_CONFINE_H

#include "guest/guest.h"

#include <linux/filter.h>
#include <sys/types.h>

/* Takes rights, resources and capabilities from the processes of a sandbox. */

struct confinement {
	int groups[GUEST_GROUPS_MAX];
	uint32_t n_groups;
	/*
	 * True: confine_fork() makes the child in its control groups. False: confine() moves the
	 * child there.
	 */
	bool born_in_group;
	/* resource limits of the agent's processes, RLIMIT_NPROC and RLIMIT_DATA; 0: no limit */
	uint64_t processes, memory_bytes;
	const void *filter;
	uint32_t filter_bytes;
};

/*
 * Wraps a seccomp filter into the struct of seccomp(2). The struct's pointer is not const, but
 * seccomp(2) only reads the filter.
 */
struct sock_fprog confine_filter(const void *filter, uint32_t bytes);
int confine_drop_bounding(void);
/* Forbids core dumps of this process and of its children. */
int confine_dumps(void);
pid_t confine_fork(const struct confinement *c);
int confine(const struct confinement *c, uint8_t user, struct fh_error *err);

#endif
