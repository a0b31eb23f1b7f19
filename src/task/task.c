/* SPDX-License-Identifier: Apache-2.0 */
#include "task/task.h"

#include "base/places.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/walk.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Largest size in bytes of a file whose contents are hashed. For a larger one, size and time are
 * hashed instead. Data may have gigabytes, and each start of an episode computes the task's
 * hash. */
#define WHOLE_BYTES_MAX (16L * 1024 * 1024)

/* Adds one file, folder or link to a hash: path, kind, contents, and whether it is executable. */
static int task_hash_add_entry(
		struct sha256 *h, FTS *fts, FTSENT *entry, size_t skip, struct fh_error *err)
{
	const struct stat *st = entry->fts_statp;
	char hex[SHA256_HEX_BYTES], link[PATH_MAX];
	ssize_t n;
	int r;

	switch (entry->fts_info) {
	case FTS_DP:
		return 0;
	case FTS_D:
		if (str_eq(entry->fts_name, "__pycache__"))
			return fts_set(fts, entry, FTS_SKIP);
		sha256_add_str(h, "folder");
		sha256_add_str(h, entry->fts_path + skip);
		return 0;
	case FTS_F:
		sha256_add_str(h, st->st_mode & S_IXUSR ? "program" : "file");
		sha256_add_str(h, entry->fts_path + skip);
		if (st->st_size > WHOLE_BYTES_MAX) {
			sha256_add(h, &st->st_size, sizeof(st->st_size));
			sha256_add(h, &st->st_mtim, sizeof(st->st_mtim));
			return 0;
		}
		r = sha256_file(entry->fts_accpath, hex, err);
		if (r < 0)
			return r;
		sha256_add_str(h, hex);
		return 0;
	case FTS_SL:
	case FTS_SLNONE:
		sha256_add_str(h, "link");
		sha256_add_str(h, entry->fts_path + skip);
		n = readlink(entry->fts_accpath, link, sizeof(link) - 1);
		if (n < 0)
			return error_set(err, errno, "read '%s'", entry->fts_path);
		link[n] = '\0';
		sha256_add_str(h, link);
		return 0;
	default:
		return error_set(err, entry->fts_errno ? entry->fts_errno : EINVAL, "read '%s'",
				entry->fts_path);
	}
}

static int task_hash_compare_entries(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Adds a file, or a folder with all its contents, to a hash. */
static int task_hash_add_tree(struct sha256 *h, const char *path, struct fh_error *err)
{
	auto_walk FTS *fts = walk_open(path, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR,
			task_hash_compare_entries);
	FTSENT *entry;

	if (!fts)
		return error_set(err, errno, "read '%s'", path);
	while ((entry = fts_read(fts))) {
		int r = task_hash_add_entry(h, fts, entry, strlen(path), err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int task_hash_add_files(struct sha256 *h, const char *what, const struct task_file *files,
		size_t n, struct fh_error *err)
{
	sha256_add_str(h, what);
	for (size_t i = 0; i < n; i++) {
		int r;

		sha256_add_str(h, files[i].target);
		r = task_hash_add_tree(h, files[i].source, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int task_hash_add_task(struct sha256 *h, const struct task *task, struct fh_error *err)
{
	const char *programs[] = { task->grader.answers, task->grader.program,
		task->grader.player };
	size_t dir = strlen(task->dir);
	int r = task_hash_add_tree(h, task->file, err);

	if (r < 0)
		return r;
	r = task_hash_add_files(h, "starter", task->starter, task->n_starter, err);
	if (r < 0)
		return r;
	r = task_hash_add_files(h, "data", task->data, task->n_data, err);
	if (r < 0)
		return r;
	r = task_hash_add_files(h, "hidden", task->hidden, task->n_hidden, err);
	if (r < 0)
		return r;
	if (task->n_baseline_files) {
		r = task_hash_add_files(
				h, "baseline", task->baseline_files, task->n_baseline_files, err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < task->n_binds; i++) {
		const char *source = task->binds[i].source;

		/*
		 * Leave binds of files outside the task's folder out of the task's hash: the
		 * machine's fingerprint includes them (env/fingerprint.h).
		 */
		if (!str_starts(source, task->dir) || source[dir] != '/')
			continue;
		r = task_hash_add_tree(h, source, err);
		if (r < 0)
			return r;
	}
	if (task->simulators) {
		r = task_hash_add_tree(h, places_get()->simulators, err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		sha256_add_str(h, programs[i] ? "grader" : NULL);
		r = programs[i] ? task_hash_add_tree(h, programs[i], err) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

int task_hash(const struct task *task, char hex[SHA256_HEX_BYTES], struct fh_error *err)
{
	struct sha256 h;

	sha256_init(&h);
	sha256_add_str(&h, task->id);
	sha256_add_str(&h, task->variant);
	if (task->data_seed)
		sha256_add(&h, &task->data_seed, sizeof(task->data_seed));
	if (task_hash_add_task(&h, task, err) < 0)
		return error_wrap(err, "hash task %s", task->id);
	sha256_end_hex(&h, hex);
	return 0;
}

void task_free(struct task *task)
{
	if (task)
		arena_release(&task->arena);
	free(task);
}
