/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_LIMITS_H
#define SANDBOX_LIMITS_H

#include <stdint.h>

enum sandbox_network { NETWORK_NONE, NETWORK_HOST };

/* Place of a sandbox' own files. Files in memory count as its memory. */
enum sandbox_disk { DISK_MEMORY, DISK_DISK };

/* Limits of a sandbox. 0 means unlimited. */
struct sandbox_limits {
	int64_t memory_bytes;
	int64_t pids;
	double cpus; /* CPU time per second, in cores: 1.5 */
	/* Files in memory also have a limit of three quarters of memory_bytes. */
	int64_t disk_bytes;
	int64_t disk_files;
	enum sandbox_disk disk_on;
};

#endif
