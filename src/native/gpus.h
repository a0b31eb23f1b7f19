/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_GPUS_H
#define NATIVE_GPUS_H

#include "base/arena.h"
#include "proto/guest.h"
#include "sandbox/sandbox.h"

/*
 * GPUs of NVIDIA are devices of this machine: GPU 2 is /dev/nvidia2. A pool leases some of them, so
 * that no other pool of the machine has the same GPUs. A lease is a file lock on the device's own
 * file. So all users see the lease, and it ends with the process.
 */
struct gpus;

/*
 * Leases options->wanted GPUs: the first free ones of those that the options name. -ENOENT: fewer
 * of those exist. -EBUSY: too few are free; the error names the processes that use them. -EACCES:
 * an agent could not open a GPU.
 */
int gpus_open(const struct owner_gpus *options, struct gpus **out, struct fh_error *err);
void gpus_close(struct gpus *gpus); /* NULL is fine */
/*
 * Closes the descriptors by which the GPUs are leased. Call it in a fork, which must not keep the
 * leases. NULL is fine.
 */
void gpus_forked(struct gpus *gpus);

/*
 * Lists the numbers of this machine's GPUs, without opening or leasing any. `err` says why an agent
 * could not open one of them. err->code is 0 if agents can open all.
 */
size_t gpus_look(int *out_numbers, size_t max, struct fh_error *err);

/*
 * gpus_take() gives an episode n of the GPUs that the pool has leased. gpus_give() takes them back.
 * Any thread may call these. -EBUSY: fewer than n are left. -EINVAL: the pool has fewer than n.
 */
int gpus_take(struct gpus *gpus, size_t n, int *out_numbers, struct fh_error *err);
void gpus_give(struct gpus *gpus, const int *numbers, size_t n);

/*
 * Adds the device files of these GPUs, and those of the driver, to a sandbox' binds. A sandbox has
 * GUEST_BINDS_MAX binds at most.
 */
int gpus_bind(struct arena *a, const int *numbers, size_t n, struct plan_bind *binds,
		uint32_t *n_binds, struct fh_error *err);

#endif
