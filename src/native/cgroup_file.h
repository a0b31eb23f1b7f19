/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CGROUP_FILE_H
#define NATIVE_CGROUP_FILE_H

#include <stdint.h>

/* Converts cores to a group's CPU time in each period. Raises it to the kernel's minimum. */
#define CGROUP_CPU_PERIOD_US 100000
int64_t cgroup_cpu_quota_us(double cpus);

int cgroup_write(const char *folder, const char *file, const char *text);
int cgroup_write_number(const char *folder, const char *file, int64_t n);
int64_t cgroup_read_number(int fd, const char *key);

#endif
