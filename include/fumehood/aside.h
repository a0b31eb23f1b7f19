/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_ASIDE_H
#define FUMEHOOD_ASIDE_H

#include <fumehood/env.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Asides: work in an episode's sandbox that is not a step. Examples are commands that prepare an
 * episode, and files that are put in or taken out. Asides are not counted, recorded, rewarded or
 * scored. A replay of the episode's record does without them.
 *
 *   struct fh_step step;
 *   const void *data;
 *   size_t n;
 *
 *   fh_env_put_file(env, &FH_FILE(.path = "hints.txt", .data = "a", .n_bytes = 1), &err);
 *   fh_env_aside(env, &FH_ACTION(.text = "ls -l"), &step, &err);
 *   fh_env_get_file(env, "submission.csv", 1 << 20, &data, &n, &err);
 *
 * Asides need a sandbox. They work from a reset to the next reset or the close, even after the
 * episode's end. -EPROTO: there was no reset. -EBUSY: a reset, step or aside of the environment is
 * running. The rules for threads are those of steps. The ..._start() functions are their pollable
 * form, as fh_env_step_start(). An agent can hold the kernel's lock of a file. A function waits for
 * it for seconds only, and then counts the sandbox as gone.
 */

/*
 * Runs a command in the episode's shell, as a step would. It may change the working directory,
 * variables and functions. LAST_ACTION and $? stay. The timeout is 0: the task's short_timeout. The
 * episode's deadline does not end the command. A `validate` or `submit` inside it counts for the
 * next step.
 *
 * The result has the form of a step's. `observation` is the output, in which only bytes that are
 * not UTF-8 were replaced (\xNN). No sentences follow it: `outcome` tells of a timeout. `step` is
 * the number of the last step. If the sandbox is gone, the outcome says so, and so will the next
 * step.
 */
FH_PUBLIC int fh_env_aside(struct fh_env *env, const struct fh_action *action, struct fh_step *out,
		struct fh_error *err);
FH_PUBLIC int fh_env_aside_start(
		struct fh_env *env, const struct fh_action *action, struct fh_error *err);

#define FH_FILE_BYTES_MAX (1 << 30)

struct fh_file {
	size_t size; /* FH_FILE() sets it */
	/* Path in the sandbox: relative to the workspace, or absolute beneath /home/agent or
	 * /tmp. */
	const char *path;
	/* n_bytes bytes, which the call copies; at most FH_FILE_BYTES_MAX. NULL: an empty file,
	 * whose n_bytes is 0 */
	const void *data;
	size_t n_bytes;
	int mode; /* permissions, such as 0755; 0: 0644 */
};

#define FH_FILE(...) FH_SIZED(struct fh_file, __VA_ARGS__)

/*
 * Writes a file that then belongs to the agent, and makes its folders. An older file of that name
 * is replaced. -ELOOP: a symbolic link is in the path, which is never followed. -EISDIR, -ENXIO: a
 * folder, pipe or socket has this name. -EINVAL, -EXDEV: the path leads elsewhere. -EINVAL: there
 * are bytes, but no data. All of these have the kind FH_ERROR_INPUT. -ENOSPC: the sandbox has no
 * room. -EPIPE: the sandbox is gone.
 */
FH_PUBLIC int fh_env_put_file(struct fh_env *env, const struct fh_file *file, struct fh_error *err);
FH_PUBLIC int fh_env_put_file_start(
		struct fh_env *env, const struct fh_file *file, struct fh_error *err);

/*
 * Reads a regular file of at most max_bytes (0: FH_FILE_BYTES_MAX). *out_data is a copy that the
 * environment owns, and that no agent can change. It lives until the environment's next reset,
 * step, aside or close. Paths are as with fh_env_put_file(). -ENOENT: there is no such file.
 * -ELOOP: a symbolic link is in the path, or it leads elsewhere. -EINVAL: not a regular file.
 * -EFBIG: the file is larger. -EPIPE: the sandbox is gone.
 */
FH_PUBLIC int fh_env_get_file(struct fh_env *env, const char *path, size_t max_bytes,
		const void **out_data, size_t *out_n, struct fh_error *err);
FH_PUBLIC int fh_env_get_file_start(
		struct fh_env *env, const char *path, size_t max_bytes, struct fh_error *err);

/* Returns the file that a get brought, after fh_env_end(). NULL: the last operation was another. */
FH_PUBLIC const void *fh_env_file(const struct fh_env *env, size_t *out_n);

#ifdef __cplusplus
}
#endif

#endif
