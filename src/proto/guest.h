/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROTO_GUEST_H
#define PROTO_GUEST_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/wire.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The messages between an owner and its guests. All sockets are SOCK_SEQPACKET, so that a message
 * comes as a whole:
 *
 *   owner <-> nursery   one per owner: makes layers and sandboxes
 *   owner <-> PID 1     one per sandbox, "control": programs, signals, ends of processes
 *   owner <-> porter    one per sandbox: files, output of programs, the agent's requests
 *   PID 1  -> porter    one per sandbox: pipes to read from
 *
 * A message is a u8 kind and its fields in the form of base/wire.h. Descriptors travel beside it.
 * Owner and guest must have the same version, GUEST_VERSION, which the first message names. A
 * shell's commands and answers go through memory: see struct shell_mail.
 *
 * By splice() from an empty socket, an agent can hold the kernel's lock of inodes and pipes that it
 * reaches. It can hold the lock for as long as it likes. A process that then touches the object, or
 * closes its last reference, sleeps until the lock is free. SIGKILL does not wake it. So owner,
 * nursery and PID 1 hold no descriptor of such an object while code of an agent runs. The porter
 * alone does. If it hangs, PID 1 ends, the kernel kills all processes of the sandbox, and the lock
 * is free.
 */

#define GUEST_VERSION 3
#define GUEST_MESSAGE_MAX 65536 /* most bytes of a message */
#define GUEST_PATH_MAX 4096
#define GUEST_TEXT_MAX 512 /* most bytes of an error's text in a message */
#define GUEST_BINDS_MAX 64
#define GUEST_ITEMS_MAX 1024
#define GUEST_ENV_MAX 256
#define GUEST_ARGS_MAX 1024
#define GUEST_FDS_MAX 16   /* most descriptors that a program in a sandbox gets */
#define GUEST_GROUPS_MAX 4 /* most control groups that a process of a sandbox enters */

/* User and group id of the agent inside a sandbox. */
#define GUEST_AGENT_ID 1000
/*
 * A sandbox maps its user and group ids 0..GUEST_IDS-1 to the nursery's ids 1..GUEST_IDS. The
 * nursery's own id 0 is the owner of the sandboxes. So the nursery may mount the owner's files, and
 * no sandbox can become the owner.
 */
#define GUEST_IDS 65534

/* --- messages from the owner to the nursery --------------------------------------------------- */
enum nursery_message {
	/* first message: struct hello; descriptors: pidfd of the owner, struct roll, owner's
	 * cgroup.procs... */
	NURSERY_HELLO = 1,
	NURSERY_MAPPED, /* the owner has mapped the user and group ids of the nursery */
	/* make a layer (starting files): struct layer; descriptor: a socket for the answer */
	NURSERY_LAYER,
	/* make a sandbox: struct plan; descriptors: PLAN_SOCKETS, [mail], groups... */
	NURSERY_PLAN,
	NURSERY_CRADLE, /* make a cradle: u32 number, not 0; descriptors: cgroup.procs... */
	/* str: path of an ended episode's folder, which the nursery removes when it has time */
	NURSERY_REMOVE,
	NURSERY_DROP_LAYER, /* str: name of a layer that no sandbox uses any more */
	/* Asks for an answer when no folder is left to remove; descriptor: a socket for it. */
	NURSERY_FINISH,
	NURSERY_PING, /* asks the nursery for an answer; descriptor: a socket for the answer */
};

/* messages from the nursery to the owner */
enum nursery_answer {
	/* answers NURSERY_HELLO: the nursery has its user namespace, so the owner can map its
	 * ids */
	NURSERY_UNSHARED = 1,
	/* answers NURSERY_MAPPED: the nursery can make sandboxes; u8: bits of NURSERY_CAN_* */
	NURSERY_STANDS,
	NURSERY_LAYER_MADE,
	NURSERY_FINISHED,
	NURSERY_RUNS,
	/* answers a request that failed: NURSERY_HELLO, _MAPPED or _LAYER; u32 errno, text */
	NURSERY_FAILED,
};

