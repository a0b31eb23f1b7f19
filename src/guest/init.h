/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_INIT_H
#define GUEST_INIT_H

#include "guest/guest.h"

/* What init.c and children.c share: the state of PID 1, and how it makes its children. */
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

/* Pipe, memory and eventfds of a shell, of PID 1's own making. */
int ends_make(struct shell_ends *ends, struct fh_error *err);
void ends_close(struct shell_ends *ends); /* all but `go` */

/* The shell gets ready, and runs nothing before ends->go is set by child_let_go(). What the shell alone has is closed
 * here; `drain`, `gate` and `event` are the porter's, too. */
int shell_fork(struct init *in, struct shell_ends *ends, struct fh_error *err);
/* A shell in the place of one that has ended; its mail is closed here. */
int shell_replace(struct init *in, int mail);

/* The porter has the request pipes, and what the shell shares with it. */
int porter_fork(struct init *in, const int pipes[REQUEST_PIPES], const struct shell_ends *shell,
		struct fh_error *err);

/* Begins a program that waits for its `go`; its descriptors are closed by the caller before that. A
 * pid, or -1. */
pid_t program_fork(struct init *in, const struct init_run *run, const int *sent, int go);

void child_let_go(int *go);

#endif
