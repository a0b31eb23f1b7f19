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
 * There is one version: owner and guest are built together, and the first message says which.
 * A shell's commands and answers go through memory: see struct shell_mail.
 *
 * An agent can hold the lock of any inode and pipe that it reaches, by splice() from an empty
 * socket. It can hold it for as long as it likes. A process that then touches the object,
 * or closes its last reference, sleeps until the end, past SIGKILL. So owner, nursery and PID 1
 * hold no descriptor of such an object while code of an agent runs. The porter alone does. If it
 * hangs, PID 1 ends, the kernel kills all processes of the sandbox, and the lock is free.
 */
#define GUEST_VERSION 3
#define GUEST_MESSAGE_MAX 65536 /* most bytes of a message */
#define GUEST_PATH_MAX 4096
#define GUEST_TEXT_MAX 512 /* most bytes of an error's text */
#define GUEST_BINDS_MAX 64
#define GUEST_ITEMS_MAX 1024
#define GUEST_ENV_MAX 256
#define GUEST_ARGS_MAX 1024
#define GUEST_FDS_MAX 16   /* most descriptors of a program */
#define GUEST_GROUPS_MAX 4 /* most control groups that a process is put into */

/* Uid and gid of the agent inside a sandbox. */
#define GUEST_AGENT_ID 1000
/*
 * A sandbox maps its ids 0..GUEST_IDS-1 to the nursery's ids 1..GUEST_IDS. The nursery's own id 0
 * is the owner. So the nursery may mount the owner's files, and no sandbox can become the owner.
 */
#define GUEST_IDS 65534

/* --- owner to nursery ------------------------------------------------------------------------ */
enum nursery_message {
	NURSERY_HELLO = 1, /* struct hello; descriptors: owner's pidfd, roll, own groups... */
	NURSERY_MAPPED,    /* the nursery's ids are mapped now */
	NURSERY_LAYER,     /* struct layer; descriptor: a socket for the answer */
	NURSERY_PLAN,      /* struct plan; descriptors: PLAN_SOCKETS, [mail], groups... */
	NURSERY_CRADLE,    /* u32 number of a cradle, not 0; descriptors: cgroup.procs... */
	NURSERY_REMOVE,    /* str: folder of an ended episode, to be removed when there is time */
	/* Descriptor: a socket for the answer, sent when no folder is left to remove. */
	NURSERY_FINISH,
	NURSERY_PING, /* descriptor: a socket for the answer */
};

/* nursery to owner */
enum nursery_answer {
	/* Answers HELLO: the nursery has its user namespace, so map its ids. */
	NURSERY_UNSHARED = 1,
	NURSERY_STANDS, /* answers MAPPED: the nursery is ready; u8: bits of NURSERY_CAN_* */
	NURSERY_LAYER_MADE,
	NURSERY_FINISHED,
	NURSERY_RUNS,
	NURSERY_FAILED, /* u32 errno, text: NURSERY_HELLO, _MAPPED or _LAYER failed */
};

enum { NURSERY_CAN_OVERLAY = 1 }; /* the kernel can put an overlay on a tmpfs (user.* attributes) */

struct hello {
	const char *const *roots;  /* paths of the host that sandboxes see, NULL-terminated */
	const char *const *covers; /* hidden paths beneath `roots`, NULL-terminated */
	const void *base_filter;   /* seccomp program (struct sock_filter[]) of all processes */
	uint32_t base_filter_bytes;
	const void *agent_filter; /* added for processes that run code of an agent */
	uint32_t agent_filter_bytes;
	const void *judged_filter; /* added instead of agent_filter in a sandbox with PLAN_JUDGED */
	uint32_t judged_filter_bytes;
	/* Path of the static program that has the agent's commands; NULL: none. */
	const char *tool;
	const char *const *tool_names; /* names of the commands in `tool`, NULL-terminated */
	/* Memory of a received message: that of its texts, and that of its filters. */
	struct arena texts, filters;
};

