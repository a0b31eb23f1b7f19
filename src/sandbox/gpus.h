/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_GPUS_H
#define SANDBOX_GPUS_H

#include "base/error.h"

#include <stddef.h>

/*
 * GPUs of NVIDIA are devices of this machine: GPU 2 is /dev/nvidia2. A pool holds some of them, so
 * that no other pool of the machine has the same GPUs. It holds a GPU by a file lock on the
 * device's own file. So all users see the lock, and it ends with the process.
 */
struct gpus;

#define GPU_NUMBER_MAX 254
#define GPU_DEVICE "/dev/nvidia%d"

/* GPUs of a pool that the sandboxes of one episode use. Each engine shows them in its own way: as
 * device files, or by an option of the container. */
struct gpu_lease {
	struct gpus *pool;
	size_t n;
	int numbers[]; /* names of the GPUs for users: 2 in `--gpus 2` */
};

struct gpus_wanted {
	size_t n;           /* number of GPUs to hold */
	const int *numbers; /* GPUs to choose from; NULL: any */
	size_t n_numbers;
};

/*
 * Makes a pool of GPUs: the first free ones of those that the caller names. -ENOENT: fewer of those
 * exist. -EBUSY: too few are free; the error names the processes that use them. -EACCES: an agent
 * could not open a GPU.
 */
int gpus_open(const struct gpus_wanted *wanted, struct gpus **out, struct fh_error *err);
void gpus_close(struct gpus *gpus); /* NULL is fine */
/*
 * Closes the descriptors that hold the GPUs. Call it in a fork, which must not hold them. NULL is
 * fine.
 */
void gpus_forked(struct gpus *gpus);

/*
 * Lists the numbers of this machine's GPUs, without opening or locking any. `err` says why an agent
 * could not open one of them. err->code is 0 if agents can open all.
 */
size_t gpus_look(int *out_numbers, size_t max, struct fh_error *err);

/*
 * gpu_lease_new() gives an episode n of the pool's GPUs. *out is NULL if n is 0. `gpus` may be
 * NULL: a pool without GPUs. -EBUSY: fewer than n are left. -EINVAL: the pool has fewer than n.
 * gpu_lease_free() gives the GPUs back; NULL is fine. Any thread may call these.
 */
int gpu_lease_new(struct gpus *gpus, size_t n, struct gpu_lease **out, struct fh_error *err);
void gpu_lease_free(struct gpu_lease *lease);

static inline void scope_gpu_lease(struct gpu_lease *const *lease)
{
	gpu_lease_free(*lease);
}

#define auto_gpu_lease __attribute__((cleanup(scope_gpu_lease)))

#endif
