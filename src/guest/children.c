/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "guest/children.h"

#include "base/fd.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The children of a sandbox' PID 1: the porter, which does input and output, the shell, and
 * programs. A child is forked with all descriptors of PID 1, and closes those that belong to
 * others. The shell or a program waits until PID 1 has closed its own copies of their pipes. Then
 * it may run code of an agent. Closing the last copy later could make PID 1 wait: an agent can hold
 * the kernel's lock of a pipe.
 */

/* Unblocks all signals, which PID 1 blocks. Runs in a fork of PID 1. */
static void child_unblock_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * Returns the control groups and limits for a child that PID 1 has forked. If PID 1 was in the
 * sandbox' control groups at the fork, the child is there already and enters none. Call this after
 * the fork.
 */
static struct confinement child_confinement(const struct init *in)
{
	struct confinement c = in->start->confinement;

	if (in->start->moved_out && !*in->start->moved_out)
		c.n_groups = 0;
	return c;
}

void shell_ends_close(struct shell_ends *e)
{
	close_fd(&e->mail);
	close_fd(&e->event);
	close_fd(&e->output);
	close_fd(&e->drain);
	close_fd(&e->gate);
}

int shell_ends_make(struct shell_ends *e, struct fh_error *err)
{
	int r = fd_pipe(&e->drain, &e->output);

	if (r < 0)
		return error_set(err, -r, "make the shell's pipe");
	/* Make the agent the owner of the program's pipe, so that the program can open
	 * /dev/stdout. */
	if (fchown(e->output, GUEST_AGENT_ID, GUEST_AGENT_ID) < 0)
		return error_set(err, errno, "give the output to the agent");
	e->gate = memfd_create("gate", MFD_CLOEXEC);
	if (e->gate < 0 || ftruncate(e->gate, sizeof(struct shell_gate)) < 0)
		return error_set(err, errno, "make the shell's gate");
	e->go = eventfd(0, EFD_CLOEXEC);
	e->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return e->go < 0 || e->event < 0 ? error_set(err, errno, "make an eventfd") : 0;
}

int shell_fork(struct init *in, struct shell_ends *ends, struct fh_error *err)
{
	pid_t pid = confine_fork(&in->start->confinement);

	if (pid == 0) {
		struct confinement c = child_confinement(in);

		child_unblock_signals();
		shell_become(in->start, &c, ends);
	}
	if (pid < 0)
		return error_set(err, errno, "fork the shell");
	in->shell = pid;
	close_fd(&ends->mail);
	close_fd(&ends->output);
	return 0;
}

void child_let_go(int *go)
{
	if (fd_write_full(*go, &(uint64_t){ 1 }, sizeof(uint64_t)) < 0)
		_exit(1); /* end the sandbox: the child that PID 1 forked would wait for ever */
	close_fd(go);
}

pid_t child_fork_as(pid_t number)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&number, .set_tid_size = 1
	};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	return pid < 0 ? fork() : pid;
}

int porter_fork(struct init *in, const int pipes[REQUEST_PIPES], const struct shell_ends *shell,
		struct fh_error *err)
{
	const struct init_start *s = in->start;
	struct porter_start start = { .owner = s->sockets[PLAN_PORTER],
		.init = s->sockets[PLAN_ERRANDS_PORTER],
		.shell = *shell,
		.home = s->home,
		.n_home = s->n_home };

	memcpy(start.pipes, pipes, sizeof(start.pipes));
	in->porter = child_fork_as(PORTER_PID);
	if (in->porter == 0) {
		int keep[5 + REQUEST_PIPES + GUEST_GROUPS_MAX] = { start.owner, start.init,
			shell->drain, shell->gate, shell->event };
		size_t n = 5;

		for (size_t i = 0; i < REQUEST_PIPES; i++)
			keep[n++] = pipes[i];
		for (size_t i = 0; i < s->n_home; i++)
			keep[n++] = s->home[i];
		guest_keep_fds(keep, n);
		porter_main(&start);
	}
	return in->porter < 0 ? error_set(err, errno, "fork the porter") : 0;
}

