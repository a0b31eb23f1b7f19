/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "guest/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* What a fork of PID 1 does until it is the program that the owner asked for. */

/* Puts the program's descriptors at 0, 1, 2, ... and closes all others but `program`. */
static int place_fds(const int *fds, size_t n, int *program)
{
	int moved[GUEST_FDS_MAX];

	for (size_t i = 0; i < n; i++) { /* out of the way of their places */
		moved[i] = fcntl(fds[i], F_DUPFD, 64);
		if (moved[i] < 0)
			return -errno;
	}
	if (*program >= 0) {
		*program = fcntl(*program, F_DUPFD_CLOEXEC, 64);
		if (*program < 0)
			return -errno;
	}
	for (size_t i = 0; i < n; i++)
		if (dup2(moved[i], (int)i) < 0)
			return -errno;
	close_range((unsigned)n, 63, 0);
	close_range(64, ~0U, CLOSE_RANGE_CLOEXEC);
	return 0;
}

const char *const program_environment[] = {
	("HOME=" GUEST_HOME),
	"USER=agent",
	"LOGNAME=agent",
	"SHELL=/bin/bash",
	"LANG=C.UTF-8",
	"PATH=/fumehood/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	NULL,
};

_Noreturn void program_become(
		const struct confinement *c, const struct run *run, const int *fds, size_t n_fds)
{
	const char *const *env = run->env ? run->env : program_environment;
	int program = run->has_program ? fds[0] : -1;
	int error;
	struct fh_error err = FH_ERROR_INIT;

	if (setsid() < 0 || confine(c, run->user, &err) < 0)
		goto failed;
	if (chdir(run->cwd ? run->cwd : GUEST_WORKSPACE) < 0 && (run->cwd || chdir("/") < 0)) {
		error_set(&err, errno, "enter '%s'", run->cwd ? run->cwd : "/");
		goto failed;
	}
	if (place_fds(fds + run->has_program, n_fds - run->has_program, &program) < 0)
		_exit(126);
	if (run->user == RUN_PACKER)
		_exit(pack_write(run->argv[0], run->argv + 1, 1) < 0 ? 1 : 0);
	if (isatty(0))
		ioctl(0, TIOCSCTTY, 0); /* a terminal made for it, if it is one */
	if (program >= 0) {
		execveat(program, "", (char *const *)run->argv, (char *const *)env, AT_EMPTY_PATH);
	} else {
		environ = (char **)(uintptr_t)env; /* for PATH */
		execvp(run->argv[0], (char *const *)run->argv);
	}
	error = errno;
	dprintf(2, "fumehood: can't run '%s': %s\n", run->argv[0], strerror(error));
	_exit(error == ENOENT ? 127 : 126);
failed:
	dprintf(n_fds > 2u + run->has_program ? fds[2 + run->has_program] : 2, "fumehood: %s\n",
			err.message);
	_exit(126);
}
