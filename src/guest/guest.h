/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_GUEST_H
#define GUEST_GUEST_H

#include "base/error.h"
#include "base/sha256.h"
#include "proto/guest.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What runs on the guest's side. One process becomes another by clone or fork; nothing is exec'd on
 * the way from the nursery to a shell:
 *
 *   nursery.c   the owner's helper: one user namespace, one minimal mount tree; clones sandboxes
 *   birth.c     makes one sandbox: the clone that becomes its PID 1
 *   cradle.c    processes that wait in a sandbox' control groups, with a network for it
 *   rootfs.c    builds that tree once: the root that all sandboxes share
 *   layer.c     copies starting files into it
 *   binds.c     brings paths of the host into it
 *   removals.c  removes the folders of ended episodes
 *   ends.c      ends sandboxes whose PID 1 can't
 *   mounts.c    a sandbox's own mounts, in its clone
 *   network.c   its network namespace
 *   init.c      its PID 1: the control socket, ends of processes, the end of the owner
 *   children.c  how that makes its children
 *   porter.c    the child of PID 1 that touches what agents can lock: output, files, requests
 *   requests.c  what the agent can ask the porter for
 *   shell.c     what forks of PID 1 do to become the shell
 *   program.c   or a program
 *   pack.c      or what packs a folder for another sandbox
 *   files.c     files in and out of it, by the porter
 *   interrupt.c which processes a step began
 *   confine.c   what the shell and programs lose before they run anything of an agent
 *   glue.c      knows bash: the builtin and the shell's loop
 *   look.c      knows bash, too: what a shell says of itself
 *
 * All of it is single-threaded. Everything but these two runs as well outside bash, for the tests.
 */

/* Where things are in the nursery's own tree; no sandbox sees it once it has pivoted. */
#define TREE_ROOT "/root"     /* the root that sandboxes share */
#define TREE_LAYERS "/layers" /* a folder per layer */
#define TREE_BINDS "/binds"   /* a mount per bound path */
#define TREE_NAMES "/names"   /* files of /etc for sandboxes with the host's network */
#define TREE_NEXT "/next"     /* where a sandbox builds its root */
#define TREE_FILES "/files"   /* and its own file system */

/* Ids of a sandbox as the nursery sees them. */
#define NURSERY_ID(id) ((id) + 1)

/* What a shell has, -1: nothing. Its mail comes from the owner, PID 1 makes the others. */
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

/* From PID 1 to a shell's loop: end the command. */
#define INTERRUPT_SIGNAL (SIGRTMAX - 1)

struct shell_start {
	struct shell_ends ends; /* moved to where bash leaves them alone by the shell itself */
	struct shell_mail *mail;
	struct shell_gate *gate;
	uint32_t random_seed;
	const char *const *env;
};

/* Runs the commands that come; never returns. The process is already confined. */
typedef void guest_shell(const struct shell_start *start);

struct guest_hooks {
	guest_shell *shell;
};

struct confinement {
	int groups[GUEST_GROUPS_MAX];
	uint32_t n_groups;
	bool born_in_group;               /* by confine_fork(); else confine() enters them */
	uint64_t processes, memory_bytes; /* rlimits; 0: none */
	const void *filter;
	uint32_t filter_bytes;
};

/* Tells of an error on a socket; `kind` is NURSERY_FAILED or INIT_FAILED. */
int guest_fail(int socket, uint8_t kind, const struct fh_error *err);

/* nursery.c: runs until the owner is gone or closes the socket. */
_Noreturn void nursery_main(int socket, const struct guest_hooks *hooks);

enum bind_use {
	BIND_READ_ONLY,
	BIND_DEVICE,  /* the same, of devices that can be opened */
	BIND_EPISODE, /* writable, and given to the sandbox' root */
};

/* rootfs.c: in a fresh mount namespace; makes the tree and becomes its root. *out_can: NURSERY_CAN_*. */
int rootfs_build(const struct hello *hello, uint8_t *out_can, struct fh_error *err);
/* An open descriptor of a copy of the mounts at `source`, which is of this mount namespace. */
int rootfs_open_tree(const char *source, enum bind_use use, struct fh_error *err);

/* The nursery's mount namespaces. */
struct trees {
	int host, own;
};

int tree_enter(int ns, struct fh_error *err);

/* binds.c: the slot in TREE_BINDS where a path of the host is mounted. The process is in trees->own
 * before and after. */
struct binds *binds_new(void);
int binds_slot(struct binds *b, const struct trees *trees, const char *source, enum bind_use use,
		struct fh_error *err);
void binds_drop(struct binds *b, const char *source); /* it will not be asked for again */
void binds_forget(struct binds *b);

/* removals.c */
struct removals *removals_new(void);
void removals_add(struct removals *r, const char *path);
/* Starts a worker if there is something to do and none runs: how many children began. */
int removals_turn(struct removals *r, const struct trees *trees);
void removals_reaped(struct removals *r, pid_t pid, int status);
bool removals_left(const struct removals *r);
void removals_pause(void); /* between two tries, for who waits for them */
void removals_forget(struct removals *r);

