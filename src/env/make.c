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
#include <sys/stat.h>
#include <sys/wait.h>

/*
 * Makes generated data sets. A program of the task makes the files. It has no more rights than an
 * agent, because the task may be untrusted. The files are fetched like a submission, into a folder
 * beside the data set's. At the end the folder gets the data set's name. So a data set is complete
 * or missing.
 */

#define PROGRAM_DIR "/make"
#define PROGRAM_PATH "/usr/local/bin:/usr/bin:/bin"
#define MAKE_SHOWN_BYTES 600 /* most output of a failed program to show in the error */

static const struct sandbox_limits make_limits = {
	.memory_bytes = 4LL << 30,
	.pids = 512,
	.disk_bytes = 2LL << 30,
	.disk_files = 200000,
};

/*
 * Limits of a program that lays out fetched data. The data can be much larger, so that it lies on
 * the disk.
 */
static const struct sandbox_limits layout_limits = {
	.memory_bytes = 16LL << 30,
	.pids = 512,
	.disk_bytes = 256LL << 30,
	.disk_files = 1000000,
	.disk_on = DISK_DISK,
};

/* --- the program ------------------------------------------------------------------------------ */

struct make_job {
	struct owner *owner;
	const struct dataset *dataset;
	const struct dataset_make *make;
	struct cancel *cancel; /* request that ends the waiting for the program; NULL: none */
	const char *key;       /* value of the program's variable FUMEHOOD_DATA_KEY; NULL: none */
	const struct sandbox_bind *binds; /* more files that the program sees, besides its own */
	size_t n_binds;
	const char *path; /* the program's environment variable "PATH=..." */
	struct sandbox_limits limits;
};

static struct sandbox_bind make_bind(struct arena *a, const char *path)
{
	return (struct sandbox_bind){ path,
		arena_printf(a, PROGRAM_DIR "/%s", path_basename(path)) };
}

/* Starts `python3 -s -B PROGRAM ARGS...`. */
static int make_start(const struct make_job *job, struct arena *a, struct program *out,
		struct fh_error *err)
{
	const struct dataset_make *make = job->make;
	size_t n_binds = job->n_binds, n_args = 0, n_env = 0;
	struct sandbox_bind *binds =
			arena_array(a, n_binds + 1 + DATASET_MODULES_MAX, sizeof(*binds));
	const char **argv, **env;

	for (size_t i = 0; i < n_binds; i++)
		binds[i] = job->binds[i];
	binds[n_binds++] = make_bind(a, make->program);
	for (const char *const *module = make->modules; *module; module++)
		binds[n_binds++] = make_bind(a, *module);
	while (make->args[n_args])
		n_args++;
	argv = arena_array(a, n_args + 5, sizeof(*argv));
	memcpy(argv, (const char *[]){ "python3", "-s", "-B", binds[job->n_binds].target },
			4 * sizeof(*argv));
	memcpy(argv + 4, make->args, n_args * sizeof(*argv));
	env = arena_array(a, 6, sizeof(*env));
	env[n_env++] = job->path;
	env[n_env++] = "HOME=" GUEST_HOME;
	env[n_env++] = "LANG=C.UTF-8";
	/* Fix Python's hash seed, so that a program makes the same files for the same key. */
	env[n_env++] = "PYTHONHASHSEED=0";
	if (job->key)
		env[n_env++] = arena_printf(a, "FUMEHOOD_DATA_KEY=%s", job->key);
	return program_start(out, job->owner,
			&(struct program_plan){
					.sandbox = { .binds = binds,
							.n_binds = n_binds,
							.limits = job->limits },
					.argv = argv,
					.env = env,
					.cwd = GUEST_HOME,
					.streams = { PROGRAM_NOTHING, PROGRAM_LOG, PROGRAM_LOG },
					.n_streams = 3,
					.cancel = job->cancel,
					.keep_sandbox = true,
			},
			err);
}