static void child_tell_porter(const struct init *in, uint32_t stream, const int *fds, size_t n_fds)
{
	auto_buf struct buf b = BUF_INIT(16);

	wire_put_u8(&b, PORTER_STREAM);
	wire_put_u32(&b, stream);
	if (wire_send(in->start->sockets[PLAN_ERRANDS], &b, fds, n_fds) < 0)
		_exit(0);
}

/*
 * Forks a shell, and sends the porter the descriptors in `ends` that it reads. The caller closes
 * `ends`.
 */
static int children_fork_shell_again(struct init *in, struct shell_ends *ends)
{
	int r = shell_ends_make(ends, NULL);

	if (r < 0)
		return r;
	r = shell_fork(in, ends, NULL);
	if (r < 0)
		return r;
	child_tell_porter(in, 0, (const int[]){ ends->drain, ends->gate, ends->event }, 3);
	return 0;
}

int shell_replace(struct init *in, int mail)
{
	struct shell_ends ends = SHELL_ENDS_INIT(mail);
	int r = children_fork_shell_again(in, &ends);

	shell_ends_close(&ends);
	if (r < 0)
		return r;
	child_let_go(&ends.go);
	return 0;
}

/*
 * Makes a pipe between a program and the porter. The agent owns the pipe. Reading or writing at the
 * porter's end never blocks.
 */
static int children_open_stream(int slot, int *out_porters, int *out_programs)
{
	bool input = slot == SLOT_INPUT;
	auto_close int from = -1, to = -1;
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	from = pair[0];
	to = pair[1];
	if (fchown(to, GUEST_AGENT_ID, GUEST_AGENT_ID) < 0 ||
			fcntl(input ? to : from, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	*out_porters = input ? take_fd(&to) : take_fd(&from);
	*out_programs = input ? take_fd(&from) : take_fd(&to);
	return 0;
}

/*
 * Makes a pipe for each stream of a program that the porter reads or writes. Sends the porter's
 * ends to the porter. Returns false if a pipe can't be made.
 */
static bool children_open_streams(
		const struct init *in, const struct init_run *run, int streams[RUN_STREAMS_MAX])
{
	for (uint32_t i = 0; i < run->n_slots; i++) {
		int k = SLOT_STREAM_1 - run->slots[i];
		auto_close int porters = -1;

		if (k < 0 || k >= RUN_STREAMS_MAX || streams[k] >= 0)
			continue;
		if (children_open_stream(run->slots[i], &porters, &streams[k]) < 0)
			return false;
		child_tell_porter(in, STREAM_OF(run->id, run->slots[i]), &porters, 1);
	}
	return true;
}

pid_t program_fork(struct init *in, const struct init_run *run, const int *sent, int go)
{
	int streams[RUN_STREAMS_MAX] = { -1, -1, -1 }, fds[GUEST_FDS_MAX];
	size_t next = run->has_program;
	pid_t pid = -1;

	if (children_open_streams(in, run, streams)) {
		for (uint32_t i = 0; i < run->n_slots; i++) {
			int8_t slot = run->slots[i];

			fds[i] = -1;
			if (slot == 0)
				fds[i] = sent[next++];
			else if (slot <= SLOT_STREAM_1 && slot >= SLOT_INPUT)
				fds[i] = streams[SLOT_STREAM_1 - slot];
		}
		pid = confine_fork(&in->start->confinement);
	}
	if (pid == 0) {
		struct confinement c = child_confinement(in);

		child_unblock_signals();
		program_become(&(struct child_start){ .run = run,
				.confinement = &c,
				.program = run->has_program ? sent[0] : -1,
				.fds = fds,
				.terminal = init_run_has_terminal(run) ? sent[next] : -1,
				.go = go });
	}
	for (size_t i = 0; i < RUN_STREAMS_MAX; i++)
		if (streams[i] >= 0)
			close(streams[i]);
	return pid;
}
