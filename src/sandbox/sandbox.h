/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/job.h"
#include "base/sha256.h"
#include "base/waits.h"
#include "sandbox/bind.h"
#include "sandbox/gpus.h"
#include "sandbox/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Sandboxes, independent of the implementation: sandbox/ops.h has the functions of an
 * implementation, and src/native is the only one.
 *
 * An `owner` is this process' side of all its sandboxes. A process opens one; any thread may start
 * sandboxes from it. Only one thread at a time may use a `sandbox`. When the owner's process ends,
 * even by SIGKILL, every process of its sandboxes ends.
 *
 * sandbox_start() does not wait: SANDBOX_READY or SANDBOX_FAILED comes as an event. Only the
 * owner's first layer or sandbox may block. A sandbox is untrusted: a malformed message ends the
 * sandbox that sent it and no other.
 */

struct owner;
struct sandbox;

struct owner_options {
	/* name that tells an administrator of this machine what the sandboxes are for; NULL:
	 * "run" */
	const char *label;
	struct gpus_wanted gpus; /* GPUs to hold until the owner is closed */
};

int owner_open(const struct owner_options *options, struct owner **out, struct fh_error *err);
/* closes an owner and ends sandboxes that are still open; NULL is fine */
void owner_close(struct owner *owner);

/*
 * Hides a folder of this machine from all sandboxes that start from now on. Fumehood's own folders
 * and the state are always hidden; a folder that does not exist needs no hiding. Call it
 * before the first sandbox: later it takes as long as opening a new owner. -EINVAL: sandboxes need
 * this folder. sandbox_hide_check() does this check without an owner.
 */
int owner_hide(struct owner *owner, const char *folder, struct fh_error *err);
int sandbox_hide_check(const char *folder, struct fh_error *err);

/*
 * Returns a sentence about limits that were asked for but can't be enforced on this machine. The
 * string belongs to the owner. NULL: there are none.
 */
const char *owner_warning(const struct owner *owner);

/*
 * Reserves n of the owner's GPUs for the sandboxes of one episode. The caller ends the lease by
 * gpu_lease_free() before it closes the owner. -EBUSY: too few are free now. -EINVAL: the owner has
 * too few. Any thread may call it.
 */
int owner_lease_gpus(struct owner *owner, size_t n, struct gpu_lease **out, struct fh_error *err);

/*
 * Returns the variable that tells programs which GPUs they can use: "CUDA_VISIBLE_DEVICES=0,1".
 * NULL without a lease. Inside a sandbox, CUDA numbers the GPUs from 0.
 */
const char *sandbox_gpus_variable(struct arena *arena, const struct gpu_lease *gpus);

/* Removes the remains of sandboxes of killed processes from this machine. Returns how many. */
int owner_collect(void);

/*
 * A layer is a folder tree: the starting state of a workspace. Many sandboxes share it read-only.
 * Each keeps its own changes above it. owner_add_layer() makes a layer by copying, once for each
 * name. The files belong to the agent.
 *
 * `target` is relative to /home/agent ("workspace/data/train.csv"). A source folder is copied
 * whole, symbolic links as links. Blocks until it is made; sandboxes start meanwhile. -EEXIST if
 * the name is taken.
 */
struct layer_item {
	/* absolute path on this machine of the file to copy; NULL makes an empty folder */
	const char *source;
	const char *target;
	bool read_only; /* the agent can't write to the file, but may still replace it */
};

int owner_add_layer(struct owner *owner, const char *name, const struct layer_item *items, size_t n,
		struct fh_error *err);

/* Removes a layer, whose name is free again. No sandbox may use it. Does nothing without such a
 * layer. May block. */
void owner_drop_layer(struct owner *owner, const char *name);

/* Prepares a folder for sandbox_options.writable. `source` is an absolute path. The first call
 * for a folder reads all folders beneath it, and blocks meanwhile. */
int owner_add_writable(struct owner *owner, const char *source, struct fh_error *err);

/*
 * Purposes of sandboxes. They differ in how far a sandbox is kept from others and from this
 * machine.
 */