/* layer.c: copies into the folder `to`; source paths are of the current root. */
int layer_copy(int to, const struct layer *layer, struct fh_error *err);
/* Copies the tree beneath `from` into `to`, with the ids as they are: for kernels without an overlay. */
int layer_clone(int from, int to, struct fh_error *err);

/* mounts.c: in the clone; numbers[i] is where bind i lies in TREE_BINDS. */
struct mounts_request {
	const struct plan *plan;
	const int *bind_numbers;
	int disk_number; /* of the folder for its files; -1: a tmpfs */
	uint8_t can;
};

/* *out_files: O_PATH descriptor of the episode's file system. The nursery's tree lies over the new root
 * until mounts_leave(), which takes as long as starting a shell: nothing of an agent runs before it. */
int mounts_build(const struct mounts_request *request, int *out_files, struct fh_error *err);
int mounts_leave(struct fh_error *err);

/* network.c: moves the process into a fresh network namespace with a loopback device. */
int network_make(struct fh_error *err);

/* requests.c: bit 1 << i of a request is asked for by the pipe i. */
#define REQUEST_PIPES 4

/* Makes the pipes, each -1 if there are none yet. */
int requests_open(int pipes[REQUEST_PIPES], struct fh_error *err);
/* Once the owner was told of what this pipe asks for: lets go who waits for that. */
void requests_answer(int pipe);

/* init.c: PID 1 of a sandbox, after mounts_build. */
struct init_start {
	const int *sockets; /* PLAN_SOCKETS of them */
	int owner, files;   /* a pidfd; the episode's file system, -1: none */
	int mail;           /* of its shell; -1: it has none */
	const int *home;    /* cgroup.procs of the owner's own groups; see porter.c */
	size_t n_home;
	const struct plan *plan;
	struct confinement confinement;
	/* NULL: PID 1 is outside of its groups. Else shared memory, 0 as long as it is in them, and so
	 * what it forks (see cradle.c). */
	const volatile int *moved_out;
	const struct guest_hooks *hooks;
};

_Noreturn void init_main(const struct init_start *start);

/* porter.c: in a fork of PID 1 that keeps only these; never returns. */
struct porter_start {
	int owner, init; /* sockets */
	int pipes[REQUEST_PIPES];
	struct shell_ends shell; /* drain and gate; -1: none */
	const int *home;         /* groups to move into, when it is in those of the episode */
	size_t n_home;
};

_Noreturn void porter_main(const struct porter_start *start);

/* Closes all descriptors from 3 on but these; -1 is none. */
void keep_fds(const int *keep, size_t n);

/* shell.c: in a fork of PID 1. */
_Noreturn void shell_become(const struct init_start *start, const struct confinement *c,
		const struct shell_ends *ends);
/* In a shell that is ready for commands: waits until it may run them. */
void shell_await(const struct shell_start *start);
/* In a shell: waits for a command later than *turn, which it sets; false if a signal came instead. */
bool shell_wait(const struct shell_mail *mail, uint32_t *turn);
/* In a shell, once the command of that turn is over: writes status, working directory and the rest of the
 * output into the mail, and wakes the owner. */
void shell_answer(const struct shell_start *start, uint32_t turn, struct shell_status *status,
		const char *cwd);

/* program.c: what a program or shell finds in its environment if nothing else is said. */
extern const char *const program_environment[];

struct program_start {
	const struct init_run *run;
	const struct confinement *confinement;
	int program;    /* -1: look it up */
	const int *fds; /* of its slots; -1: /dev/null */
	int go;         /* an eventfd: it may begin once the others have closed these */
};

/* In a fork of PID 1. */
_Noreturn void program_become(const struct program_start *start);

/* pack.c: writes the folder `path` to `out`, without these names in it. -errno: nothing was written. */
int pack_write(const char *path, const char *const *left_out, int out);

/* confine.c */
int confine_drop_bounding(void);
int confine_dumps(void); /* there will be none of this process, nor of what it forks */
pid_t confine_fork(const struct confinement *c);
int confine(const struct confinement *c, uint8_t user, struct fh_error *err);

/* files.c: a sealed copy in memory of a regular file beneath folder, following no link, and its hash. */
int files_get(const char *folder, const char *path, uint64_t most, int *out_fd,
		uint8_t out_digest[SHA256_BYTES], struct fh_error *err);
int files_put(const char *folder, const char *path, mode_t mode, int from, struct fh_error *err);
/* Makes the folders of a path beneath `top`, through no link; what is new is the owner's. Returns a
 * descriptor (O_PATH) of the last or -errno; *out_name is what follows it in path. */
int files_make_folders(int top, const char *path, id_t owner, const char **out_name);

/* interrupt.c: sends a signal to all processes that began since the mark, except PID 1 and two of its
 * children. */
int interrupt_born_since(
		const struct shell_mark *mark, pid_t shell, pid_t porter, int signal_number);

#endif
