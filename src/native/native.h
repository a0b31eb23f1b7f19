/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_NATIVE_H
#define NATIVE_NATIVE_H

#include "base/arena.h"
#include "base/buf.h"
#include "native/cgroup.h"
#include "native/gpus.h"
#include "proto/guest.h"
#include "sandbox/ops.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * Native sandboxes: namespaces, a root of listed paths, an overlay and control groups. The owner
 * talks to each sandbox' PID 1 over a socket. An owner has a nursery, which makes them, a pool of
 * control groups, and the layers made so far.
 *
 * A sandbox starts by sending its plan to the nursery. If the nursery was killed, or its socket is
 * full, a thread takes care of it (errands.c).
 */
#define COVERS_MAX GUEST_BINDS_MAX
#define SPARES_MAX 3

/* A group in which a process waits for its sandbox: see guest/cradle.c. */
struct spare {
	struct cgroup *group; /* NULL: none */
	uint32_t cradle;      /* the number of that process */
};

/* Copies, so that a new nursery can make the layer again. */
struct owner_layer {
	struct arena arena; /* holds all below */
	const char *name;
	struct layer_item *items;
	size_t n;
	bool folders_only; /* the folders beneath its only item, without their files */
	struct owner_layer *next;
};

/* The descriptors that PID 1 and the shell get. */
struct sandbox_ends {
	int sockets[PLAN_SOCKETS];
	int mail; /* the shell's */
};

#define SANDBOX_ENDS_INIT                                                                          \
	{                                                                                          \
		.sockets = { -1, -1, -1, -1 }, .mail = -1                                          \
	}

struct native_owner {
	struct owner base;
	/* Held to start, ask or end a nursery, or to add a layer or a cover. It may take long: no
	 * sandbox's start or end waits for it. */
	pthread_mutex_t changing;
	pthread_mutex_t lock; /* guards all below; held for moments, inside of `changing` */
	struct arena arena;   /* has label and covers; under `changing` */
	const char *label;
	const char *covers[COVERS_MAX + 1]; /* real paths, NULL-terminated: see cover.c */
	size_t n_covers;
	int self;    /* pidfd of this process: guests see it end */
	int nursery; /* socket; -1: none runs */
	pid_t nursery_pid;
	pid_t retired[COVERS_MAX + 1]; /* nurseries that stay until their sandboxes have ended */
	size_t n_retired;
	struct roll *roll; /* shows nurseries which sandboxes are closed */
	int roll_fd;
	atomic_uint numbers;  /* sandboxes so far */
	bool forked;          /* this process is a fork of the owner's */
	atomic_uchar can;     /* NURSERY_CAN_* */
	atomic_bool in_doubt; /* the nursery may be dead: a sandbox or layer of it was lost */
	atomic_bool had_nursery;
	struct errand *errands, *errand_in_hand; /* errands.c */
	pthread_cond_t errand_settled;
	pthread_t errand_thread;
	bool runs_errands, ran_errands; /* ran: the thread must be joined */
	struct buf base_filter, agent_filter, judged_filter;
	struct cgroups *cgroups; /* for the nursery that runs; NULL: none on this machine */
	struct spare spares[SPARES_MAX];
	uint32_t cradles;                  /* numbered so far */
	struct sandbox_limits last_limits; /* most likely those of the next sandbox */
	unsigned sandboxes_started;
	char *no_cgroups; /* a sentence: what is not enforced without them, and why not */
	atomic_bool limits_missed;
	atomic_bool disk_unlimited; /* a limit was asked for, without project quotas */
	struct owner_layer *layers;
	struct gpus *gpus;                /* NULL: none */
	char *disk_dir;                   /* holds its episodes' folders; NULL: none was made yet */
	int disk_claim;                   /* the lock on it; -1 */
	unsigned disk_folders;            /* made so far */
	unsigned disk_removals;           /* to be waited for */
	struct native_sandbox *sandboxes; /* alive; of the lock in fork.c */
	struct native_owner *next;
};