/*
 * Memory that the owner and its nurseries share: the state of each sandbox, by its number (1, 2,
 * ...). No sandbox has it mapped. Numbers that differ by ROLL_ENTRIES share an entry. The nursery
 * looks often enough to see each number.
 */
#define ROLL_ENTRIES 8192

struct roll_entry {
	uint32_t closed; /* written by the owner: number of the last sandbox that it closed */
	/* Written by the nursery: number of the last sandbox whose PID 1 was born. */
	uint32_t born;
	int32_t pid; /* pid of that sandbox' PID 1 in the nursery's namespace */
};

struct roll {
	struct roll_entry entries[ROLL_ENTRIES];
};

struct layer_entry {
	const char *source; /* absolute path of the host; NULL: make an empty folder */
	const char *target;
	bool read_only;
	bool folders_only; /* copy the folders in `source` into the layer's top, but no files */
};

struct layer {
	const char *name;
	const struct layer_entry *entries;
	uint32_t n_entries;
	struct arena memory; /* memory of a received message */
};

/* Flags of a plan. */
enum {
	PLAN_SHELL = 1,         /* the sandbox has a shell; its mail is among the descriptors */
	PLAN_BARE = 2,          /* no root of the host: only devices and binds */
	PLAN_NET_HOST = 4,      /* the sandbox has the owner's network */
	PLAN_BORN_IN_GROUP = 8, /* the plan's group descriptor is a folder, for clone3 */
	PLAN_OWN_PROC = 16,     /* /proc shows processes only */
	PLAN_JUDGED = 32,       /* an agent's code gets judged_filter, not agent_filter */
};

/*
 * Sockets of a plan: the guest's ends of "control" and of the porter's socket. A pair between PID 1
 * and the porter follows. The owner makes it: a pair made inside would be seen in /proc/net/unix.
 */
enum { PLAN_CONTROL, PLAN_PORTER, PLAN_ERRANDS, PLAN_ERRANDS_PORTER, PLAN_SOCKETS };

struct plan_bind {
	const char *source, *target;
	bool device; /* a device beneath /dev, which the sandbox can open */
};

struct plan {
	uint32_t flags;
	uint32_t n_groups;       /* number of descriptors of groups, the last ones of the message */
	uint32_t cradle;         /* number of the cradle that waits in the groups; 0: no cradle */
	uint32_t number;         /* the sandbox' number in the roll */
	const char *layer;       /* name of the layer beneath its home; NULL: no layer */
	const char *disk_folder; /* folder for the sandbox' files; NULL: a tmpfs */
	const struct plan_bind *binds;
	uint32_t n_binds;
	/*
	 * Binds of the source `writable` become an overlay on the folders of `writable_layer`.
	 * NULL: no bind does.
	 */
	const char *writable, *writable_layer;
	const char *const *env; /* variables of the shell, NULL-terminated; not NULL itself */
	uint32_t random_seed;
	uint64_t disk_bytes, disk_files; /* 0: half of the machine's memory, tmpfs' default */
	uint64_t processes;              /* RLIMIT_NPROC; 0: no limit */
	uint64_t memory_bytes;           /* RLIMIT_DATA, if no group limits memory; 0: no limit */
	/* Memory of a received message: that of its binds and folders, and that of the rest. */
	struct arena paths, rest;
};

/* --- owner to PID 1 -------------------------------------------------------------------------- */
enum init_message {
	INIT_RUN = 1,   /* struct init_run; descriptors: [program,] one per slot of value 0 */
	INIT_GO,        /* u32 id: let the program begin, since the owner has closed its ends */
	INIT_SIGNAL,    /* u32 id of a program, u32 signal */
	INIT_INTERRUPT, /* u8 level, u64 began_ns, u32 last_pid (struct shell_mark) */
	INIT_SHELL,     /* start a new shell; descriptor: its struct shell_mail */
};

/* PID 1 to owner */
enum init_event {
	INIT_READY = 1,   /* descriptor: O_PATH of the episode's file system, if it has one */
	INIT_FAILED,      /* u32 errno, text; then PID 1 exits */
	INIT_EXITED,      /* u32 id of a program, u32 wait status */
	INIT_SHELL_END,   /* u32 wait status of the shell */
	INIT_INTERRUPTED, /* answers INIT_INTERRUPT: the signals are sent */
};

