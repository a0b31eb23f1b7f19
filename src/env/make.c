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
 * The program runs as an agent would, so that what a task brings can do no more here than an agent.
 * What it has written is fetched as a submission is, into a folder beside the one to be, which then
 * takes its name: the data set is there as a whole or not at all.
 */
#define PROGRAM_DIR "/make"
#define SHOWN_BYTES 600 /* of what a program that failed has printed */

static const struct sandbox_limits limits = {
	.memory_bytes = 4LL << 30,
	.pids = 512,
	.disk_bytes = 2LL << 30,
	.disk_files = 200000,
};

/* --- the program ------------------------------------------------------------------------------ */

static const char *const *make_argv(struct arena *a, const char *program, const char *const *args)
{
	static const char *const python[] = { "python3", "-s", "-B" };
	const char **argv;
	size_t n_args = 0;

	while (args[n_args])
		n_args++;
	argv = arena_array(a, ARRAY_SIZE(python) + n_args + 2, sizeof(*argv));
	memcpy(argv, python, sizeof(python));
	argv[ARRAY_SIZE(python)] = program;
	memcpy(argv + ARRAY_SIZE(python) + 1, args, n_args * sizeof(*args));
	return argv;
}

static const char *const *make_env(
		struct arena *a, const struct secret *secret, const struct dataset *dataset)
{
	const char **env = arena_array(a, 6, sizeof(*env));
	char key[SHA256_HEX_BYTES];

	secret_key(secret, "data", dataset->store, dataset->make->recipe, key);
	env[0] = "PATH=/usr/local/bin:/usr/bin:/bin";
	env[1] = "HOME=" GUEST_HOME;
	env[2] = "LANG=C.UTF-8";
	env[3] = "PYTHONHASHSEED=0"; /* the same key gives the same files */
	env[4] = arena_printf(a, "FUMEHOOD_DATA_KEY=%s", key);
	return env;
}

static int start(struct fh_gym *gym, const struct dataset *dataset, struct arena *a,
		struct program *out, struct fh_error *err)
{
	const struct dataset_make *make = dataset->make;
	struct sandbox_bind *bind = arena_alloc(a, sizeof(*bind));
	const char *target = arena_printf(a, PROGRAM_DIR "/%s", path_basename(make->program));
	const struct program_plan plan = {
		.sandbox = { .binds = bind, .n_binds = 1, .limits = limits },
		.argv = make_argv(a, target, make->args),
		.env = make_env(a, &gym->secret, dataset),
		.cwd = GUEST_HOME,
		.streams = { PROGRAM_NOTHING, PROGRAM_LOG, PROGRAM_LOG },
		.n_streams = 3,
		.keep_sandbox = true,
	};

	*bind = (struct sandbox_bind){ make->program, target };
	return program_start(out, gym->owner, &plan, err);
}

/* The end of what it printed is where it says what went wrong. */
static int failure(const struct program *p, const char *how, int number, struct fh_error *err)
{
	size_t skip = p->log.len > SHOWN_BYTES ? p->log.len - SHOWN_BYTES : 0;
	auto_buf struct buf text = BUF_INIT(8 * SHOWN_BYTES);

	str_add_utf8(&text, buf_str(&p->log) + skip, p->log.len - skip);
	return error_say(err, EIO, "%s %d: %s", how, number, buf_str(&text));
}

static int check_end(const struct program *p, struct fh_error *err)
{
	if (p->state == PROGRAM_BROKEN)
		return error_say(err, -p->err.code, "%s", p->err.message);
	if (p->out_of_memory)
		return error_say(err, ENOMEM, "was ended for using too much memory");
	if (WIFSIGNALED(p->status))
		return failure(p, "was ended by signal", WTERMSIG(p->status), err);
	if (WEXITSTATUS(p->status))
		return failure(p, "ended with status", WEXITSTATUS(p->status), err);
	return 0;
}

/* --- what it has written ---------------------------------------------------------------------- */

/*
 * All files together may have what the program's disk has, by their sizes: a file of holes takes none there,
 * but is as long as any to whoever reads it.
 */
