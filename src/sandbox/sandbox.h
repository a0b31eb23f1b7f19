/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/waits.h"
#include "sandbox/bind.h"
#include "sandbox/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Sandboxes: namespaces, a root of listed paths, an overlay of its own, limits, and PID 1 which the
 * owner talks to over a socket.
 *
 * An `owner` is this process' side of all its sandboxes: the nursery that makes them, the pool of
 * control groups, and the layers made so far. A process opens one; any thread may start sandboxes
 * from it. A `sandbox` is used by one thread at a time. When the owner dies, however it dies, every
 * process and mount of its sandboxes ends.
 *
 * Starting does not wait: sandbox_start() sends the plan, and SANDBOX_READY or SANDBOX_FAILED comes
 * as an event on sandbox_fd(). Where the nursery was killed, or is full of plans, a thread sees to it
 * (errands.c). Only the owner's first layer or sandbox waits for its nursery. Nothing that a guest sends is trusted beyond its own sandbox.
 */

struct owner;
struct sandbox;

#define GPU_NUMBER_MAX 254 /* the devices after it are the driver's own */

struct owner_gpus {
	size_t wanted; /* so many are the owner's until it is closed, and no other's; 0: none */
	const int *numbers; /* those that it may have: 2 is /dev/nvidia2; NULL: any */
	size_t n_numbers;
};

struct owner_options {
	const char *label; /* in names of control groups; NULL: "run" */
	struct owner_gpus gpus;
};

int owner_open(const struct owner_options *options, struct owner **out, struct fh_error *err);
void owner_close(struct owner *owner); /* ends what is left of its sandboxes; NULL is fine */

/*
 * No sandbox that starts from now on sees what is in this folder, though it may lie beneath a listed path
 * (/usr, /opt): tasks with their hidden files, records. The program's own folders and the state are hidden
 * anyway. A folder that is not there needs nothing. Best before the first sandbox: for one that is named
 * later, a new process has to make them, which has to make the layers anew. -EINVAL for a folder that
 * sandboxes can't do without; sandbox_cover_check() says so without an owner.
 */
int owner_cover(struct owner *owner, const char *folder, struct fh_error *err);
int sandbox_cover_check(const char *folder, struct fh_error *err);

/* Limits that were asked for and can't be enforced on this machine, one sentence each; owned by
 * the owner, NULL when there is none. */
const char *owner_warning(const struct owner *owner);

/* What this machine gives; known once a sandbox or a layer was made. */
struct owner_abilities {
	bool groups;           /* control groups for limits and usage */
	const char *no_groups; /* why not; the owner's */
	bool overlay;          /* else a layer is copied into each sandbox */
};

void owner_abilities(const struct owner *owner, struct owner_abilities *out);

/* Some of the owner's GPUs, for the sandboxes of one episode: their numbers. -EBUSY while so many are not
 * free, -EINVAL when they never will be. Any thread may take and give back. */
int owner_take_gpus(struct owner *owner, size_t n, int *out_numbers, struct fh_error *err);
void owner_give_gpus(struct owner *owner, const int *numbers, size_t n);

/* What says to programs which GPUs they can use, when there are n: "CUDA_VISIBLE_DEVICES=0,1"; NULL for
 * none. Inside they count from 0. */
const char *sandbox_gpus_variable(struct arena *arena, size_t n);

/* Removes what owners that were killed left in the file systems of this machine; how many things. */
int owner_collect(void);

/*
 * A layer is a folder tree that many sandboxes share read-only under their own: it becomes the
 * workspace's starting state. Made once per name, by copying; files belong to the agent. `target` is
 * relative to /home/agent ("workspace/data/train.csv"); a source folder is copied whole, symbolic
 * links as links. Blocks until it is made, and holds up no sandbox meanwhile. -EEXIST when the name is taken.
 */
struct layer_item {
	const char *source; /* absolute path here; NULL makes an empty folder */
	const char *target;
	bool read_only;    /* not writable by the agent (who may still replace it) */
	bool folders_only; /* see owner_add_folders(); there is no target */
};

int owner_add_layer(struct owner *owner, const char *name, const struct layer_item *items, size_t n,
		struct fh_error *err);