/* name of a nursery's process: other programs find it by this name */
#define NURSERY_NAME "fh-nursery"

enum { NURSERY_CAN_OVERLAY = 1 }; /* the kernel can put an overlay on a tmpfs (user.* attributes) */

struct hello {
	const char *const *roots; /* paths of the host that sandboxes see, NULL-terminated */
	/* paths beneath `roots` that sandboxes must not see, NULL-terminated */
	const char *const *covers;
	const void *base_filter; /* seccomp program (struct sock_filter[]) of all processes */
	uint32_t base_filter_bytes;
	/* seccomp program for processes that run code of an agent, besides base_filter */
	const void *agent_filter;
	uint32_t agent_filter_bytes;
	/* seccomp program that replaces agent_filter in a sandbox with the flag PLAN_JUDGED */
	const void *judged_filter;
	uint32_t judged_filter_bytes;
	/* path of the static program that provides all commands for agents; NULL: none */
	const char *tool;
	/* names of the commands that `tool` provides, NULL-terminated */
	const char *const *tool_names;
	/* Memory of a received message: `texts` has the strings, `filters` the seccomp programs. */
	struct arena texts, filters;
};

#define ROLL_ENTRIES 8192

struct roll_entry {
	/* written by the owner: number of the last sandbox of this entry that the owner closed */
	uint32_t closed;
	/* written by the nursery: number of the last sandbox of this entry that has a PID 1 */
	uint32_t born;
	int32_t pid; /* pid of the PID 1 of sandbox `born`, in the nursery's namespace */
};

/*
 * Memory that the owner and its nurseries share. It has an entry with the state of each sandbox.
 * The owner numbers its sandboxes 1, 2, ... Numbers that differ by a multiple of ROLL_ENTRIES share
 * an entry. The nursery reads the entries often enough to see each number. Sandboxes do not have
 * this memory mapped.
 */
struct roll {
	struct roll_entry entries[ROLL_ENTRIES];
};

struct layer_entry {
	/* path of the host to copy into a layer, absolute; NULL: make an empty folder */
	const char *source;
	const char *target;
	bool read_only;
	/* copy the subfolders of `source`, but no files, into the layer's top folder */
	bool folders_only;
};

struct layer {
	const char *name;
	const struct layer_entry *entries;
	uint32_t n_entries;
	struct arena memory; /* arena of a received message's strings */
};

/* Flags in the plan of a sandbox. */
enum {
	/* the sandbox has a shell; one descriptor is memory for commands, struct shell_mail */
	PLAN_SHELL = 1,
	/* the sandbox sees no paths of the host, only devices and the plan's binds */
	PLAN_BARE = 2,
	PLAN_NET_HOST = 4, /* the sandbox has the owner's network */
	/* the descriptor of a control group is the group's folder, into which clone3 puts
	 * children */
	PLAN_BORN_IN_GROUP = 8,
	PLAN_OWN_PROC = 16, /* /proc shows only processes, nothing of the machine */
	/* processes that run an agent's code get the seccomp program judged_filter, not
	 * agent_filter */
	PLAN_JUDGED = 32,
};

/*
 * Sockets that come with the plan of a sandbox. The first two are the guest's ends of "control" and
 * of the porter's socket. The others are both ends of a socket pair between PID 1 and the porter.
 * The owner makes this pair: if PID 1 made it, the agent would see it in /proc/net/unix.
 */
enum { PLAN_CONTROL, PLAN_PORTER, PLAN_ERRANDS, PLAN_ERRANDS_PORTER, PLAN_SOCKETS };

struct plan_bind {
	const char *source, *target;
	bool device; /* `source` is a device beneath /dev, which programs in the sandbox can open */
};

