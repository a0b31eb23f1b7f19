/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_DEVICES_H
#define NATIVE_DEVICES_H

#include "sandbox/gpus.h"

/*
 * GPUs of NVIDIA are devices of this machine: GPU 2 is /dev/nvidia2. An owner holds its GPUs by
 * file locks on these device files. So no other owner of the machine has the same GPUs. All
 * users see a lock, and it ends with the process.
 */
struct device {
	int number;
	int fd; /* open device file, whose lock holds the GPU */
};

struct devices {
	size_t n;
	struct device all[];
};

#define GPU_DEVICE "/dev/nvidia%d"

/*
 * Holds the first free GPUs of those that the caller names. -ENOENT: fewer of those exist. -EBUSY:
 * too few are free; the error names the processes that use them. -EACCES: an agent could not open
 * a GPU.
 */
int devices_open(const struct gpus_wanted *wanted, struct devices **out, struct fh_error *err);
void devices_close(struct devices *devices); /* NULL is fine */
/* Closes the device files in a fork, which must not hold the GPUs. NULL is fine. */
void devices_forked(struct devices *devices);

/* Returns a new pool of the GPUs that are held. */
struct gpus *devices_pool(const struct devices *devices);

/*
 * Lists the numbers of this machine's GPUs, without opening or locking any. `err` says why an agent
 * could not open one of them. err->code is 0 if agents can open all.
 */
size_t devices_look(int *out_numbers, size_t max, struct fh_error *err);

#endif