bool owner_has_layer(const struct owner *owner, const char *name);

/* For sandboxes to which binds of `source`, an absolute path, are writable. Reads all its folders, the first time
 * that it is called for it; blocks meanwhile. */
int owner_add_folders(struct owner *owner, const char *source, struct fh_error *err);

struct sandbox_options {
	const char *layer; /* name; NULL: an empty home */
	const struct sandbox_bind *binds;
	size_t n_binds;
	/*
	 * Binds of this folder can be written to: what is written lies among the sandbox' own files, and ends with it.
	 * Its agent may make, replace and remove files there, and change none in place, for they are not its own.
	 * Needs owner_add_folders(). NULL: none.
	 */
	const char *writable;
	const int *gpus; /* numbers that the owner has; their devices are in /dev */
	size_t n_gpus;
	enum sandbox_network network;
	struct sandbox_limits limits;
	bool bare; /* for one program of ours: only binds, /proc, /dev; limits are per process */
	bool own_proc; /* /proc tells of its processes only, by no counter of what others do */
	bool judged;   /* it has no way to leave a sign for another sandbox: see seccomp.c */
	bool shell;    /* a shell session: see shell/session.h */
	const char *const *
			env; /* "K=V" exported in the shell, beside the usual ones; NULL-terminated */
	uint32_t random_seed; /* of the shell's RANDOM */
};

/* How often to start one that is gone before it was ready. Its cradle may have been killed, and so
 * may all cradles of sandboxes to come. */
#define SANDBOX_STARTS_MAX 4

int sandbox_start(struct owner *owner, const struct sandbox_options *options, struct sandbox **out,
		struct fh_error *err);

/* Ends it: the kernel ends its processes and mounts, without waiting for them. NULL is fine. */
void sandbox_close(struct sandbox *sb);

/* Adds what the next event may come by. */
void sandbox_waits(const struct sandbox *sb, struct waits *w);
#define SANDBOX_FDS 2
/* The descriptors that sandbox_waits() ever adds; -1: none. */
void sandbox_fds(const struct sandbox *sb, int out_fds[SANDBOX_FDS]);

/*
 * Output of the shell and of programs comes as bytes in between events, while sandbox_next_event() is
 * called: `slot` is 0 for the shell, else what stood in run_request.fds. `take` must copy them.
 */
typedef void sandbox_take_output(void *arg, int slot, const char *data, size_t n);
void sandbox_on_output(struct sandbox *sb, sandbox_take_output *take, void *arg);
/* As long as it is held back nothing comes from the porter: output waits in its pipe, and so does who writes it. The
 * porter is no later for that. `take` may call it. */
void sandbox_hold_output(struct sandbox *sb, bool hold);
/* Nobody wants what this program prints to `slot` any more: it gets SIGPIPE, as by a pipe without a reader. */
int sandbox_shut_output(struct sandbox *sb, uint32_t id, int slot, struct fh_error *err);

/* Bytes for what is RUN_INPUT, once after each SANDBOX_HUNGRY; none is the end of the input. */
#define SANDBOX_FEED_MAX 61440
int sandbox_feed(struct sandbox *sb, const void *data, size_t n, struct fh_error *err);

/* --- the shell: proto/guest.h has the whole story ------------------------------------------------ */

/* Hands the shell its next command, of at most SHELL_COMMAND_MAX bytes, once it has answered the last
 * one. One that is gone gets nothing; events tell of it. */
void sandbox_tell_shell(struct sandbox *sb, uint64_t nonce, uint32_t flags, const char *text);
/* Whether the shell says that its answer is there: the agent's word, and sooner known than by a
 * descriptor. */
bool sandbox_shell_answered(const struct sandbox *sb);
/* Waits for it, deaf to all else: for moments. */
bool sandbox_shell_await(struct sandbox *sb, int64_t timeout_ns);
/* From now on its answer wakes who waits by sandbox_waits(). False: it is there already, and will not. */
bool sandbox_shell_listen(struct sandbox *sb);
/* Copies the answer, which the agent may have written: its output is added to `output`, the bytes of
 * `cwd` get a NUL after them. -EPROTO if its lengths are none. */