/* --- owner to porter ------------------------------------------------------------------------- */
enum porter_message {
	PORTER_GET = 1, /* u32 id, str folder, str path, u64 most bytes of the file */
	PORTER_PUT,     /* u32 id, str folder, str path, u32 mode; descriptor: memfd */
	PORTER_PUMP,    /* u32 turn: forward the shell's output until that command ends */
	PORTER_DRAIN,   /* u32 id: forward all that pipes hold now, then end PORTER_PUMP */
	PORTER_CLEAR,   /* the owner handled the agent's requests: report new ones */
	PORTER_INPUT,   /* bytes of a program's input, after PORTER_HUNGRY; no bytes: its end */
	PORTER_SHUT,    /* u32 stream: close its pipe, so that the program gets SIGPIPE */
};

/* porter to owner */
enum porter_event {
	PORTER_OUTPUT = 1, /* u32 stream, then bytes up to the message's end */
	PORTER_REQUEST,    /* u8 REQUEST_* bits that the agent asked for */
	PORTER_DONE,       /* u32 id, u32 errno (0: success), text, SHA-256 of GET's copy */
	PORTER_HUNGRY,     /* the program has room for more input */
	PORTER_PUMPS,      /* answers PORTER_PUMP, which shows that the porter does not hang */
	PORTER_RING,       /* the shell has answered; sent if it has SHELL_LISTENS_TO_PORTER */
};

/* Seals of a copy that comes with PORTER_DONE: nobody can change the copy, or lock it to do so. */
#define GUEST_SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

/* Most bytes of output in a message: whole pages, as pipes have them. */
#define PORTER_CHUNK_MAX 61440

/*
 * PID 1 gives the porter a pipe to read from, or to write a program's input to. Stream 0 is the
 * shell's. STREAM_OF() numbers those of programs.
 */
enum porter_errand {
	/* u32 stream; descriptors: the porter's end; for the shell, gate and eventfd too. */
	PORTER_STREAM = 1,
};

#define RUN_STREAMS_MAX 3
#define STREAM_OF(id, slot) ((uint32_t)(id)*4 - (uint32_t)(slot)-1) /* slot: SLOT_STREAM_1, ... */
#define STREAM_SLOT(stream) (-1 - (int)((stream) % 4))

/*
 * Values of a slot that no sent descriptor fills: /dev/null, a pipe for output, a pipe for input.
 */
enum { SLOT_NOTHING = -1, SLOT_STREAM_1 = -2, SLOT_STREAM_2 = -3, SLOT_INPUT = -4 };

/* Exit status of a program that was not started, as of docker. 126 and 127 are for a file that
 * can't be executed or found. */
#define RUN_NOT_STARTED 125

enum run_user {
	RUN_ROOT,
	RUN_AGENT,
	/*
	 * Writes the folder argv[0] as pack_entry to descriptor 1, without the names after argv[0].
	 */
	RUN_PACKER,
};

struct init_run {
	uint32_t id;
	uint8_t user;        /* enum run_user */
	uint8_t has_program; /* the message's first descriptor is the program to run */
	/*
	 * The program's descriptors 0 to n_slots - 1: SLOT_..., or 0 for the next descriptor of the
	 * message.
	 */
	int8_t slots[GUEST_FDS_MAX];
	uint32_t n_slots;
	const char *cwd;                      /* working directory; NULL: the workspace */
	const char *const *argv, *const *env; /* env NULL: program_environment */
	struct arena memory;                  /* memory of a received message */
};

/*
 * An entry of a packed folder: this struct, the entry's path beneath the folder, and its content. A
 * folder comes before its entries. Numbers are in host order.
 */
enum pack_kind { PACK_FILE, PACK_FOLDER, PACK_LINK, PACK_END };

