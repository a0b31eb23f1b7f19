/* SPDX-License-Identifier: Apache-2.0 */
#include "env/make.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "grade/program.h"
#include "inside/places.h"
#include "task/dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

/*
 * Makes generated data sets. A program of the task makes the files. It has no more rights than an
 * agent, because the task may be untrusted. The files are fetched like a submission, into a folder
 * beside the data set's. At the end the folder gets the data set's name. So a data set is complete
 * or missing.
 */
#define PROGRAM_DIR "/make"
#define SHOWN_BYTES 600 /* most output of a failed program to show in the error */

static const struct sandbox_limits make_limits = {
	.memory_bytes = 4LL << 30,
	.pids = 512,
	.disk_bytes = 2LL << 30,
	.disk_files = 200000,
};

/* --- the program ------------------------------------------------------------------------------ */

static int make_start(struct owner *owner, const struct secret *secret,
		const struct dataset *dataset, struct arena *a, struct program *out,
		struct fh_error *err)
{
	const struct dataset_make *make = dataset->make;
	struct sandbox_bind *bind = arena_alloc(a, sizeof(*bind));
	const char *target = arena_printf(a, PROGRAM_DIR "/%s", path_basename(make->program));
	char key[SHA256_HEX_BYTES];
	const char **argv, **env;
	size_t n_args = 0;

	*bind = (struct sandbox_bind){ make->program, target };
	while (make->args[n_args])
		n_args++;
	argv = arena_array(a, n_args + 5, sizeof(*argv));
	memcpy(argv, (const char *[]){ "python3", "-s", "-B", target }, 4 * sizeof(*argv));
	memcpy(argv + 4, make->args, n_args * sizeof(*argv));
	secret_key(secret, "data", dataset->store, make->recipe, key);
	env = arena_array(a, 6, sizeof(*env));
	env[0] = "PATH=/usr/local/bin:/usr/bin:/bin";
	env[1] = "HOME=" GUEST_HOME;
	env[2] = "LANG=C.UTF-8";
	/* A fixed hash seed, so that the same key gives the same files. */
	env[3] = "PYTHONHASHSEED=0";
	env[4] = arena_printf(a, "FUMEHOOD_DATA_KEY=%s", key);
	return program_start(out, owner,
			&(struct program_plan){
					.sandbox = { .binds = bind,
							.n_binds = 1,
							.limits = make_limits },
					.argv = argv,
					.env = env,
					.cwd = GUEST_HOME,
					.streams = { PROGRAM_NOTHING, PROGRAM_LOG, PROGRAM_LOG },
					.n_streams = 3,
					.keep_sandbox = true,
			},
			err);
}

static int make_check_end(const struct program *p, struct fh_error *err)
{
	/* Show the end of the output, which mostly holds the reason. */
	size_t skip = p->log.len > SHOWN_BYTES ? p->log.len - SHOWN_BYTES : 0;
	auto_buf struct buf text = BUF_INIT(8 * SHOWN_BYTES);
	bool killed = WIFSIGNALED(p->status);

	if (p->state == PROGRAM_BROKEN)
		return error_say(err, -p->err.code, "%s", p->err.message);
	if (p->out_of_memory)
		return error_say(err, ENOMEM, "was ended for using too much memory");
	if (p->status == 0)
		return 0;
	str_add_utf8(&text, buf_str(&p->log) + skip, p->log.len - skip);
	return error_say(err, EIO, "%s %d: %s",
			killed ? "was ended by signal" : "ended with status",
			killed ? WTERMSIG(p->status) : WEXITSTATUS(p->status), buf_str(&text));
}

/* --- its files -------------------------------------------------------------------------------- */

/*
 * Copies a file out of the sandbox. All files together may be as large as the program's disk limit.
 * Lengths count, holes included: a sparse file takes no disk, but readers see its whole length.
 */
