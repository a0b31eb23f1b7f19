/* SPDX-License-Identifier: Apache-2.0 */
#include "task/task.h"

#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A larger file counts by its size and time: data may be gigabytes, and this is asked at each
 * start. */
#define WHOLE_BYTES_MAX (16L * 1024 * 1024)

static int hash_add_link(struct sha256 *h, const FTSENT *entry, struct fh_error *err)
{
	char text[PATH_MAX];
	ssize_t n = readlink(entry->fts_accpath, text, sizeof(text) - 1);

	if (n < 0)
		return error_set(err, errno, "read '%s'", entry->fts_path);
	text[n] = '\0';
	sha256_add_str(h, text);
	return 0;
}

static int hash_add_file(struct sha256 *h, const FTSENT *entry, struct fh_error *err)
{
	const struct stat *st = entry->fts_statp;
	char hex[SHA256_HEX_BYTES];
	int r;

	if (st->st_size > WHOLE_BYTES_MAX) {
		sha256_add(h, &st->st_size, sizeof(st->st_size));
		sha256_add(h, &st->st_mtim, sizeof(st->st_mtim));
		return 0;
	}
	r = sha256_file(entry->fts_accpath, hex, err);
	if (r >= 0)
		sha256_add_str(h, hex);
	return r;
}

/* Name, kind, whether it can be run, and contents. */
static int hash_add_entry(
		struct sha256 *h, FTS *fts, FTSENT *entry, size_t skip, struct fh_error *err)
{
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
		sha256_add_str(h, entry->fts_statp->st_mode & S_IXUSR ? "program" : "file");
		sha256_add_str(h, entry->fts_path + skip);
		return hash_add_file(h, entry, err);
	case FTS_SL:
	case FTS_SLNONE:
		sha256_add_str(h, "link");
		sha256_add_str(h, entry->fts_path + skip);
		return hash_add_link(h, entry, err);
	default:
		return error_set(err, entry->fts_errno ? entry->fts_errno : EINVAL, "read '%s'",
				entry->fts_path);
	}
}

static int hash_compare_entries(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* A file, or a folder with all that it holds. */
static int hash_add_tree(struct sha256 *h, const char *path, struct fh_error *err)
{
	char *const paths[] = { (char *)(uintptr_t)path, NULL };
	FTS *fts = fts_open(
			paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, hash_compare_entries);
	FTSENT *entry;
	int r = 0;

	if (!fts)
		return error_set(err, errno, "read '%s'", path);
	while (r >= 0 && (entry = fts_read(fts)))
		r = hash_add_entry(h, fts, entry, strlen(path), err);
	fts_close(fts);
	return r;
}

static int hash_add_files(struct sha256 *h, const char *what, const struct task_file *files,
		size_t n, struct fh_error *err)
{
	int r = 0;

	sha256_add_str(h, what);
	for (size_t i = 0; i < n && r >= 0; i++) {
		sha256_add_str(h, files[i].target);
		r = hash_add_tree(h, files[i].source, err);
	}
	return r;
}

/* What is bound may be the task's own; what is of the machine is in the fingerprint. */
static bool hash_is_own(const struct task *task, const char *path)
{
	return str_starts(path, task->dir) && path[strlen(task->dir)] == '/';
}

int task_hash(const struct task *task, char hex[SHA256_HEX_BYTES], struct fh_error *err)
{
	const char *programs[] = { task->grader.answers, task->grader.program,
		task->grader.player };
	uint8_t digest[SHA256_BYTES];
	struct sha256 h;
	int r;

	sha256_init(&h);
	sha256_add_str(&h, task->id);
	sha256_add_str(&h, task->variant);
	r = hash_add_tree(&h, task->file, err);
	if (r >= 0)
		r = hash_add_files(&h, "starter", task->starter, task->n_starter, err);
	if (r >= 0)
		r = hash_add_files(&h, "data", task->data, task->n_data, err);
	if (r >= 0)
		r = hash_add_files(&h, "hidden", task->hidden, task->n_hidden, err);
	for (size_t i = 0; i < task->n_binds && r >= 0; i++)
		if (hash_is_own(task, task->binds[i].source))
			r = hash_add_tree(&h, task->binds[i].source, err);
	for (size_t i = 0; i < ARRAY_SIZE(programs) && r >= 0; i++) {
		sha256_add_str(&h, programs[i] ? "grader" : NULL);
		if (programs[i])
			r = hash_add_tree(&h, programs[i], err);
	}
	if (r < 0)
		return error_wrap(err, "hash task %s", task->id);
	sha256_end(&h, digest);
	sha256_hex(digest, hex);
	return 0;
}