struct native_sandbox {
	struct sandbox base;
	struct native_owner *owner;
	uint32_t number;                /* in the roll; 0: this process is a fork */
	int control, porter;            /* sockets; -1: none, as the next */
	struct shell_mail *mail;        /* memory of its shell's commands and answers; NULL: none */
	uint32_t turn;                  /* number of the shell's last command */
	enum shell_listening listening; /* as the shell was told for this command */
	bool shell_ended;               /* with this wait status; shell.c clears it */
	int shell_status;
	int interruptions;            /* requests that PID 1 has not answered yet */
	struct porter_answer *answer; /* of the porter, for porter_take(); NULL: none */
	uint32_t asked;               /* id of the porter's last request */
	int64_t asked_bytes;          /* most that its answer may have; -1: it has no file */
	int64_t answer_by_ns;         /* deadline of that request; INT64_MAX: none */
	int64_t pump_by_ns;           /* deadline of PORTER_PUMP */
	bool porter_ended, more;      /* more: its socket may hold more messages */
	bool held;                    /* sandbox_hold_output() */
	size_t n_told;                /* the porter's events since its socket was empty */
	int files;                    /* O_PATH of its file system, once ready; -1 */
	int64_t files_base_bytes;     /* used when it was ready */
	struct cgroup *group;
	char *disk_folder; /* holds its files on the disk; NULL: they are in memory */
	bool disk_counted; /* by a quota, so that its file system's numbers are its own */
	uint32_t next_id;
	struct sandbox_event *queue; /* events that came while an answer was awaited */
	size_t n_queue;
	size_t n_unasked; /* PID 1's messages in a row, since the last request */
	bool stood, gone;
	bool is_errand;                          /* or was: errands.c */
	struct native_sandbox *next, **previous; /* in owner->sandboxes */
};

static inline struct native_owner *native_owner_of(struct owner *base)
{
	return (struct native_owner *)base;
}

static inline struct native_sandbox *native_of(struct sandbox *base)
{
	return (struct native_sandbox *)base;
}

/* As native_of(), of a sandbox that is only looked at. */
static inline const struct native_sandbox *native_view(const struct sandbox *base)
{
	return (const struct native_sandbox *)base;
}

/* --- owner.c --------------------------------------------------------------------------------- */

extern const struct shell_ops shell_native;

/* Abilities of this machine; known once a sandbox or a layer was made. */
struct native_abilities {
	bool groups;           /* control groups for limits and usage */
	const char *no_groups; /* why not; the owner's */
	bool overlay;          /* else a layer is copied into each sandbox */
};

void native_abilities(const struct owner *owner, struct native_abilities *out);
bool native_has_layer(struct native_owner *owner, const char *name);

/* The name of the layer that owner_add_writable() makes. */
#define FOLDERS_NAME_BYTES 32
void native_folders_name(const char *source, char out[FOLDERS_NAME_BYTES]);

/* --- roll.c ---------------------------------------------------------------------------------- */

int roll_open(struct native_owner *owner, struct fh_error *err);
void roll_release(struct native_owner *owner);
uint32_t roll_number(struct native_owner *owner); /* for a new sandbox. Any thread. */
/* Tells the nursery to end the sandbox if it does not end by itself. Any thread. */
void roll_close(struct native_owner *owner, uint32_t number);

/* --- cover.c --------------------------------------------------------------------------------- */

/* Paths of this machine that every sandbox sees, NULL-terminated. */
extern const char *const listed_paths[];
int cover_hide(struct owner *owner, const char *folder, struct fh_error *err);
int cover_check(const char *folder, struct fh_error *err);

/* --- spares.c -------------------------------------------------------------------------------- */

/* A group for a sandbox, a spare one if there is; NULL where there are no groups. *out_cradle 0: no
 * process waits in it. Takes the lock. */
int spares_take(struct native_owner *owner, const struct sandbox_limits *limits,
		struct cgroup **out, uint32_t *out_cradle, struct fh_error *err);
/* Makes more, the more sandboxes the owner has started. Takes the lock. */
void spares_refill(struct native_owner *owner);
/* Gives them back when their nursery is gone. Under the lock. */
void spares_drop(struct native_owner *owner);

/* --- control.c: messages to and from PID 1 --------------------------------------------------- */

/* Sends to PID 1 or to the porter, by its socket. A socket that is full means that the guest hangs:
 * the sandbox is gone then. */
int control_send(struct native_sandbox *sb, int socket, const struct buf *b, const int *fds,
		size_t n, struct fh_error *err);
int control_check_path(const char *path, struct fh_error *err);
/* The reason in a message about a failure. An untrusted guest may leave it out. */
void control_copy_reason(struct wire *w, char *out, size_t size);

void control_next_event(struct sandbox *base, struct sandbox_event *out);
void control_waits(const struct sandbox *base, struct waits *w);
/* An event is there that no descriptor will tell of. */
bool control_has_event(const struct native_sandbox *sb);
int control_run(struct sandbox *base, const struct run_request *request, uint32_t *out_id,
		struct fh_error *err);
int control_go(struct sandbox *base, uint32_t id, struct fh_error *err);
int control_signal(struct sandbox *base, uint32_t id, int signal_number, struct fh_error *err);

/*
 * Interrupts the shell's command. ASK sends CONT, the loop's own signal and INT to all processes
 * born since the command began. KILL kills them, and SHELL kills the shell too. ALL kills every
 * process of the sandbox, since any may hold a lock that the shell waits for.
 *
 * `interruptions` counts it until PID 1 has sent the signals: until then they may hit the next
 * command.
 */
