/* SPDX-License-Identifier: Apache-2.0 */
#include "native/usage.h"

#include <sys/statfs.h>

/* Counters of a sandbox' control group and of its file system. */

/* Reports no size without a quota: statfs() would give numbers of the whole disk. */
static bool usage_read(const struct native_sandbox *sb, struct statfs *out)
{
	if (sb->disk_folder && !sb->disk_counted)
		return false;
	return sb->files >= 0 && fstatfs(sb->files, out) == 0;
}

int64_t usage_files_bytes(const struct native_sandbox *sb)
{
	struct statfs s;

	return usage_read(sb, &s) ? (int64_t)(s.f_blocks - s.f_bfree) * s.f_bsize : -1;
}

int64_t usage_count(const struct sandbox *base, enum sandbox_counter counter)
{
	const struct native_sandbox *sb = native_view(base);
	struct statfs files;
	int64_t bytes;

	switch (counter) {
	case SANDBOX_CPU_NS:
		return sb->group ? cgroup_cpu_ns(sb->group) : -1;
	case SANDBOX_WRITTEN_BYTES:
		bytes = usage_files_bytes(sb);
		return bytes < 0 ? -1 : bytes - sb->files_base_bytes;
	case SANDBOX_MEMORY_PEAK:
		return sb->group ? cgroup_memory_peak(sb->group) : -1;
	case SANDBOX_OOM_KILLS:
		return sb->group ? cgroup_count(sb->group, CGROUP_OOM_KILL) : -1;
	case SANDBOX_PROCESSES_REFUSED:
		return sb->group ? cgroup_count(sb->group, CGROUP_PROCESS_REFUSED) : -1;
	case SANDBOX_LEFT_BYTES:
		return usage_read(sb, &files) ? (int64_t)files.f_bfree * files.f_bsize : -1;
	}
	return -1;
}
