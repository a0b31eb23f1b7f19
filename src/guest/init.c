/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fd.h"
#include "base/process.h"
#include "base/scope.h"
#include "guest/children.h"
#include "guest/mounts.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * PID 1 of a sandbox. It does what the owner asks over the control socket, reaps children, and
 * tells the owner which processes ended. PID 1 is root of the sandbox only, is outside the sandbox'
 * limits, and has every signal blocked. It ends when the owner closes the socket or has ended, or
 * when the porter ends. The kernel then ends all processes of the sandbox.
 *
 * No agent can make PID 1 wait or grow. While an agent's code runs, PID 1 opens no file. PID 1
 * holds no descriptor of an inode or pipe that the agent can reach. It closes its copies of pipes
 * of shell and programs before these begin to run. The only event from an agent is the end of a
 * child.
 */

/* Most ended children to reap at a time. An agent may make orphans as fast as PID 1 reaps them. */
#define REAP_MAX 64
/* most rounds of SIGKILL to all processes: each round makes a fork bomb smaller */
#define INTERRUPT_PASSES 5

static void init_tell(const struct init *in, const struct buf *b)
{
	if (wire_send(in->start->sockets[PLAN_CONTROL], b, NULL, 0) < 0)
		_exit(0);
}

static void init_tell_status(const struct init *in, uint8_t kind, const uint32_t *id, int status)
{
	auto_buf struct buf b = BUF_INIT(64);

	wire_put_u8(&b, kind);
	if (id)
		wire_put_u32(&b, *id);
	wire_put_u32(&b, (uint32_t)status);
	init_tell(in, &b);
}

static void init_tell_ready(const struct init *in, int files)
{
	uint8_t kind = INIT_READY;

	if (fd_send_message(in->start->sockets[PLAN_CONTROL], &kind, 1, &files, files >= 0 ? 1 : 0,
			    0) < 0)
		_exit(1);
}

/* --- messages from the owner ----------------------------------------------------------------- */

/*
 * Forks a program of the sandbox, which waits until the owner's message INIT_GO. In the meantime
 * the caller closes its copies of the program's descriptors.
 */
static void init_handle_run(struct init *in, struct wire *w, const int *fds, size_t n_fds)
{
	struct init_program *p = NULL;
	struct init_run run;
	int go = -1;
	pid_t pid = -1;

	for (size_t i = 0; i < PROGRAMS_MAX && !p; i++)
		if (!in->programs[i].pid)
			p = &in->programs[i];
	if (p)
		go = eventfd(0, EFD_CLOEXEC);
	if (init_run_get(w, &run) < 0 || n_fds != init_run_fds(&run))
		_exit(1);
	if (go >= 0)
		pid = program_fork(in, &run, fds, go);
	if (pid < 0) {
		close_fd(&go);
		init_tell_status(in, INIT_EXITED, &run.id, RUN_NOT_STARTED << 8);
	} else {
		*p = (struct init_program){ .id = run.id, .pid = pid, .go = go };
	}
	init_run_release(&run);
}

static void init_handle_go(struct init *in, struct wire *w)
{
	uint32_t id = wire_get_u32(w);

	guest_expect(wire_done(w));
	for (size_t i = 0; i < PROGRAMS_MAX; i++) {
		struct init_program *p = &in->programs[i];

		if (p->pid && p->id == id && p->go >= 0)
			child_let_go(&p->go);
	}
}

static void init_handle_signal(const struct init *in, struct wire *w)
{
	uint32_t id = wire_get_u32(w);
	uint32_t number = wire_get_u32(w);

	guest_expect(wire_done(w) && number <= (uint32_t)SIGRTMAX);
	for (size_t i = 0; i < PROGRAMS_MAX; i++) {
		const struct init_program *p = &in->programs[i];

		if (p->pid && p->id == id) {
			/*
			 * Signal the whole process group of the program, which leads the group by
			 * setsid().
			 */
			kill(-p->pid, (int)number);
			kill(p->pid, (int)number);
		}
	}
}

/*
 * Returns true if a process began after a command did. The process' start time must be later than
 * the command's. If both are in the same clock tick (10 ms), its pid must be above mark->last_pid.
 * The pid is not enough in other cases, because pids wrap around.
 */
static bool init_born_since(pid_t pid, const struct shell_mark *mark)
{
	int64_t start = process_start_time(pid);
	int64_t step = mark->began_ns / (1000000000 / sysconf(_SC_CLK_TCK));

	return start > step || (start == step && pid > mark->last_pid);
}

/*
 * Sends a signal to all processes that began after the mark, so that they belong to the interrupted
 * command. PID 1, the shell, the porter and this process get none.
 */