struct plan {
	uint32_t flags;
	/* number of the message's last descriptors, which belong to control groups */
	uint32_t n_groups;
	/* number of the cradle, a process that waits in these control groups; 0: no cradle */
	uint32_t cradle;
	uint32_t number; /* number of the sandbox in struct roll, the list shared with the owner */
	/* layer with the files that are in the sandbox' home at the start; NULL: no layer */
	const char *layer;
	/* folder of the host for files that the sandbox writes; NULL: they are in a tmpfs */
	const char *disk_folder;
	const struct plan_bind *binds;
	uint32_t n_binds;
	/*
	 * All binds of the host folder `writable` become one overlay, so that the sandbox can write
	 * there. The overlay uses the layer `writable_layer`, which has copies of the folder's
	 * subfolders. NULL: no overlay.
	 */
	const char *writable, *writable_layer;
	/* environment variables of the shell, NULL-terminated; not NULL itself */
	const char *const *env;
	uint32_t random_seed;
	/* limits of the files that the sandbox writes; 0: a tmpfs' default, half of the machine's
	 * memory */
	uint64_t disk_bytes, disk_files;
	uint64_t processes; /* RLIMIT_NPROC, the most processes of the agent; 0: no limit */
	/* RLIMIT_DATA of the agent, if no control group limits memory; 0: no limit */
	uint64_t memory_bytes;
	/* Memory of a received message: `paths` has the strings of binds and folders, `rest` all
	 * others. */
	struct arena paths, rest;
};

/* --- owner to PID 1 -------------------------------------------------------------------------- */
enum init_message {
	/* start a program: struct init_run; descriptors: [program,] one for each slot with the
	 * value 0 */
	INIT_RUN = 1,
	/* u32 id of a program that shall begin, as the owner has closed its copies of the
	 * descriptors */
	INIT_GO,
	INIT_SIGNAL, /* send a signal: u32 id of a program, u32 signal */
	/* interrupt a command: u8 level; the command's struct shell_mark: u64 began_ns, u32
	 * last_pid */
	INIT_INTERRUPT,
	INIT_SHELL, /* start a new shell; descriptor: memory for its commands, struct shell_mail */
};

/* messages from PID 1 to the owner */
enum init_event {
	/* the sandbox, or a new shell, is ready; for the sandbox, descriptor: O_PATH of its file
	 * system */
	INIT_READY = 1,
	INIT_FAILED,      /* u32 errno, text: PID 1 could not be made, or exits */
	INIT_EXITED,      /* a program has ended: u32 id, u32 wait status */
	INIT_SHELL_END,   /* the shell has ended: u32 wait status */
	INIT_INTERRUPTED, /* answers INIT_INTERRUPT: all signals of the interruption were sent */
};

/* --- messages from the owner to the porter ---------------------------------------------------- */
enum porter_message {
	/* copy a file out: u32 id, str folder, str path, u64 most bytes of the file */
	PORTER_GET = 1,
	PORTER_PUT, /* write a file: u32 id, str folder, str path, u32 mode; descriptor: memfd */
	/* u32 number of the command whose output the porter forwards until the command ends */
	PORTER_PUMP,
	/* u32 id: stop what PORTER_PUMP began, and forward all output that pipes hold now */
	PORTER_DRAIN,
	PORTER_CLEAR, /* the owner has handled the agent's requests: report new ones */
	/* a piece of input for a program that had room for it; no bytes: the input ends */
	PORTER_INPUT,
	/* u32 stream: close the porter's end of this stream's pipe, so that the program gets
	 * SIGPIPE */
	PORTER_SHUT,
};

/* messages from the porter to the owner */
enum porter_event {
	/* output of the shell or a program: u32 stream, then bytes up to the message's end */
	PORTER_OUTPUT = 1,
	PORTER_REQUEST, /* u8: REQUEST_* bits of the agent's requests since PORTER_CLEAR */
	/* answers a request: u32 id, u32 errno (0: success), text, SHA-256 of the copy for
	 * PORTER_GET */
	PORTER_DONE,
	PORTER_HUNGRY, /* the program has room for more input, so the owner may send PORTER_INPUT */
	/* answers PORTER_PUMP, the request to forward output: so the porter does not hang */
	PORTER_PUMPS,
	PORTER_RING, /* the shell has answered a command and asked the porter to wake the owner */
};

