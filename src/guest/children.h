/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_CHILDREN_H
#define GUEST_CHILDREN_H

#include "guest/start.h"

/* The state of a sandbox' PID 1, and functions that fork its children. */

#define PROGRAMS_MAX 32

struct init_program {
	uint32_t id;
	pid_t pid; /* pid of the running program; 0: this entry of the table is free */
	int go;    /* eventfd that a forked program waits for before it begins; -1: it has begun */
};

struct init {
	const struct init_start *start;
	int signals;
	bool unreaped; /* SIGCHLD was read, but not all ended children were reaped */
	struct init_program programs[PROGRAMS_MAX];
	pid_t shell, porter;
	pid_t sweeper; /* process that sends the signals of an interruption; 0: none runs */
	struct init_interruption {
		uint8_t level; /* level of force of the interruption: enum interrupt_level */
		struct shell_mark mark;
	} next; /* interruption that begins when the running sweeper ends */
	/* number of interruptions that PID 1 has yet to report to the owner, once all signals are
	 * sent */
	uint32_t unanswered;
	bool again; /* `next` holds an interruption that has not yet begun */
	/* the owner asked for a new shell, which begins when no process sends signals to the old
	 * one's */
	bool shell_wanted;
	int shell_wanted_fd;
};

/* Makes the descriptors of a new shell: a pipe, the shared memory `gate` and eventfds. */
int shell_ends_make(struct shell_ends *ends, struct fh_error *err);
void shell_ends_close(struct shell_ends *ends); /* closes all descriptors of a shell but `go` */

/*
 * Forks the shell, which runs nothing before child_let_go(&ends->go). Closes the caller's copies of
 * descriptors that only the shell needs. `drain`, `gate` and `event` stay open for the porter.
 */
int shell_fork(struct init *in, struct shell_ends *ends, struct fh_error *err);
/*
 * Starts a new shell after the last one ended. `mail` is a descriptor of struct shell_mail, the
 * memory that passes commands to the shell. Closes this process' copy of `mail`.
 */
int shell_replace(struct init *in, int mail);

/*
 * Forks the porter, the process that forwards output. It reads the pipes of the agent's requests.
 * It shares the `drain`, `gate` and `event` of `shell` with the shell.
 */
int porter_fork(struct init *in, const int pipes[REQUEST_PIPES], const struct shell_ends *shell,
		struct fh_error *err);

/*
 * Forks a child with a fixed pid, so that the agent's processes get the same pids in each episode.
 * If the pid is taken, the child gets another.
 */
pid_t child_fork_as(pid_t number);

/*
 * Forks a program that waits for the eventfd `go`. The caller closes its copies of the program's
 * descriptors before it writes to `go`. Returns a pid, or -1.
 */
pid_t program_fork(struct init *in, const struct init_run *run, const int *sent, int go);

void child_let_go(int *go);

#endif
