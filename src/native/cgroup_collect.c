/* SPDX-License-Identifier: Apache-2.0 */
#include "native/cgroup_collect.h"

#include "base/mem.h"
#include "base/process.h"
#include "base/scope.h"
#include "base/str.h"
#include "native/cgroup_find.h"
#include "native/cgroup_kind.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* deepest level of a hierarchy at which control groups of killed owners are looked for */
#define COLLECT_DEPTH_MAX 8

int cgroup_remove_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		auto_free char *path = NULL;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		path = xasprintf("%s/%s", folder, e->d_name);
		rmdir(path);
	}
	if (dir)
		closedir(dir);
	return rmdir(folder) < 0 && errno != ENOENT ? -errno : 0;
}

int cgroup_collect_in(const char *base)
{
	DIR *dir = opendir(base);
	const struct dirent *e;
	int count = 0;

	while (dir && (e = readdir(dir))) {
		auto_free char *path = NULL;

		if (!str_starts(e->d_name, CGROUP_PREFIX))
			continue;
		path = xasprintf("%s/%s", base, e->d_name);
		if (process_folder_is_stale(path) && cgroup_remove_folder(path) == 0)
			count++;
	}
	if (dir)
		closedir(dir);
	return count;
}

/* Removes control groups of killed owners in a folder, and in all folders in it down to `depth`
 * levels. */
static int cgroup_collect_below(const char *base, int depth)
{
	int count = cgroup_collect_in(base);
	DIR *dir = depth ? opendir(base) : NULL;
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		auto_free char *path = NULL;

		if (e->d_type != DT_DIR || e->d_name[0] == '.' ||
				str_starts(e->d_name, CGROUP_PREFIX))
			continue;
		path = xasprintf("%s/%s", base, e->d_name);
		count += cgroup_collect_below(path, depth - 1);
	}
	if (dir)
		closedir(dir);
	return count;
}

int cgroups_collect(void)
{
	static const char *const hierarchies[] = { CGROUP_V1_CONTROLLERS, "" };
	int count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(hierarchies); i++) {
		auto_free char *top = cgroup_top_folder(hierarchies[i]);

		if (top)
			count += cgroup_collect_below(top, COLLECT_DEPTH_MAX);
	}
	return count;
}