enum sandbox_role {
	SANDBOX_PLAIN,
	SANDBOX_GRADER, /* runs a grader: can't see counters that tell what other sandboxes do */
	/* runs an agent's code for a grader: can't signal anything to other sandboxes */
	SANDBOX_JUDGED,
	/* runs one static program of Fumehood for a grader: has no files but its binds */
	SANDBOX_PROGRAM,
};

struct sandbox_options {
	/* layer whose files are in the sandbox' home at the start; NULL: an empty home */
	const char *layer;
	const struct sandbox_bind *binds;
	size_t n_binds;
	/*
	 * Folder of this machine whose binds are writable inside. The changes are lost when the
	 * sandbox ends. The agent may make, replace and remove files there, but not change one in
	 * place. Needs owner_add_writable(). NULL: none.
	 */
	const char *writable;
	const struct gpu_lease *gpus; /* GPUs that the sandbox can use; NULL: none */
	enum sandbox_network network;
	struct sandbox_limits limits;
	enum sandbox_role role;
	bool shell; /* start a shell: see shell/session.h */
	/*
	 * Variables "K=V" to export in the shell besides the usual ones, NULL-terminated. NULL:
	 * none.
	 */
	const char *const *env;
	uint32_t random_seed; /* seed of the shell's variable RANDOM */
};

/* Most times that a caller starts a sandbox which ends each time before it is ready. */
#define SANDBOX_STARTS_MAX 4

int sandbox_start(struct owner *owner, const struct sandbox_options *options, struct sandbox **out,
		struct fh_error *err);

/* Ends a sandbox and all its processes, without waiting. NULL is fine. */
void sandbox_close(struct sandbox *sb);

/*
 * Ends a sandbox as sandbox_close() does. A job then waits until its processes are gone. It drops
 * file pages that they have read from memory. So nobody can tell by the time of a read what they
 * read. *out is that job: see base/job.h. NULL: there is none, because this machine does not count
 * the memory of sandboxes, or can't start a thread.
 */
void sandbox_close_traceless(struct sandbox *sb, struct job **out);

/*
 * Stops all processes that the agent runs in a sandbox, until sandbox_resume(). *out is the job
 * that does it: see base/job.h. The shell does not answer meanwhile. If a command's timeout comes,
 * command and shell are killed. End the job before sandbox_resume(), and call that before
 * sandbox_close(). -EOPNOTSUPP: this machine can't stop them.
 */
int sandbox_pause(struct sandbox *sb, struct job **out, struct fh_error *err);
void sandbox_resume(struct sandbox *sb);

/* --- events ---------------------------------------------------------------------------------- */

/* Adds to `w` the descriptors to poll for a sandbox' next event, and a deadline to look for one. */
void sandbox_waits(const struct sandbox *sb, struct waits *w);
#define SANDBOX_FDS 2
/* Writes into an array the descriptors that sandbox_waits() may add at any time. -1 fills unused
 * entries. */
void sandbox_fds(const struct sandbox *sb, int out_fds[SANDBOX_FDS]);

enum sandbox_event_kind {
	SANDBOX_NONE,    /* no event has come */
	SANDBOX_READY,   /* the sandbox runs, and its shell (if any) takes commands */
	SANDBOX_FAILED,  /* the sandbox could not be made: `text` says why; call sandbox_close() */
	SANDBOX_EXITED,  /* a program of sandbox_run() has ended: `id`, `status` as of wait(2) */
	SANDBOX_REQUEST, /* the agent made requests by commands: bits REQUEST_* in `status` */
	/* work begun by a sandbox_..._begin() call is done: `id`; get the result by
	 * sandbox_take() */
	SANDBOX_DONE,
	SANDBOX_HUNGRY, /* there is room for more of a program's input: call sandbox_feed() */
	SANDBOX_GONE,   /* the sandbox has ended: call sandbox_close() */
};

/*
 * Requests of the agent. REQUEST_STATE: the agent opened another file in its editor. REQUEST_CALL:
 * a tool waits for the answer to a call.
 */
