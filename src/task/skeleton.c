/* SPDX-License-Identifier: Apache-2.0 */
#include "task/skeleton.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/walk.h"
#include "task/config.h"
#include "task/find.h"

#include <errno.h>
#include <string.h>

#define SKELETON_FILE_BYTES_MAX (1024 * 1024)

static int skeleton_copy_entry(const FTSENT *entry, const char *to, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(SKELETON_FILE_BYTES_MAX);
	int r;

	switch (entry->fts_info) {
	case FTS_D:
		return path_mkdirs(to, 0755, err);
	case FTS_DP:
		return 0;
	case FTS_F:
		r = fd_read_file(entry->fts_path, &text, err);
		return r < 0 ? r : fd_write_file(to, buf_str(&text), text.len, 0644, err);
	default:
		return error_set(err, entry->fts_errno ? entry->fts_errno : EINVAL, "copy '%s'",
				entry->fts_path);
	}
}

static int skeleton_copy_tree(const char *from, const char *to, struct fh_error *err)
{
	auto_walk FTS *fts = walk_open(from, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const FTSENT *entry;

	if (!fts)
		return error_set(err, errno, "read '%s'", from);
	while ((entry = fts_read(fts))) {
		auto_free char *target = xasprintf("%s%s", to, entry->fts_path + strlen(from));
		int r = skeleton_copy_entry(entry, target, err);

		if (r < 0)
			return r;
	}
	return 0;
}

int task_skeleton(const char *dir, const char *id, enum grader_kind kind, struct fh_error *err)
{
	auto_free char *to = path_join(dir, id);
	auto_free char *from =
			xasprintf("%s/templates/%s", places_get()->share_dir, grader_kinds[kind]);

	if (!task_name_is_valid(id))
		return error_say(err, EINVAL,
				"'%s' can't be the name of a task: it may have letters, digits, '_', '-' and "
				"'.', and --tasks-dir names its folder",
				id);
	if (path_exists(to))
		return error_say(err, EEXIST, "'%s' already exists", to);
	return skeleton_copy_tree(from, to, err);
}
