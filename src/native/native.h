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

/* A spare control group, in which a process waits for its sandbox: see guest/cradle.c. */
struct spare {
	struct cgroup *group; /* NULL: no spare */
	uint32_t cradle;      /* number of the waiting process */
};

/* A copy of a layer's description, from which a new nursery makes the layer again. */
struct owner_layer {
	struct arena arena; /* holds the strings and items */
	const char *name;
	struct layer_item *items;
	size_t n;
	bool folders_only; /* only the folders beneath the layer's only item, no files */
	struct owner_layer *next;
};

/* The guest's ends of a new sandbox' sockets and memory. */
struct sandbox_ends {
	int sockets[PLAN_SOCKETS];
	int mail; /* memory of the shell's commands and answers */
};

#define SANDBOX_ENDS_INIT                                                                          \
	{                                                                                          \
		.sockets = { -1, -1, -1, -1 }, .mail = -1                                          \
	}

struct native_owner {
	struct owner base;
	/*
	 * Held to start, ask or end a nursery, or to add a layer or a cover. It may be held for
	 * long: no sandbox's start or end waits for it.
	 */
	pthread_mutex_t changing;
	pthread_mutex_t lock; /* guards the fields below; held briefly, locked after `changing` */
	struct arena arena;   /* has `label` and `covers`; guarded by `changing` */
	const char *label;
	const char *covers[COVERS_MAX + 1]; /* hidden folders, resolved, NULL-terminated: cover.c */
	size_t n_covers;
	int self;    /* pidfd of this process, by which guests see it end */
	int nursery; /* socket of the running nursery; -1: none */
	pid_t nursery_pid;
	/* Replaced nurseries that run until their sandboxes have ended. */
	pid_t retired[COVERS_MAX + 1];
	size_t n_retired;
	/* memory shared with nurseries, by which they see which sandboxes the owner has closed */
	struct roll *roll;
	int roll_fd;
	atomic_uint numbers;  /* number of the newest sandbox */
	bool forked;          /* this process is a fork of the owner's process */
	atomic_uchar can;     /* abilities of the nursery: NURSERY_CAN_* */
	atomic_bool in_doubt; /* the nursery may be dead: a sandbox or layer got lost */
	atomic_bool had_nursery;
	/* errands.c: the queue, and the errand that is being run. */
	struct errand *errands, *errand_in_hand;
	pthread_cond_t errand_settled;
	pthread_t errand_thread;
	bool runs_errands, ran_errands; /* the errand thread runs; it ran and must be joined */
	struct buf base_filter, agent_filter, judged_filter;
	struct cgroups *cgroups; /* the running nursery's pool of groups; NULL: none */
	struct spare spares[SPARES_MAX];
	uint32_t cradles; /* number of the newest cradle */
	/* Limits of the last sandbox: most likely also of the next. */
	struct sandbox_limits last_limits;
	unsigned sandboxes_started;
	char *no_cgroups; /* sentence about limits that are not enforced without groups */
	atomic_bool limits_missed;
	/* A disk limit was asked for, but there are no project quotas. */
	atomic_bool disk_unlimited;
	struct owner_layer *layers;
	struct gpus *gpus; /* leased GPUs; NULL: none */
	/* Folder of this owner's episode folders; NULL: not made yet. */
	char *disk_dir;
	int disk_claim;        /* descriptor that locks disk_dir; -1: none */
	unsigned disk_folders; /* number of episode folders made so far */
	/* Folders of dead owners that the nursery was asked to remove. */
	unsigned disk_removals;
	struct native_sandbox *sandboxes; /* live sandboxes; guarded by the lock in fork.c */
	struct native_owner *next;
};

