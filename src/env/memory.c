/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/path.h"
#include "base/scope.h"
#include "env/env.h"
#include "proto/guest.h"

#include <errno.h>

/*
 * An agent's memory, from episode to episode: a file of its home that begins as the task's memory_path is,
 * or is not there, and is written there again when the episode ends. What comes out is the agent's word, and goes
 * nowhere but in again. Of episodes that end at the same time the last one's stays.
 */
#define MEMORY_FILE "memory.json"
#define MEMORY_BYTES_MAX (64 << 20)

int memory_put(struct fh_env *env, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(MEMORY_BYTES_MAX);
	const char *path = env->task->task->memory;
	int r;

	if (!env->memory)
		return 0;
	if (!path_exists(path))
		return 0;
	r = fd_read_file(path, &text, err);
	if (r == 0)
		r = sandbox_put(env->sb, GUEST_HOME, MEMORY_FILE, buf_str(&text), text.len, 0644,
				err);
	return r < 0 ? error_wrap(err, "put the agent's memory into the sandbox") : 0;
}

static int keep(struct fh_env *env, struct fh_error *err)
{
	const char *path = env->task->task->memory;
	auto_free char *folder = path_dirname(path);
	auto_buf struct buf text = BUF_INIT(MEMORY_BYTES_MAX);
	auto_close int fd = -1;
	int r = sandbox_get(env->sb, GUEST_HOME, MEMORY_FILE, MEMORY_BYTES_MAX, &fd, err);

	if (r == -ENOENT) /* nothing was remembered */
		return 0;
	if (r == 0)
		r = fd_read_all(fd, &text);
	if (r < 0)
		return r;
	r = path_mkdirs(folder, 0755, err);
	return r < 0 ? r : fd_write_file(path, buf_str(&text), text.len, 0644, err);
}

void memory_keep(struct fh_env *env)
{
	struct fh_error err = FH_ERROR_INIT;

	if (!env->memory || env->episode != EPISODE_ON || !env->sb)
		return;
	if (keep(env, &err) < 0)
		observe_note(env, "(The memory was not kept: %s)", err.message);
}
