/* SPDX-License-Identifier: Apache-2.0 */
#include "report/find.h"

#include "base/scope.h"
#include "base/str.h"
#include "trajectory/export.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Files of one folder that may be records. */
struct find_folder {
	bool events, results;
	const char **trajs;
	size_t n_trajs;
	const char **folders;
	size_t n_folders;
};

bool found_is_policy(const char *name)
{
	const char *at = strstr(name, "_pi");

	return at && at[3] >= '0' && at[3] <= '9' && str_ends(name, ".json");
}

static void find_add_name(struct arena *a, const char ***names, size_t *n, const char *name)
{
	*names = arena_grow(a, *names, *n, sizeof(**names));
	(*names)[(*n)++] = arena_strdup(a, name);
}

static bool find_is_folder(DIR *dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISDIR(st.st_mode);
}

static void find_read_names(struct arena *a, DIR *dir, struct find_folder *f)
{
	const struct dirent *entry;

	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (*name == '.')
			continue;
		if (str_eq(name, EXPORT_EVENTS))
			f->events = true;
		else if (str_eq(name, EXPORT_RESULTS))
			f->results = true;
		else if (str_ends(name, ".traj") || found_is_policy(name))
			find_add_name(a, &f->trajs, &f->n_trajs, name);
		else if (find_is_folder(dir, entry))
			find_add_name(a, &f->folders, &f->n_folders, name);
	}
}

static void find_add_stamp(struct buf *out, DIR *dir, const char *name)
{
	struct stat st;

	if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		buf_printf(out, "%lld.%09ld %lld;", (long long)st.st_mtim.tv_sec,
				st.st_mtim.tv_nsec, (long long)st.st_size);
}

static void find_add(struct arena *a, struct found_records *out, DIR *dir, const char *path,
		const char *name, bool results)
{
	char text[128];
	auto_buf struct buf stamp = BUF_INIT(sizeof(text));

	if (out->n >= FOUND_RECORDS_MAX)
		return;
	find_add_stamp(&stamp, dir, name);
	if (results)
		find_add_stamp(&stamp, dir, EXPORT_RESULTS);
	out->items = arena_grow(a, out->items, out->n, sizeof(*out->items));
	out->items[out->n++] = (struct found_record){
		.path = arena_printf(a, "%s/%s", path, name),
		.stamp = arena_strdup(a, buf_str(&stamp)),
	};
}

static int find_beneath(struct arena *a, const char *path, int depth, struct found_records *out,
		struct fh_error *err)
{
	auto_arena struct arena own = ARENA_INIT;
	struct find_folder f = { 0 };
	auto_dir DIR *dir = opendir(path);

	if (!dir)
		return depth ? 0 : error_set(err, errno, "open folder '%s'", path);
	find_read_names(&own, dir, &f);
	if (f.events)
		find_add(a, out, dir, path, EXPORT_EVENTS, false);
	else if (f.n_trajs)
		for (size_t i = 0; i < f.n_trajs; i++)
			find_add(a, out, dir, path, f.trajs[i], f.results);
	else if (f.results)
		find_add(a, out, dir, path, EXPORT_RESULTS, false);
	if (depth == FOUND_DEPTH_MAX)
		return 0;
	for (size_t i = 0; i < f.n_folders; i++) {
		const char *folder = arena_printf(&own, "%s/%s", path, f.folders[i]);

		find_beneath(a, folder, depth + 1, out, NULL);
	}
	return 0;
}

static int find_compare(const void *a, const void *b)
{
	const struct found_record *x = a, *y = b;

	return strcmp(x->path, y->path);
}

int found_records_read(struct arena *a, const char *dir, const char *salt,
		struct found_records *out, struct fh_error *err)
{
	int r = find_beneath(a, dir, 0, out, err);

	if (r < 0)
		return r;
	for (size_t i = 0; *salt && i < out->n; i++)
		out->items[i].stamp = arena_printf(a, "%s%s", out->items[i].stamp, salt);
	if (out->n)
		qsort(out->items, out->n, sizeof(*out->items), find_compare);
	return 0;
}