static void init_signal_born(const struct init *in, const struct shell_mark *mark, int number)
{
	int passes = number == SIGKILL ? INTERRUPT_PASSES : 1;
	bool more = true;

	for (int i = 0; i < passes && more; i++) {
		DIR *proc = opendir("/proc");
		pid_t pid;

		more = false;
		while (proc && (pid = process_next(proc)))
			if (pid != 1 && pid != in->shell && pid != in->porter && pid != getpid() &&
					init_born_since(pid, mark) && kill(pid, number) == 0)
				more = true;
		if (proc)
			closedir(proc);
	}
}

/*
 * Forks the sweeper, a child that finds and signals processes through /proc. An agent can hold the
 * kernel's lock of /proc, and PID 1 must not wait for it.
 */
static void init_sweep(struct init *in)
{
	const struct init_interruption *next = &in->next;

	in->again = false;
	in->sweeper = child_fork_as(SWEEPER_PID);
	if (in->sweeper == 0) {
		guest_keep_fds(NULL, 0);
		init_signal_born(in, &next->mark, next->level >= 1 ? SIGKILL : SIGCONT);
		if (next->level == 0)
			init_signal_born(in, &next->mark, SIGINT);
		_exit(0);
	}
	if (in->sweeper < 0)
		/* end the sandbox: without the forked child, nothing can end the command */
		_exit(1);
}

/* Begins the new shell that the owner asked for, unless a sweeper is killing processes. A running
 * sweeper would kill the new shell too. */
static void init_begin_shell(struct init *in)
{
	if (in->sweeper || !in->shell_wanted)
		return;
	in->shell_wanted = false;
	if (shell_replace(in, in->shell_wanted_fd) < 0) /* shell_replace() closes the descriptor */
		_exit(1);
	init_tell_ready(in, -1);
}

static void init_swept(struct init *in)
{
	in->sweeper = 0;
	if (in->again) {
		init_sweep(in);
		return;
	}
	for (; in->unanswered; in->unanswered--) {
		auto_buf struct buf b = BUF_INIT(8);

		wire_put_u8(&b, INIT_INTERRUPTED);
		init_tell(in, &b);
	}
	init_begin_shell(in);
}

/*
 * Interrupts a command of the shell. The levels are those of enum interrupt_level: 0 asks, 1 kills,
 * 2 kills the shell too, 3 kills all processes.
 */
static void init_handle_interrupt(struct init *in, struct wire *w)
{
	uint8_t level = wire_get_u8(w);
	struct shell_mark mark;

	mark.began_ns = (int64_t)wire_get_u64(w);
	mark.last_pid = (int32_t)wire_get_u32(w);
	guest_expect(wire_done(w));
	if (level >= 3)
		mark = (struct shell_mark){ 0, 0 };
	/* in->shell is 0 if the shell has ended; processes that the shell started may still run */
	if (in->shell) {
		kill(in->shell, SIGCONT);
		kill(in->shell, level >= 2 ? SIGKILL : INTERRUPT_SIGNAL);
	}
	in->next = (struct init_interruption){ level, mark };
	in->again = true;
	in->unanswered++;
	if (in->sweeper)
		kill(in->sweeper, SIGKILL);
	else
		init_sweep(in);
}

/* --- children -------------------------------------------------------------------------------- */

static void init_reaped(struct init *in, pid_t pid, int status)
{
	if (pid == in->porter)
		/* End the sandbox, because its porter has ended: only the porter may touch files
		 * that agents can block. */
		_exit(0);
	if (pid == in->sweeper) {
		init_swept(in);
		return;
	}
	if (pid == in->shell && WIFSTOPPED(status)) {
		/* Continue the shell if it stopped itself: a stopped shell would read no
		 * commands. */
		kill(pid, SIGCONT);
		return;
	}
	if (pid == in->shell) {
		in->shell = 0;
		init_tell_status(in, INIT_SHELL_END, NULL, status);
		return;
	}
	for (size_t i = 0; i < PROGRAMS_MAX && !WIFSTOPPED(status); i++) {
		struct init_program *p = &in->programs[i];

		if (p->pid == pid) {
			p->pid = 0;
			close_fd(&p->go);
			init_tell_status(in, INIT_EXITED, &p->id, status);
			return;
		}
	}
}

static void init_reap(struct init *in)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(in->signals, &info, sizeof(info)) > 0)
		;
	in->unreaped = true;
	for (int i = 0; i < REAP_MAX && in->unreaped; i++) {
		pid = waitpid(-1, &status, WNOHANG | WUNTRACED | __WALL);
		in->unreaped = pid > 0;
		if (pid > 0)
			init_reaped(in, pid, status);
	}
}

/* --- the loop -------------------------------------------------------------------------------- */

