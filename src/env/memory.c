/* SPDX-License-Identifier: Apache-2.0 */
#include "env/memory.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "env/env.h"
#include "proto/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

/*
 * What comes out of a sandbox is the agent's word: it is parsed, and goes nowhere but in again. What is broken is
 * not kept. Episodes may go on at the same time, in other processes too; who keeps a memory holds its folder's lock.
 *
 * The task may be a stranger's: its memory lies in its folder, wherever links lead.
 */

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

/* A record's, or what the task has kept; only that is added to when the episode ends. */
static int read_began(struct fh_env *env, struct fh_error *err)
{
	auto_free char *path = env->memory_file ? xstrdup(env->memory_file) : NULL;
	int r = 0;

	if (!path && env->memory)
		r = find_kept(env->task->task, &path, err);
	if (r < 0 || !path || !path_exists(path))
		return r;
	r = fd_read_plain(path, &env->memory_began, err);
	if (r == 0 && !env->memory_file) /* to what is none, nothing can be added */
		r = memory_check(&env->memory_began, path, err);
	env->remembers = r == 0;
	return r;
}

int memory_read(struct fh_env *env, struct fh_error *err)
{
	buf_clear(&env->memory_began);
	env->remembers = false;
	return read_began(env, err);
}

const struct buf *env_memory(const struct fh_env *env)
{
	return env->remembers ? &env->memory_began : NULL;
}

/* To the end of the process, or until it is closed. Where a file system has no locks, so be it. */
static int lock_folder(const char *folder, struct fh_error *err)
{
	auto_close int fd = -1;
	int r = path_mkdirs(folder, 0755, err);

	if (r < 0)
		return r;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "open '%s'", folder);
	while (flock(fd, LOCK_EX) < 0 && errno == EINTR)
		;
	return take_fd(&fd);
}

static int add_to_kept(struct fh_env *env, const struct buf *ours, struct fh_error *err)
{
	auto_free char *path = NULL, *folder = NULL;
	auto_buf struct buf now = BUF_INIT(GUEST_MEMORY_BYTES_MAX);
	auto_buf struct buf whole = BUF_INIT(GUEST_MEMORY_BYTES_MAX);
	struct memory_change change = { &env->memory_began, &now, ours };
	auto_close int lock = -1;
	int r = find_kept(env->task->task, &path, err); /* a link stays one */

	if (r < 0)
		return r;
	folder = path_dirname(path);
	lock = lock_folder(folder, err);
	if (lock < 0)
		return lock;
	r = path_exists(path) ? fd_read_plain(path, &now, err) : 0;
	if (r == 0)
		r = memory_merge(&change, &whole, err);
	if (r < 0)
		return r;
	return fd_write_file(path, buf_str(&whole), whole.len, 0644, err);
}

static int keep(struct fh_env *env, struct fh_error *err)
{
	auto_buf struct buf ours = BUF_INIT(GUEST_MEMORY_BYTES_MAX);
	struct sandbox_answer answer = { .fd = -1 };
	int r = sandbox_take(env->sb, &answer, err);

	if (r == -ENOENT) /* nothing was remembered */
		return 0;
	if (r == 0)
		r = fd_read_all(answer.fd, &ours);
	close_fd(&answer.fd);
	/* What nothing was added to has nothing to add. */
	if (r < 0 || (env->remembers && buf_equal(&ours, &env->memory_began)))
		return r;
	return add_to_kept(env, &ours, err);
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

bool memory_advance(struct fh_env *env)
{
	struct fh_error err = FH_ERROR_INIT;

	if (!sandbox_answered(env->sb, env->asked))
		return false;
	if (keep(env, &err) < 0)
		note_not_kept(env, &err);
	return true;
}

/* What is asked already is waited for, and has a deadline. */
void memory_keep(struct fh_env *env)
{
	if (env->work != WORK_MEMORY && !memory_begin(env, NULL))
		return;
	while (!memory_advance(env)) {
		struct waits w = WAITS_INIT;

		sandbox_answer_waits(env->sb, &w);
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
