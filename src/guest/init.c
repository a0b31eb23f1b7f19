/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "guest/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * PID 1 of a sandbox. It does what the owner asks over the control socket, reaps, and tells the owner
 * what ended and what the agent asked for. It is root of the sandbox only, is outside its limits, and
 * has every signal blocked. It ends when the owner closes the socket or is gone; the kernel then ends
 * all that runs here.
 *
 * Nothing that an agent does makes it wait or grow: requests are bits that are told once until the owner
 * clears them, and what else comes from the agent is a child's end.
 */

#define PROGRAMS_MAX 32
#define REAP_MAX 64        /* at a time: an agent may make orphans as fast as they are reaped */
#define INTERRUPT_PASSES 5 /* a fork bomb is killed as long as it shrinks */

struct program {
	uint32_t id;
	pid_t pid; /* 0: free */
};

struct init {
	const struct init_start *start;
	int signals;
	bool unreaped;            /* children may have ended whose signal was read */
	int pipes[REQUEST_PIPES]; /* of the agent's requests; -1: none */
	struct program programs[PROGRAMS_MAX];
	pid_t shell;
	uint8_t requests;
	struct step_mark *mark;
};

/* --- telling the owner ----------------------------------------------------------------------- */

static void tell(const struct init *in, const struct buf *b, const int *fd)
{
	if (wire_send(in->start->control, b, fd, fd ? 1 : 0) < 0)
		_exit(0);
}

static void tell_status(const struct init *in, uint8_t kind, const uint32_t *id, int status)
{
	auto_buf struct buf b = BUF_INIT(64);

	wire_put_u8(&b, kind);
	if (id)
		wire_put_u32(&b, *id);
	wire_put_u32(&b, (uint32_t)status);
	tell(in, &b, NULL);
}

static void tell_done(const struct init *in, uint32_t id, const struct fh_error *err, const int *fd)
{
	auto_buf struct buf b = BUF_INIT(GUEST_MESSAGE_MAX);

	wire_put_u8(&b, INIT_DONE);
	wire_put_u32(&b, id);
	wire_put_u32(&b, (uint32_t)-err->code);
	wire_put_bytes(&b, err->message, strnlen(err->message, GUEST_TEXT_MAX - 1));
	tell(in, &b, fd);
}

static void tell_ready(const struct init *in)
{
	uint8_t kind = INIT_READY;
	int files = in->start->files;

	if (fd_send_message(in->start->control, &kind, 1, &files, files >= 0 ? 1 : 0, 0) < 0)
		_exit(1);
}

/* --- children -------------------------------------------------------------------------------- */

/* In a fork of PID 1: what only PID 1 may hold goes, signals are as in a new process. */
static void become_child(const struct init *in)
{
	sigset_t none;

	sigemptyset(&none);
	close(in->signals);
	for (size_t i = 0; i < REQUEST_PIPES; i++)
		if (in->pipes[i] >= 0)
			close(in->pipes[i]);
	close(in->start->owner);
	if (in->start->files >= 0)
		close(in->start->files);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Asked after the fork: who was born while PID 1 was in the groups is in them. */
static struct confinement confinement_of(const struct init *in)
{
	struct confinement c = in->start->confinement;

	if (in->start->moved_out && !*in->start->moved_out)
		c.n_groups = 0;
	return c;
}

static int start_shell(struct init *in, const struct shell_ends *ends)
{
	pid_t pid = confine_fork(&in->start->confinement);

	if (pid == 0) {
		struct confinement c = confinement_of(in);

		become_child(in);
		shell_become(in->start, &c, ends, in->mark);
	}
	close(ends->mail);
	close(ends->status);
	close(ends->output);
	if (pid < 0)
		return -errno;
	in->shell = pid;
	return 0;
}

static struct program *free_program(struct init *in)
{
	for (size_t i = 0; i < PROGRAMS_MAX; i++)
		if (!in->programs[i].pid)
			return &in->programs[i];
	return NULL;
}

static void handle_run(struct init *in, struct wire *w, const int *fds, size_t n_fds)
{
	struct program *p = free_program(in);
	struct run run;
	pid_t pid;

	if (run_get(w, &run) < 0 || n_fds < run.has_program)
		_exit(1);
	pid = p ? confine_fork(&in->start->confinement) : -1;
	if (pid == 0) {
		struct confinement c = confinement_of(in);

		become_child(in);
		program_become(&c, &run, fds, n_fds);
	}
	if (pid < 0)
		tell_status(in, INIT_EXITED, &run.id, 126 << 8);
	else
		*p = (struct program){ .id = run.id, .pid = pid };
	run_release(&run);
}

static void reaped(struct init *in, pid_t pid, int status)
{
	if (pid == in->shell) {
		if (WIFSTOPPED(status)) { /* a shell that stopped itself would be deaf */
			kill(pid, SIGCONT);
			return;
		}
		in->shell = 0;
		tell_status(in, INIT_SHELL_END, NULL, status);
		return;
	}
	if (WIFSTOPPED(status))
		return;
	for (size_t i = 0; i < PROGRAMS_MAX; i++) {
		struct program *p = &in->programs[i];

		if (p->pid == pid) {
			p->pid = 0;
			tell_status(in, INIT_EXITED, &p->id, status);
			return;
		}
	}
}

static void reap(struct init *in)
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
			reaped(in, pid, status);
	}
}

