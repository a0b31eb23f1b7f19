/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_CHILDREN_H
#define GUEST_CHILDREN_H

#include "guest/start.h"

/* The state of PID 1, and how it makes its children. */
#define PROGRAMS_MAX 32

struct init_program {
	uint32_t id;
	pid_t pid; /* 0: this entry is free */
	int go;    /* eventfd that the program waits for; -1 once it was let go */
};

struct init {
	const struct init_start *start;
	int signals;
	bool unreaped; /* SIGCHLD was read, but not all ended children were reaped */
	struct init_program programs[PROGRAMS_MAX];
	pid_t shell, porter;
	pid_t sweeper; /* sends an interruption's signals; 0: none runs */
	struct init_interruption {
		uint8_t level; /* enum interrupt_level */
		struct shell_mark mark;
	} next;              /* interruption that waits for the sweeper's end */
	uint32_t unanswered; /* number of interruptions to answer when all signals are sent */
	bool again;          /* `next` is set */
	bool shell_wanted;   /* the owner wants a new shell, which begins when no sweeper runs */
	int shell_wanted_fd;
};

/* Makes the shell's pipe, gate and eventfds. */
int shell_ends_make(struct shell_ends *ends, struct fh_error *err);
void shell_ends_close(struct shell_ends *ends); /* closes all but `go` */

/*
 * Forks the shell, which runs nothing before child_let_go(&ends->go). Closes the ends that only the
 * shell needs. The porter needs `drain`, `gate` and `event`.
 */
int shell_fork(struct init *in, struct shell_ends *ends, struct fh_error *err);
/* Starts a new shell after the last one ended. Closes `mail` in this process. */
int shell_replace(struct init *in, int mail);

/*
 * Forks the porter. It gets the request pipes, and shares `drain`, `gate` and `event` with the
 * shell.
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