static int make_keep_file(struct sandbox *sb, const char *folder, const char *path,
		int64_t *left_bytes, struct fh_error *err)
{
	auto_free char *target = path_join(folder, path);
	auto_free char *dir = path_dirname(target);
	auto_close int from = -1, to = -1;
	struct stat st;
	int r = sandbox_get(sb, GUEST_HOME, path, *left_bytes, &from, err);

	if (r == -EFBIG)
		return error_say(err, EFBIG,
				"its files have more than %lld bytes together, with '%s'",
				(long long)make_limits.disk_bytes, path);
	if (r < 0)
		return error_wrap(err, "take over '%s'", path);
	r = path_mkdirs(dir, 0755, err);
	if (r < 0)
		return error_wrap(err, "take over '%s'", path);
	/* Let all users read the file: sandboxes run as other users. */
	to = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (to < 0)
		return error_set(err, errno, "create '%s'", target);
	if (fstat(from, &st) < 0)
		return error_set(err, errno, "look at the copy of '%s'", path);
	*left_bytes -= st.st_size;
	r = fd_copy_sparse(from, to, st.st_size);
	if (r < 0)
		return error_set(err, -r, "write '%s'", target);
	/* Sync the file: the data set is never checked again. */
	if (fchmod(to, 0644) < 0 || fsync(to) < 0)
		return error_set(err, errno, "write '%s'", target);
	return 0;
}

static int make_keep_files(struct sandbox *sb, const struct dataset *dataset, const char *folder,
		struct fh_error *err)
{
	int64_t left_bytes = make_limits.disk_bytes;

	if (mkdir(folder, 0700) < 0)
		return error_set(err, errno, "make folder '%s'", folder);
	for (size_t i = 0; i < dataset->n_files; i++) {
		int r = make_keep_file(sb, folder, dataset->files[i].path, &left_bytes, err);

		if (r < 0)
			return r;
	}
	if (rename(folder, dataset->dir) < 0)
		return error_set(err, errno, "rename '%s' to '%s'", folder, dataset->dir);
	return 0;
}

static int make_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

/* --- one data set ----------------------------------------------------------------------------- */

static int make_take(struct program *p, const struct dataset *dataset, struct fh_error *err)
{
	auto_free char *folder = xasprintf("%s.part", dataset->dir);
	int r;

	/* Remove a folder that a killed process has left. */
	nftw(folder, make_remove_one, 16, FTW_PHYS | FTW_DEPTH);
	r = program_wait(p, dataset->make->timeout_ms, err);
	if (r < 0)
		return error_wrap(err, "%s", path_basename(dataset->make->program));
	r = make_check_end(p, err);
	if (r < 0)
		return error_wrap(err, "%s", path_basename(dataset->make->program));
	r = make_keep_files(p->sb, dataset, folder, err);
	if (r < 0)
		nftw(folder, make_remove_one, 16, FTW_PHYS | FTW_DEPTH);
	return r;
}

static int make_one(struct owner *owner, const struct secret *secret, const struct dataset *dataset,
		struct fh_error *err)
{
	auto_free char *dir = path_dirname(dataset->dir);
	auto_arena struct arena arena = ARENA_INIT;
	auto_close int lock = -1;
	struct program program;
	int r = path_mkdirs(dir, 0700, err);

	if (r < 0)
		return r;
	lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0)
		return error_set(err, errno, "open '%s'", dir);
	if (TEMP_FAILURE_RETRY(flock(lock, LOCK_EX)) < 0)
		return error_set(err, errno, "lock '%s'", dir);
	if (dataset_is_there(dataset))
		return 0;
	r = make_start(owner, secret, dataset, &arena, &program, err);
	if (r < 0)
		return r;
	r = make_take(&program, dataset, err);
	program_release(&program);
	return r;
}

int make_data(struct owner *owner, const struct secret *secret, const struct task *task,
		struct fh_error *err)
{
	for (size_t i = 0; i < task->n_datasets; i++) {
		const struct dataset *dataset = &task->datasets[i];

		if (!dataset_is_there(dataset) && make_one(owner, secret, dataset, err) < 0)
			return error_wrap(err, "make data set '%s'", dataset->id);
	}
	return 0;
}