struct native_sandbox {
	struct sandbox base;
	struct native_owner *owner;
	uint32_t number;     /* number in the owner's roll; 0: this process is a fork */
	int control, porter; /* sockets of PID 1 and the porter; -1: none */
	/* Memory of the shell's commands and answers; NULL: no shell. */
	struct shell_mail *mail;
	uint32_t turn;                  /* number of the shell's last command */
	enum shell_listening listening; /* how the shell was told to wake the owner */
	/* PID 1 reported the shell's end, with shell_status; shell.c clears it. */
	bool shell_ended;
	int shell_status;
	int interruptions;            /* interruptions that PID 1 has not confirmed yet */
	struct porter_answer *answer; /* the porter's answer, for porter_take(); NULL: none */
	uint32_t asked;               /* id of the last request to the porter */
	int64_t asked_bytes;          /* largest file that may answer it; -1: it has no file */
	int64_t answer_by_ns;         /* deadline of the request `asked`; INT64_MAX: none */
	int64_t pump_by_ns;           /* deadline for the answer to PORTER_PUMP */
	bool porter_ended, more;      /* more: the porter's socket may hold more messages */
	bool held;                    /* output is held back: sandbox_hold_output() */
	size_t n_told;                /* porter's events since its socket was last empty */
	/* O_PATH descriptor of the sandbox' file system; -1: not ready. */
	int files;
	int64_t files_base_bytes; /* bytes used in it when the sandbox was ready */
	struct cgroup *group;
	char *disk_folder; /* folder of the sandbox' files; NULL: they are in memory */
	bool disk_counted; /* a quota counts disk_folder, so that statfs() shows its own usage */
	uint32_t next_id;
	struct sandbox_event *queue; /* events that came while the caller waited for an answer */
	size_t n_queue;
	size_t n_unasked; /* messages of PID 1 since the owner's last request */
	bool stood, gone;
	/* An errand (errands.c) makes it, or has made it. */
	bool is_errand;
	struct native_sandbox *next, **previous; /* links of the list owner->sandboxes */
};

static inline struct native_owner *native_owner_of(struct owner *base)
{
	return (struct native_owner *)base;
}

static inline struct native_sandbox *native_of(struct sandbox *base)
{
	return (struct native_sandbox *)base;
}

/* As native_of(), for a const sandbox. */
static inline const struct native_sandbox *native_view(const struct sandbox *base)
{
	return (const struct native_sandbox *)base;
}

/* --- owner.c --------------------------------------------------------------------------------- */

extern const struct shell_ops shell_native;

/* Abilities of this machine. They are known once a sandbox or a layer was made. */
struct native_abilities {
	bool groups;           /* control groups enforce limits and count usage */
	const char *no_groups; /* why there are no groups; the owner's string */
	bool overlay;          /* overlays work; if not, a layer is copied into each sandbox */
};

void native_abilities(const struct owner *base, struct native_abilities *out);
bool native_has_layer(struct native_owner *owner, const char *name);

/* Returns the name of the layer that owner_add_writable() makes of a folder. */
#define FOLDERS_NAME_BYTES 32
void native_folders_name(const char *source, char out[FOLDERS_NAME_BYTES]);

/* --- roll.c ---------------------------------------------------------------------------------- */

int roll_open(struct native_owner *owner, struct fh_error *err);
void roll_release(struct native_owner *owner);
uint32_t roll_number(struct native_owner *owner); /* number of a new sandbox; thread-safe */
/*
 * Marks the sandbox as closed, so that the nursery ends it if PID 1 does not. Any thread may call
 * it.
 */
void roll_close(struct native_owner *owner, uint32_t number);

/* --- cover.c --------------------------------------------------------------------------------- */

/* Paths of this machine that every sandbox sees, NULL-terminated. */
extern const char *const listed_paths[];
int cover_hide(struct owner *base, const char *folder, struct fh_error *err);
int cover_check(const char *folder, struct fh_error *err);

/* --- spares.c -------------------------------------------------------------------------------- */

/*
 * Takes a group for a sandbox, a spare one if there is any. *out is NULL on a machine without
 * groups. *out_cradle 0: no process waits in the group. Locks `lock`.
 */
int spares_take(struct native_owner *owner, const struct sandbox_limits *limits,
		struct cgroup **out, uint32_t *out_cradle, struct fh_error *err);
/* Makes spare groups: more of them if the owner has started many sandboxes. Locks `lock`. */
void spares_refill(struct native_owner *owner);
/* Returns the spare groups to their pool after the nursery has ended. The caller holds `lock`. */
void spares_drop(struct native_owner *owner);

/* --- control.c: messages to and from PID 1 --------------------------------------------------- */

/*
 * Sends a message on the socket of PID 1 or of the porter. If the socket is full, the guest hangs:
 * the sandbox is gone then.
 */
int control_send(struct native_sandbox *sb, int socket, const struct buf *b, const int *fds,
		size_t n, struct fh_error *err);
int control_check_path(const char *path, struct fh_error *err);
/* Copies the reason from a message about a failure. An untrusted guest may leave it out. */
void control_copy_reason(struct wire *w, char *out, size_t size);

