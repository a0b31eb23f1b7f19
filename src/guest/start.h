/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_START_H
#define GUEST_START_H

#include "guest/confine.h"
#include "guest/requests.h"

#include <signal.h>

/* The processes of a sandbox: what each is started with, and the function that it runs. None of
 * these functions returns, but for pack_write(). */

/* From PID 1 to a shell's loop: end the command. */
#define INTERRUPT_SIGNAL (SIGRTMAX - 1)

/* Descriptors of a shell; -1: none. The owner makes its mail, PID 1 the others. */
struct shell_ends {
	int mail;          /* memory (struct shell_mail) */
	int output, drain; /* the ends of its pipe: to write and to read */
	int gate;          /* memory (struct shell_gate) */
	int event;         /* an eventfd, to wake the porter */
	int go;            /* an eventfd: it may run commands once PID 1 has closed the others */
};

#define SHELL_ENDS_INIT(its_mail)                                                                  \
	{                                                                                          \
		.mail = (its_mail), .output = -1, .drain = -1, .gate = -1, .event = -1, .go = -1   \
	}

struct shell_start {
	struct shell_ends ends; /* the shell moves them out of the way of bash */
	struct shell_mail *mail;
	struct shell_gate *gate;
	uint32_t random_seed;
	const char *const *env;
};

struct guest_hooks {
	/* Runs the commands that come; never returns. The process is already confined. */
	void (*shell)(const struct shell_start *start);
};

/* nursery.c: runs until the owner is gone or closes the socket. */
_Noreturn void nursery_main(int socket, const struct guest_hooks *hooks);

/* init.c: PID 1 of a sandbox, after mounts_build(). */
struct init_start {
	const int *sockets; /* PLAN_SOCKETS of them */
	int owner;          /* a pidfd */
	int files;          /* the episode's file system; -1: none */
	int mail;           /* memory of its shell; -1: it has none */
	const int *home;    /* cgroup.procs of the owner's own groups; see porter.c */
	size_t n_home;
	const struct plan *plan;
	struct confinement confinement;
	/* Shared memory: 0 as long as PID 1, and so each fork of it, is in the sandbox' groups.
	 * NULL: it never was (see cradle.c). */
	const volatile int *moved_out;
	const struct guest_hooks *hooks;
};

_Noreturn void init_main(const struct init_start *start);

/* porter.c: in a fork of PID 1 that has no other descriptors. */
struct porter_start {
	int owner, init; /* sockets */
	int pipes[REQUEST_PIPES];
	struct shell_ends shell; /* drain, gate and event; -1: none */
	const int *home; /* groups to move into; none if it is not in those of the episode */
	size_t n_home;
};

_Noreturn void porter_main(const struct porter_start *start);

/* shell.c: in a fork of PID 1. */
_Noreturn void shell_become(const struct init_start *start, const struct confinement *c,
		const struct shell_ends *ends);
/* In a shell that is ready for commands: waits until it may run them. */
void shell_await(const struct shell_start *start);
/* In a shell: waits for a command later than *turn, which it sets; false if a signal came
 * instead. */
bool shell_wait(const struct shell_mail *mail, uint32_t *turn);
/* In a shell, once the command of that turn is over. Writes status, working directory and the
 * rest of the output into the mail, and wakes the owner. */
void shell_answer(const struct shell_start *start, uint32_t turn, struct shell_status *status,
		const char *cwd);

/* program.c: the default environment of programs and shells. */
extern const char *const program_environment[];

struct program_start {
	const struct init_run *run;
	const struct confinement *confinement;
	int program;    /* -1: look it up */
	const int *fds; /* descriptors of its slots; -1: /dev/null */
	int go;         /* an eventfd: it may begin once the others have closed these */
};

/* In a fork of PID 1. */
_Noreturn void program_become(const struct program_start *start);

/* pack.c: writes the folder `path` to `out`, without these names in it. -errno: nothing was
 * written. */
int pack_write(const char *path, const char *const *left_out, int out);

#endif
