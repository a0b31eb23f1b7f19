/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/exec.h"
#include "base/fd.h"
#include "base/scope.h"
#include "guest/start.h"
#include "inside/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Functions of a process that PID 1 forks to run a program which the owner asked for. */

/* Moves the descriptors that a program gets to 0, 1, 2, ... and closes all others except
 * `program`. */
static int program_place_fds(const int *fds, size_t n, int *program)
{
	int moved[GUEST_FDS_MAX];

	/* First move a program's descriptors above all numbers that they shall get. Descriptor 0 is
	 * /dev/null. */
	for (size_t i = 0; i < n; i++) {
		moved[i] = fcntl(fds[i] >= 0 ? fds[i] : 0, F_DUPFD, 64);
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

/*
 * Opens a pseudo-terminal of the sandbox, with the rights of the program, and sends its master to
 * the owner. A terminal of this machine would have no name in the sandbox' /dev/pts.
 */
static int program_open_terminal(const struct child_start *start, struct fh_error *err)
{
	auto_close int master = -1, side = -1;
	int unlocked = 0;
	char byte = 0;

	if (start->terminal < 0)
		return 0;
	master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlocked) < 0)
		return error_set(err, errno, "make a terminal");
	side = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (side < 0)
		return error_set(err, errno, "open the terminal");
	if (fd_send_message(start->terminal, &byte, 1, &master, 1, 0) < 0)
		return error_set(err, EPIPE, "send the terminal");
	for (size_t i = 0; i < start->run->n_slots; i++)
		if (start->run->slots[i] == SLOT_TERMINAL)
			start->fds[i] = side;
	take_fd(&side);
	return 0;
}

const char *const program_environment[] = { AGENT_ENVIRONMENT, NULL };

_Noreturn void program_become(const struct child_start *start)
{
	const struct init_run *run = start->run;
	const char *const *env = run->env ? run->env : program_environment;
	int program = start->program;
	uint64_t one;
	int error;
	struct fh_error err = FH_ERROR_INIT;

	if (setsid() < 0 || confine(start->confinement, run->user, &err) < 0 ||
			program_open_terminal(start, &err) < 0)
		goto failed;
	if (chdir(run->cwd ? run->cwd : GUEST_WORKSPACE) < 0 && (run->cwd || chdir("/") < 0)) {
		error_set(&err, errno, "enter '%s'", run->cwd ? run->cwd : "/");
		goto failed;
	}
	if (fd_read_full(start->go, &one, sizeof(one)) != sizeof(one) ||
			program_place_fds(start->fds, run->n_slots, &program) < 0)
		_exit(RUN_NOT_STARTED);
	if (run->user == RUN_PACKER)
		_exit(pack_write(run->argv[0], run->argv + 1, 1) < 0 ? 1 : 0);
	if (isatty(0))
		/*
		 * If descriptor 0 is a terminal for this program, make it the controlling terminal.
		 */
		ioctl(0, TIOCSCTTY, 0);
	if (program >= 0) {
		execveat(program, "", exec_list(run->argv), exec_list(env), AT_EMPTY_PATH);
	} else {
		environ = exec_list(env); /* set before execvp(), which looks up PATH in environ */
		execvp(run->argv[0], exec_list(run->argv));
	}
	error = errno;
	dprintf(2, "fumehood: can't run '%s': %s\n", run->argv[0], strerror(error));
	_exit(error == ENOENT ? 127 : 126);
failed:
	dprintf(run->n_slots > 2 && start->fds[2] >= 0 ? start->fds[2] : 2, "fumehood: %s\n",
			err.message);
	_exit(RUN_NOT_STARTED);
}
