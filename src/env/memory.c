/* SPDX-License-Identifier: Apache-2.0 */
#include "env/memory.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/job.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "env/env.h"
#include "inside/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

/*
 * What comes out of a sandbox is the agent's word: it is parsed, and goes nowhere but in again. What is broken is
 * not kept. Episodes may go on at the same time, in other processes too; who keeps a memory holds its folder's lock.
 *
 * The task may be a stranger's: its memory lies in its folder, wherever links lead.
 */

#define AT_ONCE_BYTES                                                                              \
	(128 << 10) /* of a memory that the loop itself looks through: a millisecond or two */
#define LOCK_MS 5000
#define LOCK_PAUSE_US 10000

static int find_kept(const struct task *task, char **out, struct fh_error *err)
{
	return path_beneath_new(task->dir, task->memory, out, err);
}

int memory_check_task(const struct task *task, struct fh_error *err)
{
	auto_buf struct buf memory = BUF_INIT(GUEST_MEMORY_BYTES_MAX);
	auto_free char *path = NULL;
	int r = find_kept(task, &path, err);

	if (r == 0 && path_exists(path))
		r = fd_read_plain(path, &memory, err);
	return r < 0 ? r : memory_check(&memory, path, err);
}

/* --- what it begins as ------------------------------------------------------------------------ */

static int check_began(void *env, struct fh_error *err)
{
	return memory_check(&((struct fh_env *)env)->memory_began, "the task's memory", err);
}

/* A record's, or what the task has kept; only that is added to when the episode ends. */
int memory_read(struct fh_env *env, struct fh_error *err)
{
	auto_free char *path = env->memory_file ? xstrdup(env->memory_file) : NULL;
	int r = 0;

	buf_clear(&env->memory_began);
	env->remembers = false;
	if (!path && env->memory)
		r = find_kept(env->task->task, &path, err);
	if (r < 0 || !path || !path_exists(path))
		return r;
	r = fd_read_plain(path, &env->memory_began, err);
	if (r == 0 && !env->memory_file) { /* to what is none, nothing can be added */
		if (env->memory_began.len > AT_ONCE_BYTES)
			return job_begin(check_began, env, "read a memory", &env->job, err);
		r = memory_check(&env->memory_began, path, err);
	}
	env->remembers = r == 0;
	return r;
}

static int end_job(struct fh_env *env, struct fh_error *err)
{
	poller_unwatch_fd(&env->gym->poller, job_fd(env->job));
	return job_end(take_ptr(env->job), err);
}

int memory_read_end(struct fh_env *env, struct fh_error *err)
{
	int r = end_job(env, err);

	env->remembers = r == 0;
	return r;
}

void memory_waits(const struct fh_env *env, struct waits *w)
{
	if (env->job)
		waits_add(w, job_fd(env->job), POLLIN);
	else
		sandbox_answer_waits(env->sb, w);
}

const struct buf *env_memory(const struct fh_env *env)
{
	return env->remembers ? &env->memory_began : NULL;
}

/* --- keeping it ------------------------------------------------------------------------------- */

/* Of a thread, which knows nothing else of the environment. */
struct keeping {
	char *path;              /* a link stays one */
	const struct buf *began; /* the environment's: its next reset begins when this is over */
	struct buf ours;
};

static struct keeping *keeping_new(const struct fh_env *env)
{
	struct keeping *k = xcalloc(1, sizeof(*k));

	k->began = &env->memory_began;
	buf_init(&k->ours, GUEST_MEMORY_BYTES_MAX);
	return k;
}

static void keeping_free(struct keeping *k)
{
	if (!k)
		return;
	buf_release(&k->ours);
	free(k->path);
	free(k);
}

/* Until it is closed. Where a file system has no locks, so be it. */
static int lock_folder(const char *folder, struct fh_error *err)
{
	int64_t end_ns = clock_now_ns() + LOCK_MS * NS_PER_MS;
	auto_close int fd = -1;
	int r = path_mkdirs(folder, 0755, err);

	if (r < 0)
		return r;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "open '%s'", folder);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
		if (clock_now_ns() >= end_ns)
			return error_say(err, EBUSY, "another process keeps '%s' locked", folder);
		usleep(LOCK_PAUSE_US);
	}
	return take_fd(&fd);
}

