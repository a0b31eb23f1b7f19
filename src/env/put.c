/* SPDX-License-Identifier: Apache-2.0 */
#include "env/put.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/walk.h"

#include <fumehood/aside.h>

#include <errno.h>
#include <string.h>

/* Largest file that env_put_files() writes into a workspace. */
#define PUT_BYTES_MAX (64 << 20)

static int env_put_copy(
		struct fh_env *env, const char *source, const char *target, struct fh_error *err)
{
	auto_buf struct buf data = BUF_INIT(PUT_BYTES_MAX);
	int r = fd_read_file(source, &data, err);

	return r < 0 ? r
		     : fh_env_put_file(env,
				       &FH_FILE(.path = target, .data = data.data,
						       .n_bytes = data.len),
				       err);
}

/* Writes a file of this machine, or all files of a folder, into the workspace. */
static int env_put_tree(struct fh_env *env, const struct task_file *file, struct fh_error *err)
{
	auto_walk FTS *fts =
			walk_open(file->source, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	const FTSENT *entry;

	if (!fts)
		return error_set(err, errno, "read '%s'", file->source);
	while ((entry = fts_read(fts))) {
		auto_free char *target = xasprintf(
				"%s%s", file->target, entry->fts_path + strlen(file->source));
		int r;

		if (entry->fts_info != FTS_F)
			continue;
		r = env_put_copy(env, entry->fts_path, target, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int env_put_files(struct fh_env *env, const struct task_file *files, size_t n, struct fh_error *err)
{
	for (size_t i = 0; i < n; i++) {
		int r = env_put_tree(env, &files[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}
