/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROTO_GUEST_H
#define PROTO_GUEST_H

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
#define GUEST_MESSAGE_MAX 65536 /* bytes of any message */
#define GUEST_PATH_MAX 4096
#define GUEST_TEXT_MAX 512 /* bytes of an error's text */
#define GUEST_BINDS_MAX 64
#define GUEST_ITEMS_MAX 1024
#define GUEST_ENV_MAX 256
#define GUEST_ARGS_MAX 1024
#define GUEST_FDS_MAX 16   /* descriptors of a program */
#define GUEST_GROUPS_MAX 4 /* control groups that a process is put into */

/* Ids inside every sandbox. */
#define GUEST_AGENT_ID 1000
/* A sandbox maps its ids 0..GUEST_IDS-1 to the nursery's 1..GUEST_IDS. The nursery's own 0 is
 * the owner. So the nursery may mount the owner's files, and no sandbox can become the owner. */
#define GUEST_IDS 65534

/* --- owner to nursery ------------------------------------------------------------------------ */
enum nursery_message {
	NURSERY_HELLO = 1, /* struct hello; descriptors: the owner's pidfd, roll, own groups... */
	NURSERY_MAPPED,    /* the ids are mapped */
	NURSERY_LAYER,  /* struct layer; descriptor: a socket for the answer, as of the two below */
	NURSERY_PLAN,   /* struct plan; descriptors: PLAN_SOCKETS, [of the shell,] groups... */
	NURSERY_CRADLE, /* u32 number, not 0: a process to wait in groups; descriptors: groups... */
	NURSERY_REMOVE, /* str: the folder of an ended episode; removed when there is time */
	NURSERY_FINISH, /* descriptor; answered when no folder is left that can be removed */
	NURSERY_PING,   /* descriptor; answered */
};

/* nursery to owner */
enum nursery_answer {
	NURSERY_UNSHARED = 1, /* in its user namespace: map the ids now */
	NURSERY_STANDS,       /* u8: bits of NURSERY_CAN_* */
	NURSERY_LAYER_MADE,
	NURSERY_FINISHED,
	NURSERY_RUNS,
	NURSERY_FAILED, /* u32 errno, text: HELLO, MAPPED or LAYER failed */
};

enum { NURSERY_CAN_OVERLAY = 1 }; /* an overlay on tmpfs (user.* attributes) */

struct hello {
	const char *const *roots;  /* listed paths of the host, NULL-terminated */
	const char *const *covers; /* paths beneath them that are hidden */
	const void *base_filter;   /* seccomp program (struct sock_filter[]) of all processes */
	uint32_t base_filter_bytes;
	const void *agent_filter; /* an additional one, for processes that run code of an agent */
	uint32_t agent_filter_bytes;
	const void *judged_filter; /* in its place, of an agent's code that is judged */
	uint32_t judged_filter_bytes;
	const char *tool;              /* the agent's commands: one static program; NULL: none */
	const char *const *tool_names; /* names of its commands */
};

/*
 * Memory of the owner and its nurseries: the state of each sandbox, by its number (1, 2, ...). No
 * sandbox has it mapped. Numbers that differ by ROLL_ENTRIES share an entry: the nursery looks
 * often enough.
 */
#define ROLL_ENTRIES 8192

struct roll_entry {
	uint32_t closed; /* the owner's: the last number that it closed */
	uint32_t born;   /* the nursery's: the last number whose PID 1 was born */
	int32_t pid;     /* pid of that PID 1 in the nursery's namespace */
};

struct roll {
	struct roll_entry entries[ROLL_ENTRIES];
};

struct layer_entry {
	const char *source; /* NULL: an empty folder */
	const char *target;
	bool read_only;
	bool folders_only; /* copy the folders in `source` into the layer itself, but no files */
};

struct layer {
	const char *name;
	const struct layer_entry *entries;
	uint32_t n_entries;
};

/* Flags of a plan. */
enum {
	PLAN_SHELL = 1,         /* descriptors of a shell follow */
	PLAN_BARE = 2,          /* no root of the host */
	PLAN_NET_HOST = 4,      /* the owner's network */
	PLAN_BORN_IN_GROUP = 8, /* the group's descriptor is its folder, for clone3 */
	PLAN_OWN_PROC = 16,     /* /proc shows processes only */
	PLAN_JUDGED = 32,       /* the stricter filter */
};

/* The guest's ends of "control" and of the porter's socket, and a socket pair between PID 1 and
 * the porter. The owner makes the pair: one made inside would be seen in /proc/net/unix. */
enum { PLAN_CONTROL, PLAN_PORTER, PLAN_ERRANDS, PLAN_ERRANDS_PORTER, PLAN_SOCKETS };

struct plan_bind {
	const char *source, *target;
	bool device; /* beneath /dev, and it can be opened */
};

