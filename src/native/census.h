/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CENSUS_H
#define NATIVE_CENSUS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A sandbox on this machine, of any process. */
struct census_row {
	pid_t pid;        /* PID 1 of the sandbox, as this machine numbers it */
	pid_t owner;      /* process that owns the sandbox; 0: the owner has ended */
	char command[32]; /* name of the owner's process; "" if it has ended */
	double age_s;
	int processes;
	int64_t memory_bytes;
};

/* Lists the sandboxes on this machine, in a heap array. */
size_t census_take(struct census_row **out);

#endif