enum interrupt_level { INTERRUPT_ASK, INTERRUPT_KILL, INTERRUPT_SHELL, INTERRUPT_ALL };
void control_interrupt(struct native_sandbox *sb, enum interrupt_level level);

/* --- porter.c: messages to and from the porter ----------------------------------------------- */

/* The next event of the porter, without waiting; false if its message is broken, or it hangs. */
bool porter_next_event(struct native_sandbox *sb, struct sandbox_event *out);
/* When it hangs unless it answers; INT64_MAX: no answer is awaited. */
int64_t porter_hangs_at(const struct native_sandbox *sb);
void porter_drop_answer(struct native_sandbox *sb);

/* From now on until the end of the command its output comes while it runs. To be repeated now and
 * then: the sandbox is gone if the porter does not answer in time. */
void porter_pump(struct native_sandbox *sb);

int porter_clear_requests(struct sandbox *base, struct fh_error *err);
void porter_hold_output(struct sandbox *base, bool hold);
int porter_shut_output(struct sandbox *base, uint32_t id, int slot, struct fh_error *err);
int porter_send_input(struct sandbox *base, const void *data, size_t n, struct fh_error *err);
int porter_get_begin(struct sandbox *base, const char *folder, const char *path, int64_t max_bytes,
		uint32_t *out_id, struct fh_error *err);
int porter_put_begin(struct sandbox *base, const char *folder, const char *path, int from,
		mode_t mode, uint32_t *out_id, struct fh_error *err);
int porter_drain_begin(struct sandbox *base, uint32_t *out_id, struct fh_error *err);
int porter_take(struct sandbox *base, struct sandbox_answer *out, struct fh_error *err);
bool porter_answered(struct sandbox *base, uint32_t id);
void porter_answer_waits(const struct sandbox *base, struct waits *w);

/* --- mail.c: memory of a shell's commands and answers ---------------------------------------- */

/* *out_fd: the shell's end. */
int mail_new(struct shell_mail **out, int *out_fd, struct fh_error *err);
void mail_free(struct shell_mail *mail); /* NULL is fine */

/* Gives the shell its next command, of at most SHELL_COMMAND_MAX bytes, once it has answered the
 * last one. Does nothing if the shell is gone; events tell of it. */
void mail_send(struct native_sandbox *sb, uint64_t nonce, uint32_t flags, const char *text);
/* Whether the shell claims that its answer is there. Sooner known than by a descriptor. */
bool mail_answered(const struct native_sandbox *sb);
/* Waits for the answer alone, for moments. */
bool mail_await(struct native_sandbox *sb, int64_t timeout_ns);
/* From now on the answer wakes a caller that waits by sandbox_waits(). False: it is there
 * already. */
bool mail_listen(struct native_sandbox *sb);
/* Copies the status and the working directory, which the agent may have written. -EPROTO: a length
 * is out of bounds. */
int mail_status(const struct native_sandbox *sb, struct shell_status *out, char *cwd,
		size_t cwd_size);
/* Adds the output of that status. */
void mail_output(const struct native_sandbox *sb, const struct shell_status *status,
		struct buf *output, bool *out_cut);

/* --- disk.c: folders of episodes' files ------------------------------------------------------ */

/* A new one (heap), limited where the file system can do it. */
int disk_folder_new(struct native_owner *owner, const struct sandbox_limits *limits, char **out,
		bool *out_counted, struct fh_error *err);
/* Has the nursery remove folders of owners that are gone; how many. */
int disk_collect(struct native_owner *owner);
/* Once all are removed. */
void disk_close(struct native_owner *owner);

/* --- fork.c ---------------------------------------------------------------------------------- */

/* A child of fork() without exec (a multiprocessing worker) closes its copies of the sockets.
 * Else it would keep a sandbox alive. */
void fork_watch_owner(struct native_owner *owner);
void fork_unwatch_owner(struct native_owner *owner);
void fork_watch_sandbox(struct native_sandbox *sb);
void fork_unwatch_sandbox(struct native_sandbox *sb);

/* --- start.c --------------------------------------------------------------------------------- */

int start_begin(struct owner *owner, const struct sandbox_options *options, struct sandbox **out,
		struct fh_error *err);
void start_close(struct sandbox *base);
void start_fds(const struct sandbox *base, int out_fds[SANDBOX_FDS]);
int64_t start_count(const struct sandbox *base, enum sandbox_counter counter);
/* A new shell in the same files after the last one ended. */
int start_shell_again(struct native_sandbox *sb, struct fh_error *err);
/* Used space of its file system; -1: not known. */
int64_t start_files_bytes(const struct native_sandbox *sb);

#endif