enum { REQUEST_VALIDATE = 1, REQUEST_SUBMIT = 2, REQUEST_STATE = 4, REQUEST_CALL = 8 };
#define REQUEST_ALL (REQUEST_VALIDATE | REQUEST_SUBMIT | REQUEST_STATE | REQUEST_CALL)

struct sandbox_event {
	enum sandbox_event_kind kind;
	uint32_t id;
	int status;
	char text[512];
};

/*
 * Returns the sandbox' next event without waiting, or SANDBOX_NONE. If a sandbox breaks the
 * protocol, the event is SANDBOX_GONE.
 */
void sandbox_next_event(struct sandbox *sb, struct sandbox_event *out);

/* Returns the sandbox' next event, and waits for it at most timeout_ms (-1: no timeout). */
void sandbox_wait_event(struct sandbox *sb, int timeout_ms, struct sandbox_event *out);

/* Tells the sandbox that the agent's request was handled, so that new requests are reported. */
int sandbox_clear_requests(struct sandbox *sb, struct fh_error *err);

/* --- programs -------------------------------------------------------------------------------- */

/* Users that a program in a sandbox runs as. USER_ROOT: uid 0 of the sandbox, no capabilities. */
enum sandbox_user { USER_AGENT, USER_ROOT };

/* Values in program_request.streams in place of a descriptor. */
enum {
	STREAM_NOTHING = -1, /* the program gets /dev/null */
	STREAM_PIPE_1 = -2,  /* a pipe whose output goes to the callback of sandbox_on_output() */
	STREAM_PIPE_2 = -3,
	STREAM_INPUT = -4, /* a pipe with the bytes of sandbox_feed(); for one program at a time */
	STREAM_TERMINAL = -5, /* a new pseudo-terminal of the sandbox */
};

struct program_request {
	const char *const *argv; /* argv[0] without a slash is looked up in the sandbox' PATH */
	/* path of a static executable of this machine to run instead of argv[0]; NULL: none */
	const char *program;
	/* the program's whole environment, NULL-terminated; NULL: the agent's usual environment */
	const char *const *env;
	/* working directory; NULL: /home/agent/workspace if it exists, else / */
	const char *cwd;
	enum sandbox_user user;
	/*
	 * Streams that become the program's descriptors 0, 1, 2, ...: STREAM_..., or a descriptor
	 * of the caller, who keeps it. It is an end of a pipe, sealed bytes, a file, or memory of a
	 * fixed size (memfd_create()). Programs of several sandboxes may share such memory: all map
	 * the same pages. Pipes, bytes and files may be copied; memory that can't be shared is
	 * -ENOTSUP.
	 */
	const int *streams;
	size_t n_streams;
	/*
	 * Socket that gets a byte and the descriptor of the master of STREAM_TERMINAL. It gets
	 * neither if the terminal can't be made. The caller keeps its copy.
	 */
	int terminal;
	/*
	 * True: the program begins only at sandbox_go(), so that the caller can close its pipes
	 * before.
	 */
	bool held;
};

/* Starts a program in a sandbox without waiting. When the program ends, the event SANDBOX_EXITED
 * has *out_id. */
int sandbox_run(struct sandbox *sb, const struct program_request *request, uint32_t *out_id,
		struct fh_error *err);
int sandbox_go(struct sandbox *sb, uint32_t id, struct fh_error *err);

/* Sends a signal to a program of sandbox_run() and to its process group. */
int sandbox_signal(struct sandbox *sb, uint32_t id, int signal_number, struct fh_error *err);

/*
 * Callback for output of the shell and of programs, called within sandbox_next_event(). `slot` is 0
 * for the shell, else STREAM_PIPE_1 or STREAM_PIPE_2. The callback must copy `data`, and may call
 * sandbox_hold_output().
 */
typedef void sandbox_take_output(void *arg, int slot, const char *data, size_t n);
void sandbox_on_output(struct sandbox *sb, sandbox_take_output *take, void *arg);

/*
 * Stops (`hold` true) or resumes reading of programs' output. While it is stopped, programs that
 * print block on their pipe, and SANDBOX_DONE has no deadline.
 */
void sandbox_hold_output(struct sandbox *sb, bool hold);

