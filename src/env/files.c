/* SPDX-License-Identifier: Apache-2.0 */
#include "base/job.h"
#include "base/mem.h"
#include "base/scope.h"
#include "env/env.h"
#include "inside/tools.h"

/*
 * Puts the agent's memory and the files of its commands into a new episode, one at a time.
 */

static int put_memory(struct fh_env *env, struct fh_error *err)
{
	const struct buf *memory = &env->memory_began;
	int r = sandbox_put_text_begin(env->sb, GUEST_HOME, GUEST_MEMORY, buf_str(memory),
			memory->len, 0644, &env->asked, err);

	return r < 0 ? r : 1;
}

static int put_file(struct fh_env *env, const struct env_setup_file *file, struct fh_error *err)
{
	auto_free char *path = xasprintf("%s/%s", &SETUP_DIR[sizeof(GUEST_HOME)], file->name);
	int r = sandbox_put_text_begin(env->sb, GUEST_HOME, path, file->data, file->n,
			file->executable ? 0755 : 0644, &env->asked, err);

	return r < 0 ? r : 1;
}

/* The one that is put now, or was: NULL for the memory. */
static const struct env_setup_file *file_at(const struct fh_env *env)
{
	return env->n_put < env->remembers ? NULL : &env->setup.files[env->n_put - env->remembers];
}

static int wrap(const struct fh_env *env, struct fh_error *err)
{
	const struct env_setup_file *file = file_at(env);

	return error_wrap(err, "put %s%s%s into the sandbox", file ? "'" : "",
			file ? file->name : "the agent's memory", file ? "'" : "");
}

static int put_next(struct fh_env *env, struct fh_error *err)
{
	const struct env_setup_file *file;
	int r;

	if (env->n_put == env->remembers + env->setup.n_files)
		return 0;
	file = file_at(env);
	r = file ? put_file(env, file, err) : put_memory(env, err);
	return r < 0 ? wrap(env, err) : r;
}

int files_begin(struct fh_env *env, struct fh_error *err)
{
	int r = memory_read(env, err);

	if (r < 0)
		return error_wrap(err, "put the agent's memory into the sandbox");
	env->n_put = 0;
	return env->job ? 1 : put_next(env, err);
}

/* The memory has been checked. */
static int begin_putting(struct fh_env *env, struct fh_error *err)
{
	int r = memory_read_end(env, err);

	if (r < 0)
		return error_wrap(err, "put the agent's memory into the sandbox");
	return put_next(env, err);
}

int files_advance(struct fh_env *env, struct fh_error *err)
{
	struct sandbox_answer answer = { .fd = -1 };
	int r = 1;

	if (env->job && job_is_over(env->job))
		r = begin_putting(env, err);
	while (r > 0 && !env->job && sandbox_answered(env->sb, env->asked)) {
		r = sandbox_take(env->sb, &answer, err);
		close_fd(&answer.fd);
		if (r < 0)
			return wrap(env, err);
		env->n_put++;
		r = put_next(env, err);
	}
	return r;
}