struct plan {
	uint32_t flags;
	uint32_t n_groups; /* descriptors of cgroup.procs files (or see flags), after the others */
	uint32_t cradle;   /* number of the cradle that waits in these groups; 0: none */
	uint32_t number;   /* the sandbox' number in the roll */
	const char *layer; /* NULL: none */
	const char *disk_folder; /* folder of its files; NULL: a tmpfs of its own */
	const struct plan_bind *binds;
	uint32_t n_binds;
	/* Binds of this source become an overlay, with the folders of this layer. NULL: none
	 * does. */
	const char *writable, *writable_layer;
	const char *const *env; /* NULL-terminated, never NULL */
	uint32_t random_seed;
	uint64_t disk_bytes, disk_files; /* 0: half of the machine's memory, the kernel's default */
	uint64_t processes;              /* RLIMIT_NPROC; 0: none */
	uint64_t memory_bytes;           /* RLIMIT_DATA, if no group limits memory; 0: none */
};

/* --- owner to PID 1 -------------------------------------------------------------------------- */
enum init_message {
	INIT_RUN = 1,   /* struct init_run; descriptors: [program,] those of its slots */
	INIT_GO,        /* u32 id: the program may begin, since the owner has closed its ends */
	INIT_SIGNAL,    /* u32 id, u32 signal */
	INIT_INTERRUPT, /* u8 level, u64 began_ns, u32 last_pid (shell_mark); answered */
	INIT_SHELL,     /* a new shell; descriptor: its memory (struct shell_mail) */
};

/* PID 1 to owner */
enum init_event {
	INIT_READY = 1,   /* descriptor: the episode's file system (O_PATH), if it has one */
	INIT_FAILED,      /* u32 errno, text; and it exits */
	INIT_EXITED,      /* u32 id, u32 wait status */
	INIT_SHELL_END,   /* u32 wait status */
	INIT_INTERRUPTED, /* the signals are sent */
};

/* --- owner to porter ------------------------------------------------------------------------- */
enum porter_message {
	PORTER_GET = 1, /* u32 id, str folder, str path, u64 most bytes */
	PORTER_PUT, /* u32 id, str folder, str path, u32 mode; descriptor: a memfd with the bytes */
	PORTER_PUMP, /* u32 turn: forward the shell's output until that command is over; answered */
	PORTER_DRAIN, /* u32 id: forward all that pipes hold now; stop pumping */
	PORTER_CLEAR, /* requests were dealt with: report new ones */
	PORTER_INPUT, /* bytes of a program's input, after PORTER_HUNGRY; none: its end */
	PORTER_SHUT,  /* u32 stream: nobody reads it any more, so the program gets SIGPIPE */
};

/* porter to owner */
enum porter_event {
	PORTER_OUTPUT = 1, /* u32 stream, bytes to the end of the message */
	PORTER_REQUEST,    /* u8 bits */
	PORTER_DONE,   /* u32 id, u32 errno (0: done), text, SHA-256 of the copy that GET made */
	PORTER_HUNGRY, /* the program's input has taken all bytes so far */
	PORTER_PUMPS,  /* answers PORTER_PUMP: the porter does not hang */
	PORTER_RING,   /* the shell has answered an owner that listens to the porter */
};

/* Seals of a copy that comes with PORTER_DONE: nobody can change it, or lock it to do so. */
#define GUEST_SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

/* Bytes of output in a message: whole pages, as pipes have them. */
#define PORTER_CHUNK_MAX 61440

/* PID 1 to porter: a pipe to read from, or to write a program's input to. Stream 0 is the
 * shell's. STREAM_OF() gives those of programs. */
enum porter_errand {
	PORTER_STREAM = 1, /* u32 stream; descriptors: our end; for the shell, gate and eventfd */
};

#define RUN_STREAMS_MAX 3
#define STREAM_OF(id, slot) ((uint32_t)(id)*4 - (uint32_t)(slot)-1) /* slot: SLOT_STREAM_1, ... */
#define STREAM_SLOT(stream) (-1 - (int)((stream) % 4))

/* Values of a program's slot. */
enum { SLOT_NOTHING = -1, SLOT_STREAM_1 = -2, SLOT_STREAM_2 = -3, SLOT_INPUT = -4 };

enum run_user {
	RUN_ROOT,
	RUN_AGENT,
	RUN_PACKER, /* packs the folder argv[0] to descriptor 1, without the names after it */
};

struct init_run {
	uint32_t id;
	uint8_t user;        /* enum run_user */
	uint8_t has_program; /* the first descriptor is the program */
	/* The program's descriptors 0 to n_slots - 1: SLOT_..., or 0 for the message's next one. */
	int8_t slots[GUEST_FDS_MAX];
	uint32_t n_slots;
	const char *cwd;                      /* NULL: the workspace */
	const char *const *argv, *const *env; /* env NULL: the usual one */
};

