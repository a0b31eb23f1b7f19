/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_LIMITS_H
#define SANDBOX_LIMITS_H

#include <stdint.h>

/* Limits and network of a sandbox. */

enum sandbox_network { NETWORK_NONE, NETWORK_HOST };

/*
 * Place of the files that a sandbox writes: memory or the disk. Files in memory count towards the
 * memory limit. Container engines have both places too: a tmpfs, and the container's own layer.
 */
enum sandbox_disk { DISK_MEMORY, DISK_DISK };

/* Limits of a sandbox. 0 means unlimited. */
struct sandbox_limits {
	int64_t memory_bytes;
	int64_t pids;
	double cpus;        /* limit of CPU time per second, in cores: 1.5 */
	int64_t disk_bytes; /* bytes of the files that a sandbox writes */
	int64_t disk_files;
	enum sandbox_disk disk_on;
};

#endif