/* --- signals --------------------------------------------------------------------------------- */

static void handle_signal(const struct init *in, struct wire *w)
{
	uint32_t id = wire_get_u32(w);
	uint32_t number = wire_get_u32(w);

	if (!wire_done(w) || number > (uint32_t)SIGRTMAX)
		_exit(1);
	for (size_t i = 0; i < PROGRAMS_MAX; i++) {
		const struct program *p = &in->programs[i];

		if (p->pid && p->id == id) {
			kill(-p->pid, (int)number); /* its group; it made one with setsid() */
			kill(p->pid, (int)number);
		}
	}
}

static void signal_born(const struct init *in, int number)
{
	struct step_mark mark = *in->mark; /* the agent may write it meanwhile */

	for (int i = 0; i < INTERRUPT_PASSES; i++)
		if (interrupt_born_since(&mark, in->shell, number) <= 0 || number != SIGKILL)
			break;
}

static void signal_shell(const struct init *in, int number)
{
	if (in->shell) { /* or it has ended: what it began is still there */
		kill(in->shell, SIGCONT);
		kill(in->shell, number);
	}
}

/* levels as in sandbox.h: ask, kill, and the shell as well */
static void handle_interrupt(const struct init *in, struct wire *w)
{
	auto_buf struct buf b = BUF_INIT(8);
	uint8_t level = wire_get_u8(w);

	if (!wire_done(w))
		_exit(1);
	signal_shell(in, level >= 2 ? SIGKILL : INTERRUPT_SIGNAL);
	signal_born(in, level >= 1 ? SIGKILL : SIGCONT);
	if (level == 0)
		signal_born(in, SIGINT);
	wire_put_u8(&b, INIT_INTERRUPTED);
	tell(in, &b, NULL);
}

/* --- files ----------------------------------------------------------------------------------- */

static void handle_get(const struct init *in, struct wire *w)
{
	uint32_t id = wire_get_u32(w);
	auto_free char *folder = wire_get_str(w, GUEST_PATH_MAX);
	auto_free char *path = wire_get_str(w, GUEST_PATH_MAX);
	uint64_t most = wire_get_u64(w);
	struct fh_error err = FH_ERROR_INIT;
	auto_close int fd = -1;

	if (!wire_done(w))
		_exit(1);
	files_get(folder, path, most, &fd, &err);
	tell_done(in, id, &err, fd >= 0 ? &fd : NULL);
}

static void handle_put(const struct init *in, struct wire *w, const int *fds, size_t n_fds)
{
	uint32_t id = wire_get_u32(w);
	auto_free char *folder = wire_get_str(w, GUEST_PATH_MAX);
	auto_free char *path = wire_get_str(w, GUEST_PATH_MAX);
	uint32_t mode = wire_get_u32(w);
	struct fh_error err = FH_ERROR_INIT;

	if (!wire_done(w) || n_fds != 1)
		_exit(1);
	files_put(folder, path, (mode_t)mode, fds[0], &err);
	tell_done(in, id, &err, NULL);
}

/* --- the agent's requests -------------------------------------------------------------------- */

static void serve_request(struct init *in, size_t i)
{
	uint8_t bit = (uint8_t)(1u << i);

	if (!(in->requests & bit)) {
		auto_buf struct buf b = BUF_INIT(8);

		in->requests |= bit;
		wire_put_u8(&b, INIT_REQUEST);
		wire_put_u8(&b, in->requests);
		tell(in, &b, NULL);
	}
	requests_answer(in->pipes[i]);
}

/* --- the loop -------------------------------------------------------------------------------- */