static int keep_file(struct sandbox *sb, const char *folder, const char *path, int64_t *left_bytes,
		struct fh_error *err)
{
	auto_free char *target = path_join(folder, path);
	auto_free char *dir = path_dirname(target);
	auto_close int from = -1, to = -1;
	struct stat st;
	int r = sandbox_get(sb, GUEST_HOME, path, *left_bytes, &from, err);

	if (r == -EFBIG)
		return error_say(err, EFBIG,
				"its files have more than %lld bytes together, with '%s'",
				(long long)limits.disk_bytes, path);
	if (r == 0)
		r = path_mkdirs(dir, 0755, err);
	if (r < 0)
		return error_wrap(err, "take over '%s'", path);
	/* Others have to be able to read it: those whom sandboxes run as. */
	to = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (to < 0)
		return error_set(err, errno, "create '%s'", target);
	if (fstat(from, &st) < 0)
		return error_set(err, errno, "look at the copy of '%s'", path);
	*left_bytes -= st.st_size;
	r = fd_copy_sparse(from, to, st.st_size);
	/* A folder that stands is believed for ever after. */
	if (r == 0 && (fchmod(to, 0644) < 0 || fsync(to) < 0))
		r = -errno;
	return r < 0 ? error_set(err, -r, "write '%s'", target) : 0;
}

static int keep_files(struct sandbox *sb, const struct dataset *dataset, const char *folder,
		struct fh_error *err)
{
	int64_t left_bytes = limits.disk_bytes;
	int r = 0;

	if (mkdir(folder, 0700) < 0)
		return error_set(err, errno, "make folder '%s'", folder);
	for (size_t i = 0; i < dataset->n_files && r == 0; i++)
		r = keep_file(sb, folder, dataset->files[i].path, &left_bytes, err);
	if (r == 0 && rename(folder, dataset->dir) < 0)
		r = error_set(err, errno, "rename '%s' to '%s'", folder, dataset->dir);
	return r;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

/* --- one data set ----------------------------------------------------------------------------- */

static int make(struct fh_gym *gym, const struct dataset *dataset, struct fh_error *err)
{
	auto_free char *folder = xasprintf("%s.part", dataset->dir);
	auto_arena struct arena arena = ARENA_INIT;
	struct program program;
	int r = start(gym, dataset, &arena, &program, err);

	if (r < 0)
		return r;
	r = program_wait(&program, dataset->make->timeout_ms, err);
	if (r == 0)
		r = check_end(&program, err);
	if (r < 0)
		error_wrap(err, "%s", path_basename(dataset->make->program));
	/* What one that was killed in the middle has left. */
	nftw(folder, remove_one, 16, FTW_PHYS | FTW_DEPTH);
	if (r == 0)
		r = keep_files(program.sb, dataset, folder, err);
	if (r < 0)
		nftw(folder, remove_one, 16, FTW_PHYS | FTW_DEPTH);
	program_release(&program);
	return r;
}

/* Takes the lock that is the folder of all that was ever made of this data set. */
static int lock(const char *dir, int *out_fd, struct fh_error *err)
{
	auto_close int fd = -1;
	int r = path_mkdirs(dir, 0700, err);

	if (r < 0)
		return r;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "open '%s'", dir);
	do {
		r = flock(fd, LOCK_EX);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return error_set(err, errno, "lock '%s'", dir);
	*out_fd = take_fd(&fd);
	return 0;
}

static int make_once(struct fh_gym *gym, const struct dataset *dataset, struct fh_error *err)
{
	auto_free char *dir = path_dirname(dataset->dir);
	auto_close int fd = -1;
	int r;

	if (dataset_is_there(dataset))
		return 0;
	r = lock(dir, &fd, err);
	if (r == 0 && !dataset_is_there(dataset))
		r = make(gym, dataset, err);
	return r < 0 ? error_wrap(err, "make data set '%s'", dataset->id) : 0;
}

int make_data(struct fh_gym *gym, const struct task *task, struct fh_error *err)
{
	int r = 0;

	for (size_t i = 0; i < task->n_datasets && r == 0; i++)
		r = make_once(gym, &task->datasets[i], err);
	return r;
}