/*
 * Seals of a memfd with a file that the porter copied. Nobody can change such a memfd, or hold the
 * kernel's lock of it by a write that does not end.
 */
#define GUEST_SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

/* Most bytes of output in a PORTER_OUTPUT message: a whole number of memory pages, as in pipes. */
#define PORTER_CHUNK_MAX 61440

/*
 * Message from PID 1 to the porter with a pipe to read from, or to write a program's input to. Each
 * pipe is called a stream and has a number: 0 is the shell's, STREAM_OF() gives those of programs.
 */
enum porter_errand {
	/*
	 * u32 stream; descriptors: the porter's end of the pipe; for the shell's stream, gate and
	 * eventfd too
	 */
	PORTER_STREAM = 1,
};

#define RUN_STREAMS_MAX 3
/* number of a program's stream; slot: SLOT_STREAM_1, ... */
#define STREAM_OF(id, slot) ((uint32_t)(id)*4 - (uint32_t)(slot)-1)
#define STREAM_SLOT(stream) (-1 - (int)((stream) % 4))

/*
 * Values in init_run.slots for files that are not sent. SLOT_TERMINAL is a new pseudo-terminal of
 * the sandbox. With it, the message's last descriptor is a socket. The new process sends a byte and
 * the terminal's master to this socket.
 */
enum {
	SLOT_NOTHING = -1,
	SLOT_STREAM_1 = -2,
	SLOT_STREAM_2 = -3,
	SLOT_INPUT = -4,
	SLOT_TERMINAL = -5
};

/* Exit status of a program that could not be started, as docker has it. The statuses 126 and 127
 * mean that a file can't be executed or found. */
#define RUN_NOT_STARTED 125

enum run_user {
	RUN_ROOT,
	RUN_AGENT,
	/*
	 * Start no program: pack the folder argv[0] and write it as struct pack_entry to descriptor
	 * 1. Leave out the names in argv[1], argv[2], ...
	 */
	RUN_PACKER,
};

struct init_run {
	uint32_t id;
	uint8_t user;        /* user that the program runs as: enum run_user */
	uint8_t has_program; /* the first descriptor of the message is the program's file */
	/*
	 * Entry i tells which file becomes the program's descriptor i: SLOT_..., or 0 for the
	 * message's next descriptor.
	 */
	int8_t slots[GUEST_FDS_MAX];
	uint32_t n_slots;
	const char *cwd; /* working directory of the program; NULL: the workspace */
	/* arguments and environment, NULL-terminated; env NULL: program_environment */
	const char *const *argv, *const *env;
	struct arena memory; /* arena with the strings of a received message */
};

/* --- memory of owner and shell ---------------------------------------------------------------- */
/*
 * A command and its answer lie in memory that the owner and the shell have mapped. The memory is a
 * memfd of SHELL_MAIL_BYTES, sealed to keep its size and its pages. When the command ends, the
 * shell copies the output that is still in its pipe into the answer. The porter has forwarded
 * earlier output, for which the pipe had no room.
 *
 * The porter wakes a sleeping owner, and the shell wakes the porter by an eventfd. The owner shares
 * no eventfd with an agent. An agent can put a million watches on an eventfd, and each slows down
 * every read, write and close.
 *
 * The shell may be tampered with, so the memory is untrusted. The owner copies each field within
 * bounds, once.
 */

#define SHELL_COMMAND_MAX (8 << 20)
/* most bytes of output in an answer of the shell: a pipe holds no more */
#define SHELL_OUTPUT_MAX (1 << 20)
#define SHELL_CWD_MAX GUEST_PATH_MAX