static int add_to_kept(void *keeping, struct fh_error *err)
{
	const struct keeping *k = keeping;
	auto_buf struct buf now = BUF_INIT(GUEST_MEMORY_BYTES_MAX);
	auto_buf struct buf whole = BUF_INIT(GUEST_MEMORY_BYTES_MAX);
	struct memory_change change = { k->began, &now, &k->ours };
	auto_free char *folder = path_dirname(k->path);
	auto_close int lock = lock_folder(folder, err);
	int r;

	if (lock < 0)
		return lock;
	r = path_exists(k->path) ? fd_read_plain(k->path, &now, err) : 0;
	if (r < 0)
		return r;
	r = memory_merge(&change, &whole, err);
	if (r < 0)
		return r;
	return fd_write_file(k->path, buf_str(&whole), whole.len, 0644, err);
}

/* What the agent's sandbox had. 0 with env->job set, or if there is nothing to add. */
static int keep_begin(struct fh_env *env, struct fh_error *err)
{
	struct keeping *k = env->keeping = keeping_new(env);
	struct sandbox_answer answer = { .fd = -1 };
	int r = sandbox_take(env->sb, &answer, err);

	if (r == -ENOENT) /* nothing was remembered */
		return 0;
	if (r == 0)
		r = fd_read_all(answer.fd, &k->ours);
	close_fd(&answer.fd);
	/* What nothing was added to has nothing to add. */
	if (r < 0 || (env->remembers && buf_equal(&k->ours, &env->memory_began)))
		return r;
	r = find_kept(env->task->task, &k->path, err);
	return r < 0 ? r : job_begin(add_to_kept, k, "keep a memory", &env->job, err);
}

static void note_not_kept(struct fh_env *env, const struct fh_error *err)
{
	observe_note(env, "(The memory was not kept: %s)", err->message);
}

bool memory_begin(struct fh_env *env, void (*kept)(struct fh_env *env))
{
	struct fh_error err = FH_ERROR_INIT;

	if (!env->memory || env->episode != EPISODE_ON)
		return false;
	if (sandbox_get_begin(env->sb, GUEST_HOME, GUEST_MEMORY, GUEST_MEMORY_BYTES_MAX,
			    &env->asked, &err) < 0) {
		note_not_kept(env, &err);
		return false;
	}
	env->kept = kept;
	env->work = WORK_MEMORY;
	return true;
}

/* Below 0, or 1: it goes on. */
static int keep_advance(struct fh_env *env, struct fh_error *err)
{
	if (!env->job) {
		int r;

		if (!sandbox_answered(env->sb, env->asked))
			return 1;
		r = keep_begin(env, err);
		if (r < 0 || !env->job)
			return r;
	}
	return job_is_over(env->job) ? end_job(env, err) : 1;
}

bool memory_advance(struct fh_env *env)
{
	struct fh_error err = FH_ERROR_INIT;
	int r = keep_advance(env, &err);

	if (r > 0)
		return false;
	if (r < 0)
		note_not_kept(env, &err);
	keeping_free(take_ptr(env->keeping));
	return true;
}

void memory_drop_job(struct fh_env *env)
{
	if (env->job)
		end_job(env, NULL);
}

/* What is asked already is waited for, and has a deadline. */
void memory_keep(struct fh_env *env)
{
	if (env->work != WORK_MEMORY && !memory_begin(env, NULL))
		return;
	while (!memory_advance(env)) {
		struct waits w = WAITS_INIT;

		memory_waits(env, &w);
		waits_poll(&w);
	}
}

static void left(struct fh_env *env)
{
	env->episode = EPISODE_OVER;
	env->work = WORK_DONE;
}

bool env_leave_begin(struct fh_env *env)
{
	if (env->work != WORK_NONE || !memory_begin(env, left))
		return false;
	env->failure.code = 0;
	snprintf(env->exit_status, sizeof(env->exit_status), "early_exit");
	poller_add(&env->gym->poller, env);
	return true;
}
