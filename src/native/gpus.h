/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_GPUS_H
#define NATIVE_GPUS_H

#include "base/arena.h"
#include "proto/guest.h"
#include "sandbox/sandbox.h"

/*
 * GPUs of NVIDIA's are devices of this machine: GPU 2 is /dev/nvidia2. A pool leases some of them,
 * and no other pool of the machine has those meanwhile. A lease is a lock on the device's own file.
 * So all users see it, and it ends with the process.
 */
struct gpus;

/* `wanted` of those that the options name, the first that are free. -ENOENT, -EBUSY with who has
 * them, -EACCES for one that an agent could not open. */
int gpus_open(const struct owner_gpus *options, struct gpus **out, struct fh_error *err);
void gpus_close(struct gpus *gpus);  /* NULL is fine */
void gpus_forked(struct gpus *gpus); /* in a fork, which is not to keep the leases; NULL is fine */

/* Numbers of those that are there, to tell of: none is opened or leased. `err` tells what stands
 * in the way of the first that an agent could not open, code 0: nothing does. */
size_t gpus_look(int *out_numbers, size_t max, struct fh_error *err);

/* Any thread may take and give back. -EBUSY. */
int gpus_take(struct gpus *gpus, size_t n, int *out_numbers, struct fh_error *err);
void gpus_give(struct gpus *gpus, const int *numbers, size_t n);

/* Adds the devices that a sandbox with these GPUs has to its binds, GUEST_BINDS_MAX at most. */
int gpus_bind(struct arena *a, const int *numbers, size_t n, struct plan_bind *binds,
		uint32_t *n_binds, struct fh_error *err);

#endif