struct pack_entry {
	uint64_t kind, mode, path_bytes;
	uint64_t bytes; /* size of a file, or of a link's target; 0 for others */
};

/* --- owner and shell -------------------------------------------------------------------------- */
/*
 * A command and its answer lie in memory that the owner and the shell have mapped. The memory is a
 * memfd of SHELL_MAIL_BYTES, sealed to keep its size and its pages. When the command ends, the
 * shell puts the output that is in its pipe into the answer. The porter has forwarded earlier
 * output that the pipe had no room for.
 *
 * The porter wakes a sleeping owner, and the shell wakes the porter by an eventfd. The owner has no
 * eventfd that an agent has. An agent can put a million watches on an eventfd, and each slows down
 * every read, write and close.
 *
 * The shell may be tampered with, so the memory is untrusted. The owner copies each field within
 * bounds, once.
 */
#define SHELL_COMMAND_MAX (8 << 20)
#define SHELL_OUTPUT_MAX (1 << 20) /* most output in an answer: a pipe holds no more */
#define SHELL_CWD_MAX GUEST_PATH_MAX

enum {
	SHELL_CHECK_SYNTAX = 1,
	SHELL_ASIDE = 2, /* not an action of the agent: leave LAST_ACTION and $? unchanged */
};

struct shell_command {
	uint64_t nonce; /* random number, which the shell returns in the status */
	uint32_t flags;
	uint32_t length; /* bytes of the command's text */
};

/*
 * The time when a command began. By it PID 1 tells processes that the command started from older
 * ones.
 */
struct shell_mark {
	int64_t began_ns; /* CLOCK_BOOTTIME */
	int32_t last_pid; /* pid of the sandbox' newest process at began_ns */
};

/* How the shell wakes an owner that waits for an answer. */
enum shell_listening {
	SHELL_LISTENS_NOT,
	SHELL_LISTENS_HERE,      /* the owner waits for the futex `answered`: wake that */
	SHELL_LISTENS_TO_PORTER, /* the owner polls: wake the porter, which sends PORTER_RING */
};

enum shell_end {
	SHELL_RAN,
	SHELL_SYNTAX,      /* the text does not parse: nothing ran */
	SHELL_INTERRUPTED, /* INTERRUPT_SIGNAL ended the command */
};

struct shell_status {
	uint64_t nonce;
	uint32_t end;
	uint32_t status; /* exit status, 0 to 255 */
	uint32_t cwd_bytes, output_bytes;
};

struct shell_mail {
	uint32_t turn;      /* written by the owner: number of the last command; a futex */
	uint32_t listening; /* written by the owner: enum shell_listening */
	uint32_t answered;  /* written last by the shell: turn that `status` answers; a futex */
	struct shell_mark mark;
	struct shell_status status;
	struct shell_command command;
	char text[SHELL_COMMAND_MAX];
	char answer[SHELL_CWD_MAX + SHELL_OUTPUT_MAX]; /* the working directory, then output */
};

#define SHELL_MAIL_BYTES sizeof(struct shell_mail)

/*
 * Memory that a shell and its porter share. They take turns in reading the shell's pipe. The shell
 * writes the turn of a command that has ended. From then on the porter moves no output of that
 * command. The shell waits until the porter has moved the piece that it was moving.
 */
struct shell_gate {
	uint32_t over;   /* written by the shell: turn of the last command that has ended */
	uint32_t moving; /* written by the porter: 1 while it moves a piece; a futex */
};

/* --- forms ----------------------------------------------------------------------------------- */
/*
 * A put function writes a whole message. A get function reads the fields after the kind. The
 * results point into the struct's arenas, which the release function wipes. It refuses a message
 * with too long a string, too many entries, or bytes left over.
 */
void hello_put(struct buf *b, const struct hello *h);
int hello_get(struct wire *w, struct hello *out);
void hello_release(struct hello *h);
/* Wipes all but the filters: no sandbox may find the owner's paths and names in its memory. */
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
/* Number of descriptors that come with the message. */
size_t init_run_fds(const struct init_run *r);
void init_run_release(struct init_run *r);

#endif