struct shell_status;
int sandbox_shell_status(
		const struct sandbox *sb, struct shell_status *out, char *cwd, size_t cwd_size);
void sandbox_shell_output(const struct sandbox *sb, const struct shell_status *status,
		struct buf *output, bool *out_cut);
/* From now on until the end of the command its output comes while it runs. Asked again now and then, since a
 * porter that does not hear it in time hangs: the sandbox is gone then. */
int sandbox_pump_shell(struct sandbox *sb, struct fh_error *err);

enum sandbox_event_kind {
	SANDBOX_NONE,   /* nothing there now */
	SANDBOX_READY,  /* the sandbox stands, its shell (if any) reads commands */
	SANDBOX_FAILED, /* it could not be made: `text` says why; only sandbox_close() is left */
	SANDBOX_EXITED, /* what sandbox_run() started has ended: `id`, `status` as wait(2) gives it */
	SANDBOX_SHELL,       /* the shell has ended: `status` */
	SANDBOX_REQUEST,     /* the agent asked for REQUEST_* (bits in `status`) */
	SANDBOX_INTERRUPTED, /* what sandbox_interrupt() asked for is done: one for each */
	SANDBOX_DONE,        /* what sandbox_..._begin() asked for: `id`; sandbox_take() has it */
	SANDBOX_HUNGRY,      /* the program's input waits for sandbox_feed() */
	SANDBOX_GONE,        /* PID 1 is gone: only sandbox_close() is left */
};

/* REQUEST_STATE: the tools have another file open; REQUEST_CALL: they want an answer, now. */
enum { REQUEST_VALIDATE = 1, REQUEST_SUBMIT = 2, REQUEST_STATE = 4, REQUEST_CALL = 8 };
#define REQUEST_ALL (REQUEST_VALIDATE | REQUEST_SUBMIT | REQUEST_STATE | REQUEST_CALL)

struct sandbox_event {
	enum sandbox_event_kind kind;
	uint32_t id;
	int status;
	char text[512];
};

/* The next event, without waiting (SANDBOX_NONE). A guest that breaks the protocol is SANDBOX_GONE. */
void sandbox_next_event(struct sandbox *sb, struct sandbox_event *out);

/* One can be had that no descriptor will tell of. */
bool sandbox_has_event(const struct sandbox *sb);
/* Its porter has ended, so output may be lost. SANDBOX_GONE or SANDBOX_FAILED comes soon. */
bool sandbox_is_ending(const struct sandbox *sb);

/* As sandbox_next_event(), waiting at most timeout_ms (-1: for ever). */
void sandbox_wait_event(struct sandbox *sb, int timeout_ms, struct sandbox_event *out);

/* USER_ROOT: uid 0 of the sandbox, no capabilities. USER_PACKER: the same, with the agent's rights to files; it runs
 * no program, but writes a folder to descriptor 1 as struct pack_entry tells (proto/guest.h). Its argv is the
 * folder, and names in it that are left out. */
enum sandbox_user { USER_AGENT, USER_ROOT, USER_PACKER };

struct run_request {
	const char *const *argv; /* argv[0] is looked up in PATH inside if it has no slash */
	int program_fd;          /* >= 0: run this executable instead of looking up argv[0] */
	const char *const *env;  /* the whole environment; NULL: the usual one of the agent */
	const char *cwd;         /* NULL: /home/agent/workspace if it is there, else / */
	enum sandbox_user user;
	const int *fds; /* become 0, 1, 2, ... of the program; the caller keeps its own. Or RUN_... */
	size_t n_fds;
	bool held; /* it begins with sandbox_go(): until then the caller can close its pipes */
};

enum {
	RUN_NOTHING = -1,  /* /dev/null */
	RUN_STREAM_1 = -2, /* a pipe, which comes by sandbox_on_output() */
	RUN_STREAM_2 = -3,
	RUN_INPUT = -4, /* a pipe, which sandbox_feed() writes to; of one program at a time */
};

#define RUN_REQUEST_INIT                                                                           \
	{                                                                                          \
		.program_fd = -1                                                                   \
	}

/* Starts a program; its end comes as SANDBOX_EXITED with *out_id. Does not wait. */
int sandbox_run(struct sandbox *sb, const struct run_request *request, uint32_t *out_id,
		struct fh_error *err);