static int make_check_end(const struct program *p, struct fh_error *err)
{
	/* Show the end of the output, which mostly holds the reason. */
	size_t skip = p->log.len > MAKE_SHOWN_BYTES ? p->log.len - MAKE_SHOWN_BYTES : 0;
	auto_buf struct buf text = BUF_INIT(8 * MAKE_SHOWN_BYTES);
	bool killed = WIFSIGNALED(p->status);

	if (p->state == PROGRAM_BROKEN)
		return error_say(err, -p->err.code, "%s", p->err.message);
	if (p->out_of_memory)
		return error_say_kind(err, FH_ERROR_INTERNAL, ENOMEM,
				"was ended for using too much memory");
	if (p->status == 0)
		return 0;
	str_add_utf8(&text, buf_str(&p->log) + skip, p->log.len - skip);
	return error_say_kind(err, FH_ERROR_INTERNAL, EIO, "%s %d: %s",
			killed ? "was ended by signal" : "ended with status",
			killed ? WTERMSIG(p->status) : WEXITSTATUS(p->status), buf_str(&text));
}

/* --- its files -------------------------------------------------------------------------------- */

/*
 * Copies a file out of the sandbox. All files together may be as large as the program's disk limit.
 * Lengths count, holes included: a sparse file takes no disk, but readers see its whole length.
 */
static int make_keep_file(struct sandbox *sb, const char *folder, const char *path,
		int64_t *left_bytes, int64_t limit_bytes, struct fh_error *err)
{
	auto_free char *target = path_join(folder, path);
	auto_free char *dir = path_dirname(target);
	struct sandbox_answer answer = { .fd = -1 };
	auto_close int from = -1, to = -1;
	struct stat st;
	uint32_t id;
	int r = sandbox_get_begin(sb, GUEST_HOME, path, *left_bytes, &id, err);

	if (r < 0)
		return error_wrap(err, "take over '%s'", path);
	r = sandbox_await(sb, id, &answer, err);
	from = answer.fd;
	if (r == -EFBIG)
		return error_say(err, EFBIG,
				"the files up to '%s' have more than %lld bytes together", path,
				(long long)limit_bytes);
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
	/* Sync the file, so that a crash leaves no cut file. Later uses of the data set check only
	 * that its folder exists. */
	if (fchmod(to, 0644) < 0 || fsync(to) < 0)
		return error_set(err, errno, "write '%s'", target);
	return 0;
}

static int make_keep_files(const struct make_job *job, struct sandbox *sb, const char *folder,
		struct fh_error *err)
{
	const struct dataset *dataset = job->dataset;
	int64_t left_bytes = job->limits.disk_bytes;