/* An entry of a packed folder: this struct, the path beneath the folder, and the content. A
 * folder comes before its entries. Numbers are in host order. */
enum pack_kind { PACK_FILE, PACK_FOLDER, PACK_LINK, PACK_END };

struct pack_entry {
	uint64_t kind, mode, path_bytes;
	uint64_t bytes; /* size of a file, or of a link's target; else 0 */
};

/* --- owner and shell -------------------------------------------------------------------------- */
/*
 * A command and its answer lie in memory that the owner and the shell have mapped. It is a memfd of
 * SHELL_MAIL_BYTES, sealed to keep its size and its pages. When the command is over, the shell puts
 * all output that is in its pipe into the answer. The porter has forwarded earlier output that the
 * pipe had no room for.
 *
 * An owner that sleeps is woken by the porter, and the porter by the shell's eventfd. The owner has
 * no eventfd that an agent has. An agent can put a million watches on one, and each costs time in
 * every read, write and close.
 *
 * All that the shell writes here is the agent's word. The owner copies it within bounds, once.
 */
#define SHELL_COMMAND_MAX (8 << 20)
#define SHELL_OUTPUT_MAX (1 << 20) /* a pipe holds no more */
#define SHELL_CWD_MAX GUEST_PATH_MAX

enum {
	SHELL_CHECK_SYNTAX = 1,
	SHELL_ASIDE = 2, /* not the agent's action: LAST_ACTION and $? stay as they are */
};

struct shell_command {
	uint64_t nonce; /* comes back in the status */
	uint32_t flags;
	uint32_t length; /* bytes of the text */
};

/* The time when a command began, so that PID 1 can tell which processes it started. */
struct shell_mark {
	int64_t began_ns; /* CLOCK_BOOTTIME */
	int32_t last_pid; /* the newest process of the sandbox at that time */
};

/* Ways to wake an owner that sleeps. */
enum shell_listening {
	SHELL_LISTENS_NOT,
	SHELL_LISTENS_HERE,      /* it waits for `answered` */
	SHELL_LISTENS_TO_PORTER, /* it polls: the shell rings the porter, which sends PORTER_RING */
};

enum shell_end {
	SHELL_RAN,
	SHELL_SYNTAX,      /* the text does not parse: nothing ran */
	SHELL_INTERRUPTED, /* by INTERRUPT_SIGNAL */
};

struct shell_status {
	uint64_t nonce;
	uint32_t end;
	uint32_t status; /* 0 to 255 */
	uint32_t cwd_bytes, output_bytes;
};

struct shell_mail {
	uint32_t turn;      /* the owner's: the number of the last command; a futex */
	uint32_t listening; /* the owner's: enum shell_listening */
	uint32_t answered;  /* the shell's: the turn whose status is below; set last; a futex */
	struct shell_mark mark;
	struct shell_status status;
	struct shell_command command;
	char text[SHELL_COMMAND_MAX];
	char answer[SHELL_CWD_MAX + SHELL_OUTPUT_MAX]; /* the working directory, then output */
};

#define SHELL_MAIL_BYTES sizeof(struct shell_mail)

/*
 * Memory of a shell and its porter, which take turns in reading the shell's pipe. The shell writes
 * which command is over. From then on the porter moves no output of that command. The shell waits
 * until the porter has moved the piece that it has begun.
 */
struct shell_gate {
	uint32_t over;   /* the shell's: the turn of the last command that is over */
	uint32_t moving; /* the porter's: 1 while it moves a piece; a futex */
};

/* --- forms ----------------------------------------------------------------------------------- */
/*
 * The put functions write a whole message. The get functions read the fields after the kind. Their
 * results point into heap memory, which the matching release frees. They refuse a message that has
 * too long a string, too many entries, or bytes left over.
 */
void hello_put(struct buf *b, const struct hello *h);
int hello_get(struct wire *w, struct hello *out);
void hello_release(struct hello *h);
/* Wipes all but the filters: no sandbox may find the owner's names in its memory. */
void hello_forget_names(struct hello *h);

void layer_put(struct buf *b, const struct layer *l);
int layer_get(struct wire *w, struct layer *out);
void layer_release(struct layer *l);

void plan_put(struct buf *b, const struct plan *p);
int plan_get(struct wire *w, struct plan *out);
void plan_release(struct plan *p);
void plan_forget_binds(struct plan *p); /* as hello_forget_names */

void init_run_put(struct buf *b, const struct init_run *r);
int init_run_get(struct wire *w, struct init_run *out);
size_t init_run_fds(const struct init_run *r); /* number of descriptors in its message */
void init_run_release(struct init_run *r);

#endif
