/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fd.h"
#include "base/path.h"
#include "base/scope.h"
#include "guest/files.h"
#include "guest/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Layers: starting files, copied once from the owner's folders into the nursery's tree. The owner's
 * files are trusted. Copies keep no mode bit but "executable". The copies belong to the agent.
 * Read-only copies belong to root: the agent may delete or replace them, but not write to them.
 *
 * With `folders_only`, a layer has copies of a host folder's subfolders, but no files. An overlay
 * that makes the host's folder writable has this layer above the folder. The owner of the host's
 * files has no id in a sandbox. Without the copies nobody could write to the folders. Folders that
 * other users may not read are left out.
 */

#define LAYER_DEPTH_MAX 64

struct layer_way {
	id_t owner;
	mode_t mask;   /* mode bits to remove from the copy of a file */
	bool keep_ids; /* copies keep owner, group and mode of the copied files */
	bool folders_only;
};

static int layer_copy_tree(
		int from, int to, const struct layer_way *how, int depth, struct fh_error *err);

static int layer_give(
		int folder, const char *name, const struct stat *st, const struct layer_way *how)
{
	uid_t uid = how->keep_ids ? st->st_uid : how->owner;
	gid_t gid = how->keep_ids ? st->st_gid : how->owner;

	return fchownat(folder, name, uid, gid, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int layer_copy_file(int from_dir, const char *from_name, int to_dir, const char *name,
		const struct stat *st, const struct layer_way *how)
{
	auto_close int from = openat(from_dir, from_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	auto_close int to = -1;
	mode_t mode = (st->st_mode & 0111 ? 0755 : 0644) & ~how->mask;
	int r;

	if (from < 0)
		return -errno;
	unlinkat(to_dir, name, 0);
	to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (to < 0)
		return -errno;
	r = fd_copy(from, to);
	if (r < 0)
		return r;
	r = layer_give(to_dir, name, st, how);
	if (r < 0)
		return r;
	return fchmod(to, how->keep_ids ? st->st_mode & 0777 : mode) < 0 ? -errno : 0;
}

static int layer_copy_link(int from_dir, const char *from_name, int to_dir, const char *name,
		const struct stat *st, const struct layer_way *how)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from_dir, from_name, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	unlinkat(to_dir, name, 0);
	if (symlinkat(target, to_dir, name) < 0)
		return -errno;
	return layer_give(to_dir, name, st, how);
}

static int layer_copy_folder(int from_dir, const char *from_name, int to_dir, const char *name,
		const struct stat *st, const struct layer_way *how, int depth, struct fh_error *err)
{
	auto_close int from = openat(from_dir, from_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_close int to = -1;
	struct layer_way folder_how = *how;

	if (from < 0)
		return error_set(err, errno, "open '%s'", from_name);
	if (mkdirat(to_dir, name, 0755) < 0 && errno != EEXIST)
		return error_set(err, errno, "make folder '%s'", name);
	to = openat(to_dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (to < 0)
		return error_set(err, errno, "open folder '%s'", name);
	/* Give copied folders to the agent, even if the files belong to root. */
	folder_how.owner = NURSERY_ID(GUEST_AGENT_ID);
	layer_give(to_dir, name, st, &folder_how);
	if (how->keep_ids && fchmod(to, st->st_mode & 0777) < 0)
		return error_set(err, errno, "set the mode of '%s'", name);
	return layer_copy_tree(from, to, how, depth + 1, err);
}

static int layer_copy_any(int from_dir, const char *from_name, int to_dir, const char *name,
		const struct layer_way *how, int depth, struct fh_error *err)
{
	struct stat st;
	int r = 0;

	if (fstatat(from_dir, from_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return error_set(err, errno, "look at '%s'", from_name);
	if (how->folders_only && (!S_ISDIR(st.st_mode) || (st.st_mode & 05) != 05))
		return 0;
	if (S_ISDIR(st.st_mode))
		return layer_copy_folder(from_dir, from_name, to_dir, name, &st, how, depth, err);
	if (S_ISREG(st.st_mode))
		r = layer_copy_file(from_dir, from_name, to_dir, name, &st, how);
	else if (S_ISLNK(st.st_mode))
		r = layer_copy_link(from_dir, from_name, to_dir, name, &st, how);
	return r < 0 ? error_set(err, -r, "copy '%s'", from_name) : 0;
}

static int layer_copy_tree(
		int from, int to, const struct layer_way *how, int depth, struct fh_error *err)
{
	auto_dir DIR *dir = NULL;
	struct dirent *e;
	int copy;

	if (depth > LAYER_DEPTH_MAX)
		return error_say(err, ELOOP, "folders nest deeper than %d", LAYER_DEPTH_MAX);
	copy = fcntl(from, F_DUPFD_CLOEXEC, 3);
	dir = copy < 0 ? NULL : fdopendir(copy);
	if (!dir)
		return error_set(err, errno, "read a folder");
	while ((e = readdir(dir))) {
		bool folder = e->d_type == DT_DIR || e->d_type == DT_UNKNOWN;
		int r;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
				(how->folders_only && !folder))
			continue;
		r = layer_copy_any(from, e->d_name, to, e->d_name, how, depth, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int layer_copy_entry(int to, const struct layer_entry *entry, struct fh_error *err)
{
	struct layer_way how = { .owner = NURSERY_ID(entry->read_only ? 0 : GUEST_AGENT_ID),
		.mask = entry->read_only ? 0222 : 0,
		.folders_only = entry->folders_only };
	const id_t agent = NURSERY_ID(GUEST_AGENT_ID);
	const char *name;
	auto_close int dir = -1, from = -1;

	if (entry->folders_only) {
		from = open(entry->source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (from < 0)
			return error_set(err, errno, "open '%s'", entry->source);
		return layer_copy_tree(from, to, &how, 0, err);
	}
	dir = files_make_folders(to, entry->target, agent);
	if (dir < 0)
		return error_set(err, -dir, "make the folders of '%s'", entry->target);
	name = path_basename(entry->target);
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return error_say(err, EINVAL, "'%s' can't be a path in a layer", entry->target);
	if (entry->source)
		return layer_copy_any(AT_FDCWD, entry->source, dir, name, &how, 0, err);
	if (mkdirat(dir, name, 0755) < 0 && errno != EEXIST)
		return error_set(err, errno, "make folder '%s'", entry->target);
	if (fchownat(dir, name, agent, agent, AT_SYMLINK_NOFOLLOW) < 0)
		return error_set(err, errno, "give '%s' to the agent", entry->target);
	return 0;
}

int layer_copy(int to, const struct layer *layer, struct fh_error *err)
{
	for (uint32_t i = 0; i < layer->n_entries; i++) {
		int r = layer_copy_entry(to, &layer->entries[i], err);

		if (r < 0)
			return error_wrap(err, "layer '%s'", layer->name);
	}
	return 0;
}

int layer_clone(int from, int to, struct fh_error *err)
{
	return layer_copy_tree(from, to, &(struct layer_way){ .keep_ids = true }, 0, err);
}
