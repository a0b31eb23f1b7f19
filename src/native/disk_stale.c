/* SPDX-License-Identifier: Apache-2.0 */
#include "native/disk_stale.h"

#include "base/path.h"
#include "base/process.h"
#include "base/scope.h"
#include "native/disk.h"
#include "native/errands.h"
#include "native/nursery.h"

#include <dirent.h>

int disk_stale_collect(struct native_owner *o)
{
	auto_free char *dir = NULL;
	const struct dirent *e;
	int count = 0;
	DIR *d;

	if (disk_episodes_dir(&dir, NULL) < 0)
		return 0;
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		auto_free char *folder = NULL;

		folder = path_join(dir, e->d_name);
		if (!process_folder_is_stale(folder))
			continue;
		if (!atomic_load(&o->had_nursery) && nursery_ensure(o, NULL) < 0)
			break;
		errand_remove(o, folder);
		o->disk_removals++;
		count++;
	}
	if (d)
		closedir(d);
	return count;
}

void disk_stale_collect_once(struct native_owner *o)
{
	if (!atomic_exchange(&o->disk_collected, true))
		disk_stale_collect(o);
}