int sandbox_go(struct sandbox *sb, uint32_t id, struct fh_error *err);

/* Sends a signal to a program that sandbox_run() started, and to its process group. */
int sandbox_signal(struct sandbox *sb, uint32_t id, int signal_number, struct fh_error *err);

/* Interrupts the shell's command. How hard: CONT and the loop's own signal and INT to what was born
 * since the step began; then KILL to that; then the shell itself and all that is left of the step; then
 * whatever runs in the sandbox, which may hold a lock that the shell waits for.
 * SANDBOX_INTERRUPTED follows; until then the signals may still hit what comes next. */
enum interrupt_level { INTERRUPT_ASK, INTERRUPT_KILL, INTERRUPT_SHELL, INTERRUPT_ALL };

int sandbox_interrupt(struct sandbox *sb, enum interrupt_level level, struct fh_error *err);

/* Starts a new shell in the same files after the last one ended (SANDBOX_READY follows). */
int sandbox_restart_shell(struct sandbox *sb, struct fh_error *err);

/* After requests were dealt with: the next ones are told again. */
int sandbox_clear_requests(struct sandbox *sb, struct fh_error *err);

/*
 * Work of the porter (guest/porter.c), which an agent can make wait: so it is begun, and its end comes as
 * SANDBOX_DONE. One at a time: a second one makes the first be forgotten. A porter that takes longer than
 * the size allows (5 s and more) hangs: the sandbox is gone then, which ends what it waits for.
 *
 * get: copies a regular file of the sandbox of at most max_bytes, beneath `folder` (absolute), through no
 * symbolic link. What comes is a sealed copy in memory, and its hash (guest/files.c says of what).
 * -ENOENT, -ELOOP (a link), -EINVAL (no regular file), -EFBIG, with a sentence that may be shown to
 * the agent.
 * put: writes a file of the sandbox as its agent would (same rules about links); folders are made.
 * `from` has its content, from its beginning, and is the caller's.
 * drain: all that shell and programs have printed by now comes as output before SANDBOX_DONE does.
 */
struct sandbox_answer {
	int fd; /* of get, the caller's to close */
	uint8_t digest[SHA256_BYTES];
};

int sandbox_get_begin(struct sandbox *sb, const char *folder, const char *path, int64_t max_bytes,
		uint32_t *out_id, struct fh_error *err);
int sandbox_put_begin(struct sandbox *sb, const char *folder, const char *path, int from,
		mode_t mode, uint32_t *out_id, struct fh_error *err);
int sandbox_put_text_begin(struct sandbox *sb, const char *folder, const char *path,
		const void *data, size_t n, mode_t mode, uint32_t *out_id, struct fh_error *err);
int sandbox_drain_begin(struct sandbox *sb, uint32_t *out_id, struct fh_error *err);
/* How it went, once SANDBOX_DONE came; -EPIPE if the sandbox is gone. */
int sandbox_take(struct sandbox *sb, struct sandbox_answer *out, struct fh_error *err);

/* For who waits for the answer alone: whether it is there, or never will be. Other events are kept. */
bool sandbox_answered(struct sandbox *sb, uint32_t id);
void sandbox_answer_waits(const struct sandbox *sb, struct waits *w);

/* The same, waiting: for the thread of an opening (env/make.c), and for tests. No episode's loop calls them. */
int sandbox_get(struct sandbox *sb, const char *folder, const char *path, int64_t max_bytes,
		int *out_fd, struct fh_error *err);
int sandbox_put(struct sandbox *sb, const char *folder, const char *path, const void *data,
		size_t n, mode_t mode, struct fh_error *err);

/* What the sandbox has used so far; -1 where this machine can't tell. */
struct sandbox_usage {
	int64_t cpu_ns;
	int64_t written_bytes;
};

void sandbox_usage(struct sandbox *sb, struct sandbox_usage *out);
int64_t sandbox_cpu_ns(struct sandbox *sb);

/* These take longer; -1: not known. */
int64_t sandbox_memory_peak(struct sandbox *sb); /* bytes */
int64_t sandbox_oom_kills(struct sandbox *sb);

#endif