void control_next_event(struct sandbox *base, struct sandbox_event *out);
void control_waits(const struct sandbox *base, struct waits *w);
/* Whether an event can be read for which no descriptor becomes readable. */
bool control_has_event(const struct native_sandbox *sb);
int control_run(struct sandbox *base, const struct run_request *request, uint32_t *out_id,
		struct fh_error *err);
int control_go(struct sandbox *base, uint32_t id, struct fh_error *err);
int control_signal(struct sandbox *base, uint32_t id, int signal_number, struct fh_error *err);

/*
 * Interrupts the shell's command. ASK sends SIGCONT, INTERRUPT_SIGNAL and SIGINT to all processes
 * born since the command began. KILL kills these processes. SHELL kills the shell too. ALL kills
 * every process of the sandbox, since any may hold a lock that the shell waits for.
 *
 * sb->interruptions counts the interruption until PID 1 has sent the signals. Until then no new
 * command may begin: the signals would hit it.
 */
enum interrupt_level { INTERRUPT_ASK, INTERRUPT_KILL, INTERRUPT_SHELL, INTERRUPT_ALL };
void control_interrupt(struct native_sandbox *sb, enum interrupt_level level);

/* --- porter.c: messages to and from the porter ----------------------------------------------- */

/*
 * Returns the porter's next event without waiting. False if a message is malformed, or the porter
 * hangs.
 */
bool porter_next_event(struct native_sandbox *sb, struct sandbox_event *out);
/*
 * Returns the time after which a porter that has not answered hangs. INT64_MAX: no answer is
 * awaited.
 */
int64_t porter_hangs_at(const struct native_sandbox *sb);
void porter_drop_answer(struct native_sandbox *sb);

/*
 * Has the porter forward the running command's output until the command ends. Repeat it now and
 * then: if the porter does not answer in time, the sandbox is gone. False: it couldn't be asked
 * now.
 */
bool porter_pump(struct native_sandbox *sb);

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

/* Makes the memory. *out_fd is a descriptor for the shell. */
int mail_new(struct shell_mail **out, int *out_fd, struct fh_error *err);
void mail_free(struct shell_mail *mail); /* NULL is fine */

/*
 * Writes the shell's next command, of at most SHELL_COMMAND_MAX bytes. The shell must have answered
 * the last one. Does nothing if the shell has ended: an event reports that.
 */
void mail_send(struct native_sandbox *sb, uint64_t nonce, uint32_t flags, const char *text);
/* Whether the shell claims that it has written its answer. Faster than waiting for a descriptor. */
bool mail_answered(const struct native_sandbox *sb);
/* Blocks until the shell has answered, or the timeout. Watches nothing else, so keep it short. */
bool mail_await(struct native_sandbox *sb, int64_t timeout_ns);
/*
 * Has the answer wake a caller that waits by sandbox_waits(). False: the shell has answered
 * already.
 */
bool mail_listen(struct native_sandbox *sb);
/*
 * Copies the answer's status and working directory, which the agent may have written. -EPROTO: a
 * length is out of bounds.
 */
int mail_status(const struct native_sandbox *sb, struct shell_status *out, char *cwd,
		size_t cwd_size);
/* Appends the answer's output, whose length is in `status`. */
void mail_output(const struct native_sandbox *sb, const struct shell_status *status,
		struct buf *output, bool *out_cut);

/* --- disk.c: folders of episodes' files ------------------------------------------------------ */

/* Makes a folder (heap path) for an episode's files, with a quota if the file system can set it. */
int disk_folder_new(struct native_owner *owner, const struct sandbox_limits *limits, char **out,
		bool *out_counted, struct fh_error *err);
/* Has the nursery remove folders of owners that have ended. Returns the number of folders. */
int disk_collect(struct native_owner *owner);
/* Removes the owner's folder. Call it after all episodes' folders were removed. */
void disk_close(struct native_owner *owner);

/* --- fork.c ---------------------------------------------------------------------------------- */

/*
 * A child of fork() without exec (a multiprocessing worker) closes its copies of these sockets. An
 * open copy would keep a sandbox alive.
 */
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
/* Starts a new shell in the same files after the last shell has ended. */
int start_shell_again(struct native_sandbox *sb, struct fh_error *err);
/* Returns the used bytes of the sandbox' file system; -1: not known. */
int64_t start_files_bytes(const struct native_sandbox *sb);

#endif
