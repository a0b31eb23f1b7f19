/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_START_H
#define GUEST_START_H

#include "guest/confine.h"
#include "guest/requests.h"

#include <signal.h>
#include <stdatomic.h>

/*
 * The processes of a sandbox: the arguments that each starts with, and the function that it runs.
 * None of these functions returns, except pack_write().
 */

/* Signal from PID 1 to a shell's loop that ends the running command. */
#define INTERRUPT_SIGNAL (SIGRTMAX - 1)

/* Fixed pids: see child_fork_as(). */
#define PORTER_PID 32767
#define SWEEPER_PID 32766

/* Descriptors of a shell; -1: none. The owner makes `mail`, PID 1 the others. */
struct shell_ends {
	int mail;          /* memory (struct shell_mail) */
	int output, drain; /* the shell's pipe: writing end, reading end */
	int gate;          /* memory (struct shell_gate) */
	int event;         /* eventfd by which the shell wakes the porter */
	/* Eventfd: the shell may run commands once PID 1 has closed its copies. */
	int go;
};

#define SHELL_ENDS_INIT(its_mail)                                                                  \
	{                                                                                          \
		.mail = (its_mail), .output = -1, .drain = -1, .gate = -1, .event = -1, .go = -1   \
	}

struct shell_start {
	struct shell_ends ends; /* the shell moves these to numbers that bash does not use */
	struct shell_mail *mail;
	struct shell_gate *gate;
	uint32_t random_seed;
	const char *const *env;
};

struct guest_hooks {
	/* Runs the owner's commands in a confined process; never returns. */
	void (*shell)(const struct shell_start *start);
};

/* In nursery.c: runs until the owner has ended or closes the socket. */
_Noreturn void nursery_main(int socket, const struct guest_hooks *hooks);

/* In init.c: PID 1 of a sandbox, after mounts_build(). */
struct init_start {
	const int *sockets; /* array of PLAN_SOCKETS sockets */
	int owner;          /* pidfd of the owner's process */
	int files;          /* O_PATH of the episode's file system; -1: none */
	int mail;           /* shared memory of commands and answers; -1: no shell */
	const int *home;    /* cgroup.procs of the owner's own groups, for porter.c */
	size_t n_home;
	const struct plan *plan;
	struct confinement confinement;
	/*
	 * Shared memory: 0 while PID 1 is in the sandbox' groups, so that its forks are born in
	 * them. NULL: PID 1 was never in the groups (see cradle.c).
	 */
	atomic_int *moved_out;
	const struct guest_hooks *hooks;
};

_Noreturn void init_main(const struct init_start *start);

/* In porter.c: runs in a fork of PID 1 that has no other descriptors. */
struct porter_start {
	int owner, init; /* sockets to the owner and to PID 1 */
	int pipes[REQUEST_PIPES];
	struct shell_ends shell; /* only drain, gate and event; -1: no shell */
	/* cgroup.procs to move to; none if the porter is not in the episode's groups. */
	const int *home;
	size_t n_home;
};

_Noreturn void porter_main(const struct porter_start *start);

/* In shell.c: runs in a fork of PID 1. */
_Noreturn void shell_become(const struct init_start *start, const struct confinement *c,
		const struct shell_ends *ends);
/* Waits until the shell may run commands. The shell must be ready for them. */
void shell_await(const struct shell_start *start);
/*
 * Waits in a shell for a command later than *turn, and updates *turn. False if a signal came
 * instead.
 */
bool shell_wait(const struct shell_mail *mail, uint32_t *turn);
/*
 * Answers a command that has ended, in a shell. Writes status, working directory and the rest of
 * the output into the mail, and wakes the owner.
 */
void shell_answer(const struct shell_start *start, uint32_t turn, struct shell_status *status,
		const char *cwd);

/* In program.c: the default environment of programs and shells. */
extern const char *const program_environment[];

struct program_start {
	const struct init_run *run;
	const struct confinement *confinement;
	int program;    /* descriptor of the program; -1: look up argv[0] in PATH */
	const int *fds; /* descriptors for its slots; -1: /dev/null */
	/* Eventfd: the program may begin once PID 1 and the owner have closed `fds`. */
	int go;
};

/* In program.c: runs in a fork of PID 1. */
_Noreturn void program_become(const struct program_start *start);

/*
 * In pack.c: writes the folder `path` to `out`, without the names in `left_out`. -errno: nothing
 * was written.
 */
int pack_write(const char *path, const char *const *left_out, int out);

#endif