enum {
	SHELL_CHECK_SYNTAX = 1,
	/* flag: the command is the owner's, not the agent's, so leave LAST_ACTION and $?
	 * unchanged */
	SHELL_ASIDE = 2,
};

struct shell_command {
	uint64_t nonce; /* random number of the command, which the shell returns with the status */
	uint32_t flags;
	uint32_t length; /* bytes of the command's text */
};

/* When a command began. PID 1 uses it to find the processes that the command started. */
struct shell_mark {
	int64_t began_ns; /* time when the command began, by CLOCK_BOOTTIME */
	int32_t last_pid; /* pid of the sandbox' newest process at began_ns */
};

/* Ways in which the shell wakes an owner that waits for an answer. */
enum shell_listening {
	SHELL_LISTENS_NOT,
	SHELL_LISTENS_HERE, /* the owner waits at the futex `answered`, and the shell wakes it */
	/* the owner waits in poll(): the shell wakes the porter, which sends PORTER_RING */
	SHELL_LISTENS_TO_PORTER,
};

enum shell_end {
	SHELL_RAN,
	/* the command's text has a syntax error, and the line with the error did not run */
	SHELL_SYNTAX,
	SHELL_INTERRUPTED, /* an interruption (INTERRUPT_SIGNAL) ended the command */
};

struct shell_status {
	uint64_t nonce;
	uint32_t end;
	uint32_t status; /* exit status of the command, 0 to 255 */
	uint32_t cwd_bytes, output_bytes;
};

struct shell_mail {
	uint32_t turn; /* written by the owner: number of the last command, a futex for the shell */
	/* written by the owner: how the shell wakes it for the answer (enum shell_listening) */
	uint32_t listening;
	/* written by the shell, last: number of the command that `status` belongs to; a futex */
	uint32_t answered;
	struct shell_mark mark;
	struct shell_status status;
	struct shell_command command;
	char text[SHELL_COMMAND_MAX];
	/* text of the command's working directory, then its output */
	char answer[SHELL_CWD_MAX + SHELL_OUTPUT_MAX];
};

#define SHELL_MAIL_BYTES sizeof(struct shell_mail)

/*
 * Memory that a shell and its porter share. They take turns in reading the pipe with the shell's
 * output. The shell writes `over` when a command has ended. From then on the porter moves no output
 * of that command. The shell waits until the porter has moved the piece that it was moving.
 */
struct shell_gate {
	uint32_t over;   /* written by the shell: number of the last command that has ended */
	uint32_t moving; /* written by the porter: 1 while it moves a piece of output; a futex */
};

/* --- forms ----------------------------------------------------------------------------------- */
/*
 * Functions for the messages between an owner and its guests. A ..._put() function writes a whole
 * message. A ..._get() function reads the fields after the kind, into the struct's arenas. It
 * refuses a message with too long a string, too many entries, or bytes left over. A ..._release()
 * function wipes the arenas.
 */
void hello_put(struct buf *b, const struct hello *h);
int hello_get(struct wire *w, struct hello *out);
void hello_release(struct hello *h);
/*
 * Wipes all of the message but the seccomp programs. A sandbox must not find the owner's paths and
 * names in its memory.
 */
void hello_forget_names(struct hello *h);

void layer_put(struct buf *b, const struct layer *l);
int layer_get(struct wire *w, struct layer *out);
void layer_release(struct layer *l);

void plan_put(struct buf *b, const struct plan *p);
int plan_get(struct wire *w, struct plan *out);
void plan_release(struct plan *p);
void plan_forget_binds(struct plan *p); /* wipes the paths of the plan's binds from memory */

void init_run_put(struct buf *b, const struct init_run *r);
int init_run_get(struct wire *w, struct init_run *out);
/* Number of descriptors that come with the message INIT_RUN, which starts a program. */
size_t init_run_fds(const struct init_run *r);
bool init_run_has_terminal(const struct init_run *r);
void init_run_release(struct init_run *r);

#endif
