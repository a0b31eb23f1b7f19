/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_CHILDREN_H
#define GUEST_CHILDREN_H

#include "guest/start.h"

/* The state of PID 1, and how it makes its children. */
#define PROGRAMS_MAX 32

struct init_program {
	uint32_t id;
	pid_t pid; /* 0: free */
	int go;    /* eventfd: the program waits for it; -1 once it runs */
};

struct init {
	const struct init_start *start;
	int signals;
	bool unreaped; /* children may have ended whose signal was read */
	struct init_program programs[PROGRAMS_MAX];
	pid_t shell, porter;
};

/* The shell's pipe, gate and eventfds. */
int shell_ends_make(struct shell_ends *ends, struct fh_error *err);
void shell_ends_close(struct shell_ends *ends); /* all but `go` */

/* Forks the shell, which runs nothing before child_let_go(&ends->go). Closes the ends that the
 * shell alone keeps; `drain`, `gate` and `event` are the porter's, too. */
int shell_fork(struct init *in, struct shell_ends *ends, struct fh_error *err);
/* A shell in place of one that has ended. Closes its mail. */
int shell_replace(struct init *in, int mail);

/* The porter has the request pipes, and shares with the shell its ends. */
int porter_fork(struct init *in, const int pipes[REQUEST_PIPES], const struct shell_ends *shell,
		struct fh_error *err);

/* Begins a program that waits for its `go`. The caller closes its descriptors before it sets
 * that. Returns a pid, or -1. */
pid_t program_fork(struct init *in, const struct init_run *run, const int *sent, int go);

void child_let_go(int *go);

#endif
