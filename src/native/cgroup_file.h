/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_CGROUP_FILE_H
#define NATIVE_CGROUP_FILE_H

#include <stdint.h>

/*
 * Microseconds in a control group's CPU period. cgroup_cpu_quota_us() converts a number of cores to
 * CPU time in each period, at least the kernel's minimum.
 */
#define CGROUP_CPU_PERIOD_US 100000
int64_t cgroup_cpu_quota_us(double cpus);

int cgroup_write(const char *folder, const char *file, const char *text);
int cgroup_write_number(const char *folder, const char *file, int64_t n);
int64_t cgroup_read_number(int fd, const char *key);

#endif
