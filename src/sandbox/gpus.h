/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_GPUS_H
#define SANDBOX_GPUS_H

#include "base/error.h"

#include <stddef.h>

/*
 * Pool of the GPUs that an owner holds, by the numbers that users know: 2 in `--gpus 2`. The
 * implementation of sandboxes finds GPUs, holds them against other owners, and shows them to
 * sandboxes. Here they are only shared among the owner's episodes.
 */
struct gpus;

#define GPU_NUMBER_MAX 254

/* GPUs that an owner shall hold. */
struct gpus_wanted {
	size_t n;           /* number of GPUs to hold */
	const int *numbers; /* GPUs to choose from; NULL: any */
	size_t n_numbers;
};

/* GPUs of a pool that the sandboxes of one episode use. */
struct gpu_lease {
	struct gpus *pool;
	size_t n;
	int numbers[];
};

struct gpus *gpus_new(const int *numbers, size_t n);
void gpus_free(struct gpus *gpus); /* NULL is fine */
/* Makes the pool's lock again. Call it in a fork: another thread may have held the lock at the
 * fork. NULL is fine. */
void gpus_forked(struct gpus *gpus);

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