	if (mkdir(folder, 0700) < 0)
		return error_set(err, errno, "make folder '%s'", folder);
	for (size_t i = 0; i < dataset->n_files; i++) {
		int r = make_keep_file(sb, folder, dataset->files[i].path, &left_bytes,
				job->limits.disk_bytes, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int make_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

/* --- one data set ----------------------------------------------------------------------------- */

/* Waits for the started program to end, and copies its files into the new folder `folder`. */
static int make_run(const struct make_job *job, struct program *p, const char *folder,
		struct fh_error *err)
{
	const char *name = path_basename(job->make->program);
	int r = program_wait(p, job->make->timeout_ms, err);

	if (r < 0)
		return error_wrap(err, "%s", name);
	r = make_check_end(p, err);
	if (r < 0)
		return error_wrap(err, "%s", name);
	return make_keep_files(job, p->sb, folder, err);
}

static int make_play(const struct make_job *job, const char *folder, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct program program;
	int r;

	/* Remove a folder that a killed process has left. */
	nftw(folder, make_remove_one, 16, FTW_PHYS | FTW_DEPTH);
	r = make_start(job, &arena, &program, err);
	if (r < 0)
		return r;
	r = make_run(job, &program, folder, err);
	program_release(&program);
	if (r < 0)
		nftw(folder, make_remove_one, 16, FTW_PHYS | FTW_DEPTH);
	return r;
}

/* Binds a Python environment into the sandbox of the job's program. `binds` has room for its binds
 * after the job's own. */
static void make_use_python(struct make_job *job, struct arena *a, const struct python_env *python,
		struct sandbox_bind *binds)
{
	job->path = python->dir ? python_env_path(a, python->dir, PROGRAM_PATH)
				: "PATH=" PROGRAM_PATH;
	for (size_t i = 0; i < python->n_binds; i++)
		binds[job->n_binds++] = python->binds[i];
	job->binds = binds;
}

static int make_one(struct owner *owner, const struct secret *secret, const struct dataset *dataset,
		const struct python_env *python, struct cancel *cancel, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	auto_free char *dir = path_dirname(dataset->dir);
	auto_free char *folder = xasprintf("%s.part", dataset->dir);
	auto_close int lock = -1;
	char key[SHA256_HEX_BYTES];
	struct sandbox_bind binds[PYTHON_BINDS_MAX];
	struct make_job job = {
		.owner = owner,
		.dataset = dataset,
		.make = dataset->make,
		.key = key,
		.cancel = cancel,
		.limits = make_limits,
	};
	int r = path_mkdirs(dir, 0700, err);

	if (r < 0)
		return r;
	lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0)
		return error_set(err, errno, "open '%s'", dir);
	r = cancel_lock_file(cancel, lock, dir, err);
	if (r < 0)
		return r;
	if (dataset_is_there(dataset))
		return 0;
	secret_key(secret, "data", dataset->store, dataset->make->recipe, key);
	make_use_python(&job, &arena, python, binds);
	r = make_play(&job, folder, err);
	if (r < 0)
		return r;
	if (rename(folder, dataset->dir) < 0)
		return error_set(err, errno, "rename '%s' to '%s'", folder, dataset->dir);
	return 0;
}

int make_data(struct owner *owner, const struct secret *secret, const struct task *task,
		const struct python_env *python, struct cancel *cancel, struct fh_error *err)
{
	for (size_t i = 0; i < task->n_datasets; i++) {
		const struct dataset *dataset = &task->datasets[i];

		if (!dataset_is_there(dataset) &&
				make_one(owner, secret, dataset, python, cancel, err) < 0)
			return error_wrap(err, "make data set '%s'", dataset->id);
	}
	return 0;
}

/* --- a data set's files, made from fetched ones ----------------------------------------------- */

static int make_move_files(const struct dataset *dataset, const char *folder, struct fh_error *err)
{
	for (size_t i = 0; i < dataset->n_files; i++) {
		const struct dataset_file *file = &dataset->files[i];
		auto_free char *from = path_join(folder, file->path);
		auto_free char *dir = path_dirname(file->source);
		int r = path_mkdirs(dir, 0700, err);

		if (r < 0)
			return r;
		if (rename(from, file->source) < 0)
			return error_set(err, errno, "rename '%s' to '%s'", from, file->source);
	}
	nftw(folder, make_remove_one, 16, FTW_PHYS | FTW_DEPTH);
	return 0;
}

int make_layout(struct owner *owner, const struct dataset *dataset, const struct python_env *python,
		struct fh_error *err)
{
	auto_free char *folder = xasprintf("%s.part", dataset->dir);
	auto_free char *parent = path_dirname(dataset->dir);
	auto_arena struct arena arena = ARENA_INIT;
	struct sandbox_bind binds[PYTHON_BINDS_MAX + 1] = { { dataset->fetched, "/fetched" } };
	struct make_job job = {
		.owner = owner,
		.dataset = dataset,
		.make = dataset->layout,
		.n_binds = 1,
		.limits = layout_limits,
	};
	int r = path_mkdirs(parent, 0700, err);

	if (r < 0)
		return r;
	make_use_python(&job, &arena, python, binds);
	r = make_play(&job, folder, err);
	return r < 0 ? r : make_move_files(dataset, folder, err);
}
