/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_GYM_H
#define FUMEHOOD_GYM_H

#include <fumehood/error.h>
#include <fumehood/version.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A `fh_gym` owns everything that a process' environments share: loaded tasks, baselines, and the
 * process that makes their sandboxes. A process opens one gym.
 *
 * In a fork of the process, all functions refuse the gym and its environments with -EPERM. Closing
 * them there does nothing. A fork may open a gym of its own.
 */
struct fh_gym;

struct fh_gym_options {
	size_t size;           /* FH_GYM_OPTIONS() sets it */
	const char *tasks_dir; /* folder of more tasks, looked up first; NULL: none */
	/* Folder in which Fumehood keeps baselines, data sets and the judges' secret. NULL:
	 * $FUMEHOOD_STATE, or the user's default folder. */
	const char *state_dir;
	const char *mlgym_root; /* a checkout of MLGym, whose tasks come first; NULL: none */

	/* Number of NVIDIA GPUs that the gym leases until it is closed. It takes the first free
	 * ones among gpu_numbers (2 is /dev/nvidia2), or among all if gpu_numbers is NULL. If too
	 * few are free, opening the gym fails with -EBUSY, and the error names their users. */
	size_t n_gpus;
	const int *gpu_numbers;
	size_t n_gpu_numbers;
};

#define FH_GYM_OPTIONS(...) FH_SIZED(struct fh_gym_options, __VA_ARGS__)

/*
 * Opens a gym. `options` may be NULL, and may be freed after the call. A task's files are read when
 * it is first opened. Later changes of the files have no effect while the gym is open.
 */
FH_PUBLIC int fh_gym_open(
		const struct fh_gym_options *options, struct fh_gym **out, struct fh_error *err);
/* Closes a gym. Close its environments first. NULL is fine. */
FH_PUBLIC void fh_gym_close(struct fh_gym *gym);

/* Hides a folder from episodes that are reset from now on. They no longer see it, even in /usr or
 * /opt. The folders of tasks and the state folder are always hidden. A folder that does not exist
 * is ignored. */
FH_PUBLIC int fh_gym_hide(struct fh_gym *gym, const char *folder, struct fh_error *err);

/*
 * Returns a sentence about limits that this machine can't enforce; NULL: none. Lives as long as the
 * gym.
 */
FH_PUBLIC const char *fh_gym_warning(const struct fh_gym *gym);

#ifdef __cplusplus
}
#endif

#endif
