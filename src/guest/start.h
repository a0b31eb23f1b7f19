/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_START_H
#define GUEST_START_H

#include "guest/confine.h"
#include "guest/requests.h"

#include <signal.h>
#include <stdatomic.h>

/*
 * Arguments and main functions of a sandbox' processes. No function here returns, except
 * pack_write().
 */

/* Signal of PID 1 that has the shell end the running command. */
#define INTERRUPT_SIGNAL (SIGRTMAX - 1)

/* Fixed pids of PID 1's children, so that they are equal in all sandboxes: see child_fork_as(). */
#define PORTER_PID 32767
#define SWEEPER_PID 32766

/* Descriptors that a new shell gets; -1: none. The owner makes `mail`, PID 1 the others. */
struct shell_ends {
	int mail; /* memory for the shell's commands and answers: struct shell_mail */
	/* pipe of the shell's output: `output` is its writing end, `drain` its reading end */
	int output, drain;
	/* memory in which shell and porter agree on who reads the output: struct shell_gate */
	int gate;
	int event; /* eventfd that wakes the porter: the shell writes to it */
	/*
	 * Eventfd that PID 1 writes to when it has closed its copies of `mail` and `output`. Before
	 * that the shell runs no command.
	 */
	int go;
};

#define SHELL_ENDS_INIT(its_mail)                                                                  \
	{                                                                                          \
		.mail = (its_mail), .output = -1, .drain = -1, .gate = -1, .event = -1, .go = -1   \
	}

struct shell_start {
	/* descriptors of the shell, which moves them to high numbers that scripts do not use */
	struct shell_ends ends;
	struct shell_mail *mail;
	struct shell_gate *gate;
	uint32_t random_seed;
	const char *const *env;
};

struct guest_hooks {
	/* Runs the owner's commands in a shell process that has lost its rights. Never returns. */
	void (*shell)(const struct shell_start *start);
};

/*
 * In nursery.c: makes sandboxes until the owner has ended or closed the socket, and all sandboxes
 * have ended.
 */
_Noreturn void nursery_main(int socket, const struct guest_hooks *hooks);

/* Arguments of init_main() in init.c. The function runs as a sandbox' PID 1, after
 * mounts_build(). */
struct init_start {
	/* sockets for the sandbox that came with its plan: array of PLAN_SOCKETS */
	const int *sockets;
	int owner; /* pidfd of the owner's process, to see its end */
	/* O_PATH descriptor of the sandbox' file system for files that the episode writes; -1:
	 * none */
	int files;
	/* descriptor of the shell's memory for commands and answers, struct shell_mail; -1: no
	 * shell */
	int mail;
	/* descriptors of cgroup.procs of the owner's own control groups: the porter moves itself
	 * into these groups */
	const int *home;
	size_t n_home;
	const struct plan *plan;
	struct confinement confinement;
	/*
	 * Memory shared with the cradle. 0: PID 1 is in the sandbox' control groups, so its
	 * children are born in them. 1: PID 1 has left them. NULL: PID 1 was never in them (see
	 * cradle.c).
	 */
	atomic_int *moved_out;
	const struct guest_hooks *hooks;
};

_Noreturn void init_main(const struct init_start *start);

/*
 * Arguments of porter_main() in porter.c. It runs as the porter, a child of PID 1, and has only
 * these descriptors.
 */
struct porter_start {
	int owner, init; /* sockets of the porter, to the owner and to PID 1 */
	int pipes[REQUEST_PIPES];
	/* the shell's descriptors that the porter needs: drain, gate and event; -1: no shell */
	struct shell_ends shell;
	/*
	 * Descriptors of cgroup.procs of the owner's control groups. By them the porter leaves the
	 * episode's groups; none if it is not in them.
	 */
	const int *home;
	size_t n_home;
};

_Noreturn void porter_main(const struct porter_start *start);

/* In shell.c: turns a process that PID 1 forked into a shell. */
_Noreturn void shell_become(const struct init_start *start, const struct confinement *c,
		const struct shell_ends *ends);
/*
 * Waits until PID 1 lets this shell run commands: see shell_ends.go. Call it when the shell is set
 * up.
 */
void shell_await(const struct shell_start *start);
/*
 * Waits in a shell for a command whose number is later than *turn, and updates *turn. Returns false
 * if a signal interrupted the wait.
 */
bool shell_wait(const struct shell_mail *mail, uint32_t *turn);
/*
 * Answers a command that has ended: writes status, working directory and the rest of the output
 * into `mail`. Then wakes the owner. Runs in a shell.
 */
void shell_answer(const struct shell_start *start, uint32_t turn, struct shell_status *status,
		const char *cwd);

/* In program.c: the default environment of programs and shells. */
extern const char *const program_environment[];

struct child_start {
	const struct init_run *run;
	const struct confinement *confinement;
	int program;  /* descriptor of the program's file; -1: look up argv[0] in PATH */
	int *fds;     /* array: file fds[i] becomes the program's descriptor i; -1: /dev/null */
	int terminal; /* socket for the master of the program's terminal; -1: no terminal */
	/*
	 * Eventfd that the program waits for. PID 1 writes to it when PID 1 and the owner have
	 * closed their copies of `fds`.
	 */
	int go;
};

/* In program.c: turns a process that PID 1 forked into a program. */
_Noreturn void program_become(const struct child_start *start);

/*
 * In pack.c: writes the content of the folder `path` to the descriptor `out`, without the names in
 * `left_out`. Returns -errno if nothing was written.
 */
int pack_write(const char *path, const char *const *left_out, int out);

#endif