/* Closes an output pipe of a program, which then gets SIGPIPE when it prints. */
int sandbox_shut_output(struct sandbox *sb, uint32_t id, int slot, struct fh_error *err);

#define SANDBOX_FEED_MAX 61440
/*
 * Writes n bytes to a program's input, the pipe of STREAM_INPUT. Call it once after each
 * SANDBOX_HUNGRY. n = 0 ends the input.
 */
int sandbox_feed(struct sandbox *sb, const void *data, size_t n, struct fh_error *err);

/* --- files ----------------------------------------------------------------------------------- */

/*
 * Packs a folder, without the entry `except`, and writes it to a pipe in the form of inside/pack.h.
 * It reads only files that the agent may read, and through no symbolic link. Returns at once; the
 * caller keeps its copy of `to`. The reader checks each entry, because the agent made the files.
 */
int sandbox_pack(struct sandbox *sb, const char *folder, const char *except, int to,
		struct fh_error *err);

/*
 * Work that an agent can delay: `get`, `put` and `drain`. A ..._begin() function begins it, and the
 * event SANDBOX_DONE ends it. Only one can go on: another drops the first. The deadline is 5 s,
 * later for large files. After it the sandbox is gone.
 *
 * get: copies a regular file of at most max_bytes beneath `folder` (absolute), through no symbolic
 * link. The answer is a sealed copy in memory and its hash. -ENOENT, -ELOOP (a
 * link), -EINVAL (no regular file), -EFBIG, with a sentence that may be shown to the agent.
 *
 * put: writes a file as the agent would, under the same rules about links, and makes its folders.
 * `from` is a file with the content, from its beginning; the caller keeps it.
 *
 * drain: output that the shell and programs have printed by now comes before SANDBOX_DONE.
 */

struct sandbox_answer {
	int fd; /* sealed copy of the file that `get` made; the caller closes the descriptor */
	uint8_t digest[SHA256_BYTES];
};

int sandbox_get_begin(struct sandbox *sb, const char *folder, const char *path, int64_t max_bytes,
		uint32_t *out_id, struct fh_error *err);
int sandbox_put_begin(struct sandbox *sb, const char *folder, const char *path, int from,
		mode_t mode, uint32_t *out_id, struct fh_error *err);
int sandbox_put_text_begin(struct sandbox *sb, const char *folder, const char *path,
		const void *data, size_t n, mode_t mode, uint32_t *out_id, struct fh_error *err);
int sandbox_drain_begin(struct sandbox *sb, uint32_t *out_id, struct fh_error *err);

/* Takes the result of a get, put or drain after SANDBOX_DONE came; -EPIPE if the sandbox is
 * gone. */
int sandbox_take(struct sandbox *sb, struct sandbox_answer *out, struct fh_error *err);

/*
 * Returns true if the answer to the request `id` has come, or can't come any more. Other events are
 * kept. Meant for a caller that waits for one answer.
 */
bool sandbox_answered(struct sandbox *sb, uint32_t id);
void sandbox_answer_waits(const struct sandbox *sb, struct waits *w);

/* Blocks until the answer to the request `id` has come, and takes it. An episode's loop must not
 * block. */
int sandbox_await(
		struct sandbox *sb, uint32_t id, struct sandbox_answer *out, struct fh_error *err);

/* --- usage ----------------------------------------------------------------------------------- */

/*
 * Counters of a sandbox, which begin when the sandbox is ready. The first two take little time to
 * read.
 */
enum sandbox_counter {
	SANDBOX_CPU_NS,
	SANDBOX_WRITTEN_BYTES,
	SANDBOX_MEMORY_PEAK, /* most bytes of memory that the sandbox used at a time */
	SANDBOX_OOM_KILLS,
	SANDBOX_PROCESSES_REFUSED, /* how often limits.pids kept a process from being started */
	SANDBOX_LEFT_BYTES,        /* bytes that the sandbox' files may still grow by */
};

/* Returns a counter of the sandbox; -1 if this machine does not count it. */
int64_t sandbox_count(const struct sandbox *sb, enum sandbox_counter counter);

#endif
