/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/export.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "trajectory/run_dir.h"

#include <errno.h>

/* MLGym's files, from what export.c has read. */

char *export_traj_name(const char *task, const char *variant)
{
	auto_free char *id = xasprintf("%s%s%s", task, *variant ? "-" : "", variant);
	auto_free char *part = run_dir_part(id);

	return xasprintf("%s.traj", part);
}

static int write_file(
		const char *dir, const char *name, const struct buf *data, struct fh_error *err)
{
	auto_free char *path = path_join(dir, name);

	if (data->truncated)
		return error_say(
				err, EFBIG, "'%s' would be larger than %zu bytes", path, data->cap);
	return fd_write_file(path, buf_str(data), data->len, 0666, err);
}

int export_write(const char *dir, const struct exported *e, struct fh_error *err)
{
	auto_buf struct buf out = BUF_INIT(TRAJ_BYTES_MAX);
	int r;

	traj_write(&out, e->traj);
	r = write_file(dir, e->traj_name, &out, err);
	if (r < 0)
		return r;
	buf_clear(&out);
	traj_write_results(&out, e->traj, e->baseline);
	return write_file(dir, EXPORT_RESULTS, &out, err);
}

int export_traj(const char *path, struct traj **out, struct fh_error *err)
{
	struct exported e = { 0 };
	int r;

	if (!path_is_dir(path))
		return traj_read(path, out, err);
	r = export_read(path, &e, err);
	if (r == 0)
		*out = take_ptr(e.traj);
	export_release(&e);
	return r;
}

int export_run(const char *dir, struct fh_error *err)
{
	__attribute__((cleanup(export_release))) struct exported e = { 0 };
	int r = export_read(dir, &e, err);

	return r < 0 ? r : export_write(dir, &e, err);
}
