/* SPDX-License-Identifier: Apache-2.0 */
#include "native/spawn.h"

#include "base/exec.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

/*
 * Sets up the descriptors and the working directory of a program to start. Returns 0 or a positive
 * errno, as posix_spawn(3) does.
 */
static int spawn_set_actions(posix_spawn_file_actions_t *actions, const int *fds, int n)
{
	int r;

	for (int i = 0; i < n; i++) {
		r = fds[i] < 0 ? posix_spawn_file_actions_addopen(
						 actions, i, "/dev/null", O_RDWR, 0)
			       : posix_spawn_file_actions_adddup2(actions, fds[i], i);
		if (r)
			return r;
	}
	r = posix_spawn_file_actions_addchdir_np(actions, "/");
	return r ? r : posix_spawn_file_actions_addclosefrom_np(actions, n);
}

static int spawn_set_attributes(posix_spawnattr_t *attr)
{
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_setsigdefault(attr, &all);
	posix_spawnattr_setsigmask(attr, &none);
	return posix_spawnattr_setflags(
			attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
}

int spawn_program(pid_t *out_pid, const char *path, const char *const *argv, const char *const *env,
		const int *fds, size_t n)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	error = spawn_set_actions(&actions, fds, (int)n);
	if (!error)
		error = spawn_set_attributes(&attr);
	if (!error)
		error = posix_spawn(
				out_pid, path, &actions, &attr, exec_list(argv), exec_list(env));
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -error;
}
