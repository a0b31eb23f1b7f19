/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/export_files.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#define EXPORT_NAMES_BYTES_MAX 1000

/* Writes MLGym's files of a run from a `struct exported`. */

static int export_write_file(
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
	r = export_write_file(dir, e->traj_name, &out, err);
	if (r < 0)
		return r;
	buf_clear(&out);
	traj_write_results(&out, e->traj,
			&(struct traj_results){ .baseline = e->baseline,
					.final = e->final,
					.policy_step = e->policy_step,
					.numbers = e->numbers });
	return export_write_file(dir, EXPORT_RESULTS, &out, err);
}

static int export_is_traj(const struct dirent *entry)
{
	return str_ends(entry->d_name, ".traj");
}

static int export_no_single_traj(
		const char *dir, struct dirent *const *found, int n, struct fh_error *err)
{
	auto_buf struct buf names = BUF_INIT(EXPORT_NAMES_BYTES_MAX);

	if (!n)
		return error_say(err, ENOENT,
				"there is neither '" EXPORT_EVENTS
				"' nor a .traj in '%s': name the "
				"folder of a single run",
				dir);
	for (int i = 0; i < n; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", found[i]->d_name);
	return error_say(err, EINVAL, "there are several .traj in '%s': %s%s", dir, buf_str(&names),
			names.truncated ? ", ..." : "");
}

/* Finds a file in a folder whose content is untrusted. Refuses a symbolic link. */
static int export_take_plain(const char *dir, const char *name, char **out, struct fh_error *err)
{
	auto_free char *path = path_join(dir, name);
	auto_close int fd = fd_open_plain(path, err);

	if (fd < 0)
		return fd;
	*out = take_ptr(path);
	return 0;
}

int export_record(const char *path, char **out, struct fh_error *err)
{
	auto_free char *events = path_join(path, EXPORT_EVENTS);
	struct dirent **found;
	int n, r = 0;

	if (str_eq(path_basename(path), EXPORT_EVENTS) && path_exists(path)) {
		*out = path_dirname(path);
		return 0;
	}
	if (!path_is_dir(path) || path_exists(events)) {
		*out = xstrdup(path);
		return 0;
	}
	n = scandir(path, &found, export_is_traj, alphasort);
	if (n < 0)
		return error_set(err, errno, "list '%s'", path);
	if (n == 1)
		r = export_take_plain(path, found[0]->d_name, out, err);
	else
		r = export_no_single_traj(path, found, n, err);
	while (n)
		free(found[--n]);
	free(found);
	return r;
}

int export_traj(const char *path, struct traj **out, struct fh_error *err)
{
	auto_free char *record = NULL;
	struct exported e = { 0 };
	int r = export_record(path, &record, err);

	if (r < 0)
		return r;
	if (!path_is_dir(record))
		return traj_read(record, out, err);
	r = export_read(record, &e, err);
	if (r < 0)
		return r;
	*out = take_ptr(e.traj);
	export_release(&e);
	return 0;
}

int export_run(const char *dir, struct fh_error *err)
{
	__attribute__((cleanup(export_release))) struct exported e = { 0 };
	int r = export_read(dir, &e, err);

	return r < 0 ? r : export_write(dir, &e, err);
}
