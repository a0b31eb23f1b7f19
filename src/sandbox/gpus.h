/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_GPUS_H
#define SANDBOX_GPUS_H

#include "base/error.h"

#include <stddef.h>

/*
 * GPUs of NVIDIA are devices of this machine: GPU 2 is /dev/nvidia2. A pool leases some of them, so
 * that no other pool of the machine has the same GPUs. A lease is a file lock on the device's own
 * file. So all users see the lease, and it ends with the process.
 */
struct gpus;

#define GPU_NUMBER_MAX 254

struct gpus_wanted {
	size_t n;           /* number of GPUs to lease */
	const int *numbers; /* GPUs to choose from; NULL: any */
	size_t n_numbers;
};

/*
 * Leases GPUs: the first free ones of those that the caller names. -ENOENT: fewer of those exist.
 * -EBUSY: too few are free; the error names the processes that use them. -EACCES: an agent could
 * not open a GPU.
 */
int gpus_open(const struct gpus_wanted *wanted, struct gpus **out, struct fh_error *err);
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

#endif
