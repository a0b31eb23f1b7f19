/* SPDX-License-Identifier: Apache-2.0 */
#include <fumehood/aside.h>

#include "base/sized.h"
#include "env/aside.h"
#include "env/drive.h"

/* The functions of fumehood/aside.h, in their blocking and their pollable form. */

static int aside_api_begin(struct fh_env *env, const struct fh_action *action, struct fh_error *err)
{
	struct fh_action read;
	int r = SIZED_READ(fh_action, &read, action, err);

	return r < 0 ? r : aside_begin(env, &read, err);
}

static int aside_api_begin_put(struct fh_env *env, const struct fh_file *file, struct fh_error *err)
{
	struct fh_file read;
	int r = SIZED_READ(fh_file, &read, file, err);

	return r < 0 ? r : aside_begin_put(env, &read, err);
}

int fh_env_aside(struct fh_env *env, const struct fh_action *action, struct fh_step *out,
		struct fh_error *err)
{
	return env_block(env, aside_api_begin(env, action, err), out, err);
}

int fh_env_aside_start(struct fh_env *env, const struct fh_action *action, struct fh_error *err)
{
	return env_start(env, aside_api_begin(env, action, err));
}

int fh_env_put_file(struct fh_env *env, const struct fh_file *file, struct fh_error *err)
{
	struct fh_step step;

	return env_block(env, aside_api_begin_put(env, file, err), &step, err);
}

int fh_env_put_file_start(struct fh_env *env, const struct fh_file *file, struct fh_error *err)
{
	return env_start(env, aside_api_begin_put(env, file, err));
}

int fh_env_get_file(struct fh_env *env, const char *path, size_t max_bytes, const void **out_data,
		size_t *out_n, struct fh_error *err)
{
	struct fh_step step;
	int r = env_block(env, aside_begin_get(env, path, max_bytes, err), &step, err);

	if (r < 0)
		return r;
	*out_data = fh_env_file(env, out_n);
	return 0;
}

int fh_env_get_file_start(
		struct fh_env *env, const char *path, size_t max_bytes, struct fh_error *err)
{
	return env_start(env, aside_begin_get(env, path, max_bytes, err));
}

const void *fh_env_file(const struct fh_env *env, size_t *out_n)
{
	*out_n = env->n_file;
	return env->file;
}