static void handle(struct init *in, const char *message, size_t size, int *fds, size_t n_fds)
{
	struct wire w = wire_open(message, size);

	switch ((enum init_message)wire_get_u8(&w)) {
	case INIT_RUN:
		handle_run(in, &w, fds, n_fds);
		break;
	case INIT_SIGNAL:
		handle_signal(in, &w);
		break;
	case INIT_INTERRUPT:
		handle_interrupt(in, &w);
		break;
	case INIT_SHELL:
		if (n_fds != SHELL_FDS ||
				start_shell(in, &(struct shell_ends){ fds[0], fds[1], fds[2] }) < 0)
			_exit(1);
		tell_ready(in);
		return; /* they are closed */
	case INIT_CLEAR:
		in->requests = 0;
		break;
	case INIT_GET:
		handle_get(in, &w);
		break;
	case INIT_PUT:
		handle_put(in, &w, fds, n_fds);
		break;
	}
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
}

/* The owner's next message; false if there is none now. */
static bool receive(struct init *in)
{
	static char message[GUEST_MESSAGE_MAX];
	int fds[GUEST_FDS_MAX + 1];
	size_t n_fds = 0;
	ssize_t size = fd_recv_message(in->start->control, message, sizeof(message), fds,
			GUEST_FDS_MAX + 1, &n_fds, MSG_DONTWAIT);

	if (size == -EAGAIN)
		return false;
	if (size <= 0)
		_exit(0);
	handle(in, message, (size_t)size, fds, n_fds);
	return true;
}

/* Requests are looked for first and served last: the owner has dealt with the ones before them, and that
 * it says so must not be read after them. */
static void turn(struct init *in)
{
	struct pollfd fds[REQUEST_PIPES + 3], *others = fds + REQUEST_PIPES;

	for (size_t i = 0; i < REQUEST_PIPES; i++)
		fds[i] = (struct pollfd){ .fd = in->pipes[i], .events = POLLIN };
	others[0] = (struct pollfd){ .fd = in->signals, .events = POLLIN };
	others[1] = (struct pollfd){ .fd = in->start->owner, .events = POLLIN };
	others[2] = (struct pollfd){ .fd = in->start->control, .events = POLLIN };
	if (poll(fds, ARRAY_SIZE(fds), in->unreaped ? 0 : -1) < 0)
		return;
	if (others[1].revents || others[2].revents & (POLLHUP | POLLERR))
		_exit(0); /* the kernel ends everything here */
	if (others[0].revents || in->unreaped)
		reap(in);
	if (others[2].revents)
		while (receive(in))
			;
	for (size_t i = 0; i < REQUEST_PIPES; i++)
		if (fds[i].revents)
			serve_request(in, i);
}

/* Closes all that a clone of the nursery has and PID 1 must not. */
static void keep_own_fds(const struct init_start *s)
{
	int keep[3 + SHELL_FDS + GUEST_GROUPS_MAX] = { s->control, s->owner, s->files,
		s->shell.mail, s->shell.status, s->shell.output };
	size_t n = 3 + SHELL_FDS;
	unsigned from = 3; /* 0, 1 and 2 are /dev/null */

	for (uint32_t i = 0; i < s->confinement.n_groups; i++)
		keep[n++] = s->confinement.groups[i];
	for (;;) {
		unsigned next = ~0U;

		for (size_t i = 0; i < n; i++)
			if (keep[i] >= (int)from && (unsigned)keep[i] < next)
				next = (unsigned)keep[i];
		if (next == ~0U)
			break;
		if (next > from)
			close_range(from, next - 1, 0);
		from = next + 1;
	}
	close_range(from, ~0U, 0);
}

static int begin_shell(struct init *in, struct fh_error *err)
{
	const struct init_start *start = in->start;
	int r;

	in->mark = mem_share(sizeof(*in->mark));
	if (!in->mark)
		return error_set(err, errno, "map shared memory");
	r = start->shell.mail >= 0 ? start_shell(in, &start->shell) : 0;
	return r < 0 ? error_set(err, -r, "fork the shell") : 0;
}

static int begin(struct init *in, struct fh_error *err)
{
	sigset_t set;
	int r;

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	keep_own_fds(in->start);
	prctl(PR_SET_NAME, "init");
	r = begin_shell(in, err); /* first, since it takes longer than all below */
	if (r == 0)
		r = mounts_leave(err);
	if (r < 0)
		return r;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	in->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (in->signals < 0)
		return error_set(err, errno, "make a signalfd");
	return requests_open(in->pipes, err);
}

_Noreturn void init_main(const struct init_start *start)
{
	static struct init in;
	struct fh_error err = FH_ERROR_INIT;

	in.start = start;
	in.signals = -1;
	for (size_t i = 0; i < REQUEST_PIPES; i++)
		in.pipes[i] = -1;
	if (begin(&in, &err) < 0) {
		guest_fail(start->control, INIT_FAILED, &err);
		_exit(1);
	}
	tell_ready(&in); /* first, so that who sees an answer of the shell knows of its files */
	shell_let_go(in.mark);
	for (;;)
		turn(&in);
}