static void init_handle(struct init *in, const char *message, size_t size, int *fds, size_t n_fds)
{
	struct wire w = wire_open(message, size);

	switch ((enum init_message)wire_get_u8(&w)) {
	case INIT_RUN:
		init_handle_run(in, &w, fds, n_fds);
		break;
	case INIT_SIGNAL:
		init_handle_signal(in, &w);
		break;
	case INIT_INTERRUPT:
		init_handle_interrupt(in, &w);
		break;
	case INIT_SHELL:
		if (n_fds != 1 || in->shell_wanted)
			_exit(1);
		in->shell_wanted = true;
		in->shell_wanted_fd = fds[0];
		init_begin_shell(in);
		return; /* keep the message's descriptor open: shell_replace() closes it */
	case INIT_GO:
		init_handle_go(in, &w);
		break;
	}
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
}

static void init_turn(struct init *in)
{
	static char message[GUEST_MESSAGE_MAX];
	struct pollfd fds[] = {
		{ .fd = in->signals, .events = POLLIN },
		{ .fd = in->start->owner, .events = POLLIN },
		{ .fd = in->start->sockets[PLAN_CONTROL], .events = POLLIN },
	};

	if (poll(fds, ARRAY_SIZE(fds), in->unreaped ? 0 : -1) < 0)
		return;
	if (fds[1].revents || fds[2].revents & (POLLHUP | POLLERR))
		_exit(0); /* end PID 1: the kernel then ends all processes of the sandbox */
	if (fds[0].revents || in->unreaped)
		init_reap(in);
	while (fds[2].revents) {
		int sent[GUEST_FDS_MAX + 1];
		size_t n_sent = 0;
		ssize_t size = fd_recv_message(fds[2].fd, message, sizeof(message), sent,
				GUEST_FDS_MAX + 1, &n_sent, MSG_DONTWAIT);

		if (size == -EAGAIN)
			return;
		if (size <= 0)
			_exit(0);
		init_handle(in, message, (size_t)size, sent, n_sent);
	}
}

/* --- beginning ------------------------------------------------------------------------------- */

/* Closes descriptors inherited from the nursery (the parent process) that PID 1 does not need. */
static void init_keep_own_fds(const struct init_start *s)
{
	int keep[PLAN_SOCKETS + 3 + 2 * GUEST_GROUPS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < PLAN_SOCKETS; i++)
		keep[n++] = s->sockets[i];
	keep[n++] = s->mail;
	keep[n++] = s->owner;
	keep[n++] = s->files;
	for (uint32_t i = 0; i < s->confinement.n_groups; i++)
		keep[n++] = s->confinement.groups[i];
	for (size_t i = 0; i < s->n_home; i++)
		keep[n++] = s->home[i];
	guest_keep_fds(keep, n);
}

/*
 * Prepares the sandbox' processes except the porter. Forks the shell first, since it takes longest
 * to get ready. The shell may run commands once the pipes for its requests exist.
 */
static int init_stand(struct init *in, struct shell_ends *ends, int pipes[REQUEST_PIPES],
		struct fh_error *err)
{
	sigset_t set;
	int r;

	if (ends->mail >= 0) {
		r = shell_ends_make(ends, err);
		if (r < 0)
			return r;
		r = shell_fork(in, ends, err);
		if (r < 0)
			return r;
	}
	r = mounts_leave(err);
	if (r < 0)
		return r;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	in->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (in->signals < 0)
		return error_set(err, errno, "make a signalfd");
	return requests_open(pipes, err);
}

/*
 * Starts the sandbox' processes, then sends INIT_READY. The porter is forked last, while the shell
 * gets ready. Until then PID 1 has the reading ends of pipes that the agent can reach. It closes
 * them when the porter has copies: closing the last copy could make PID 1 wait.
 */
static int init_begin(struct init *in, struct fh_error *err)
{
	const struct init_start *s = in->start;
	struct shell_ends ends = SHELL_ENDS_INIT(s->mail);
	int pipes[REQUEST_PIPES];
	sigset_t set;
	int r;

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	init_keep_own_fds(s);
	prctl(PR_SET_NAME, "init");
	r = init_stand(in, &ends, pipes, err);
	if (r < 0)
		return r;
	if (ends.go >= 0)
		child_let_go(&ends.go);
	r = porter_fork(in, pipes, &ends, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < REQUEST_PIPES; i++)
		close(pipes[i]);
	for (size_t i = 0; i < s->n_home; i++)
		close(s->home[i]);
	close(s->sockets[PLAN_PORTER]);
	close(s->sockets[PLAN_ERRANDS_PORTER]);
	shell_ends_close(&ends);
	init_tell_ready(in, s->files);
	if (s->files >= 0)
		close(s->files);
	return 0;
}

_Noreturn void init_main(const struct init_start *start)
{
	static struct init in;
	struct fh_error err = FH_ERROR_INIT;

	in.start = start;
	in.signals = -1;
	for (size_t i = 0; i < PROGRAMS_MAX; i++)
		in.programs[i].go = -1;
	if (init_begin(&in, &err) < 0)
		guest_die(start->sockets[PLAN_CONTROL], INIT_FAILED, &err);
	for (;;)
		init_turn(&in);
}
