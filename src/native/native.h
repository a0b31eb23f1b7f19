/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_NATIVE_H
#define NATIVE_NATIVE_H

#include "base/buf.h"
#include "proto/guest.h"
#include "native/cgroup.h"
#include "native/gpus.h"
#include "sandbox/sandbox.h"

#include <pthread.h>
#include <stdatomic.h>

/* What the files of this layer share. */
#define COVERS_MAX GUEST_BINDS_MAX
#define SPARES_MAX 3

/* A group in which a process waits for its sandbox: see guest/cradle.c. */
struct spare {
	struct cgroup *group; /* NULL: none */
	uint32_t cradle;      /* its number */
};

struct owner_layer {
	char *name;
	struct layer_item *items; /* heap copies, so that a new nursery can be given them */
	size_t n;
	struct owner_layer *next;
};

/* What its PID 1 and its shell get. */
struct sandbox_ends {
	int sockets[PLAN_SOCKETS];
	int mail; /* of the shell */
};

#define SANDBOX_ENDS_INIT                                                                          \
	{                                                                                          \
		.sockets = { -1, -1, -1, -1 }, .mail = -1                                          \
	}

struct owner {
	/* Who starts, asks or ends a nursery, or adds a layer or a cover, holds this. It may take long: a sandbox's start
	 * or end never waits for it. */
	pthread_mutex_t changing;
	pthread_mutex_t lock; /* of all below; held for moments, inside of `changing` */
	char *label;
	char *covers[COVERS_MAX + 1]; /* real paths, NULL-terminated: see cover.c */
	size_t n_covers;
	int self;    /* pidfd of this process, for the guests to see it end */
	int nursery; /* socket; -1: none runs */
	pid_t nursery_pid;
	pid_t retired[COVERS_MAX + 1]; /* nurseries that stay until their sandboxes have ended */
	size_t n_retired;
	struct roll *roll; /* of the sandboxes: for nurseries to see which are closed */
	int roll_fd;
	atomic_uint numbers;  /* of sandboxes so far */
	bool forked;          /* this process is a fork of the one that it belongs to */
	atomic_uchar can;     /* NURSERY_CAN_* */
	atomic_bool in_doubt; /* whether the nursery runs: a sandbox or layer of it never stood */
	atomic_bool had_nursery;
	struct errand *errands, *errand_in_hand; /* errands.c */
	pthread_cond_t errand_settled;
	pthread_t errand_thread;
	bool runs_errands, ran_errands; /* ran: it is to be joined */
	struct buf base_filter, agent_filter, judged_filter;
	struct cgroups *cgroups; /* of the nursery that runs; NULL: none on this machine */
	struct spare spares[SPARES_MAX];
	uint32_t cradles;                  /* numbered so far */
	struct sandbox_limits last_limits; /* what the next sandbox will ask for, most likely */
	unsigned sandboxes_started;
	char *no_cgroups; /* a sentence: what is not enforced without them, and why not */
	atomic_bool limits_missed;
	atomic_bool disk_unlimited; /* asked for, on a file system without project quotas */
	struct owner_layer *layers;
	struct gpus *gpus;      /* NULL: none */
	char *disk_dir;         /* where its episodes have their folders; NULL: none had one yet */
	int disk_claim;         /* of that; -1 */
	unsigned disk_folders;  /* made so far */
	unsigned disk_removals; /* to be waited for */
	struct sandbox *sandboxes; /* alive; of the lock in fork.c */
	struct owner *next;
};

struct sandbox {
	struct owner *owner;
	uint32_t number;         /* in the roll; 0: this process is a fork */
	int control, porter;     /* sockets; -1: none, as the next */
	struct shell_mail *mail; /* of its shell: where commands and answers lie; NULL: none */
	uint32_t turn;           /* number of the shell's last command */
	enum shell_listening listening; /* what the shell was told of this command */
	sandbox_take_output *take_output;
	void *output_arg;
	struct porter_answer *answer; /* that nobody has taken; NULL: none */
	uint32_t asked;               /* what the porter was asked last */
	int64_t asked_bytes;          /* most that its answer may have; -1: none has any */
	int64_t answer_by_ns;         /* when it hangs; INT64_MAX: nothing was asked */
	int64_t pump_by_ns;           /* the same, of PORTER_PUMP */
	bool porter_ended, more;      /* more may be there to read from it */
	bool held;                    /* sandbox_hold_output() */
	size_t n_told;                /* its events since there was none */
	int files;                    /* O_PATH of its file system, once ready; -1 */
	int64_t files_base_bytes;     /* used when it was ready */
	struct cgroup *group;
	char *disk_folder; /* its files on the disk; NULL: in memory */
	bool disk_counted; /* by a quota: what its file system says is its own */
	uint32_t next_id;
	struct sandbox_event *queue; /* came while an answer was awaited */
	size_t n_queue;
	size_t n_unasked; /* messages that came since there was none, or since the last request */
	bool stood, gone;
	bool is_errand;                   /* or was: errands.c */
	struct sandbox *next, **previous; /* in owner->sandboxes */
};

/* roll.c */
int roll_open(struct owner *owner, struct fh_error *err);
void roll_release(struct owner *owner);
uint32_t roll_number(struct owner *owner); /* of a new sandbox. Any thread. */
/* Its nursery ends it if it does not end by itself. Any thread. */
void roll_close(struct owner *owner, uint32_t number);

/* cover.c: what a sandbox has of this machine, NULL-terminated. */
extern const char *const listed_paths[];
/* owner.c: the layer that owner_add_folders() makes. */
#define FOLDERS_NAME_BYTES 32
void owner_folders_name(const char *source, char out[FOLDERS_NAME_BYTES]);

/* spares.c: a group for a sandbox, a spare one if there is; NULL where there are no groups.
 * *out_cradle 0: nothing waits in it. Takes the lock. */
int spares_take(struct owner *owner, const struct sandbox_limits *limits, struct cgroup **out,
		uint32_t *out_cradle, struct fh_error *err);
/* Makes new ones, as many as the owner's way of starting sandboxes is worth. Takes the lock. */
void spares_refill(struct owner *owner);
/* The nursery that they waited in is gone. Under the lock. */
void spares_drop(struct owner *owner);

/* Starts one if none runs; its groups are there then. Takes `changing`. */
int owner_need_nursery(struct owner *owner, struct fh_error *err);

/* The folder's episode has ended: it goes, in the nursery's own time. */
void nursery_remove(struct owner *owner, const char *folder);
/* A process is to wait in a group for the plan that names this number. Under the lock. */
int nursery_add_cradle(struct owner *owner, uint32_t number, const struct cgroup *group);

/* control.c: a message to PID 1 or to the porter, by its socket. One that leaves it full for seconds is
 * gone, as far as its owner is concerned. */
int control_send(struct sandbox *sb, int socket, const struct buf *b, const int *fds, size_t n,
		struct fh_error *err);
int control_check_path(const char *path, struct fh_error *err);
/* The reason in a message for something that failed, which a guest that was taken over may leave out. */
void control_copy_reason(struct wire *w, char *out, size_t size);

/* porter.c: the next event of the porter, without waiting; false if its message is broken, or it hangs. */
bool porter_next_event(struct sandbox *sb, struct sandbox_event *out);
int64_t porter_hangs_at(const struct
		sandbox *sb); /* unless it says something sooner; INT64_MAX: nothing is awaited */
void porter_drop_answer(struct sandbox *sb);

/* mail.c: memory for a shell's commands and answers, and the descriptor by which the shell gets it. */
int mail_new(struct shell_mail **out, int *out_fd, struct fh_error *err);
void mail_free(struct shell_mail *mail); /* NULL is fine */

/* disk.c: a new folder for an episode's files (heap), limited where the file system can do it. */
int disk_folder_new(struct owner *owner, const struct sandbox_limits *limits, char **out,
		bool *out_counted, struct fh_error *err);
/* Folders of owners that are gone, to be removed by this one's nursery; how many. */
int disk_collect(struct owner *owner);
/* Once all are removed. */
void disk_close(struct owner *owner);

/* fork.c: a child of fork() that is not exec'd (a multiprocessing worker) holds copies of the
 * sockets; they are closed in it, so that its life does not prolong a sandbox'. */
void fork_watch_owner(struct owner *owner);
void fork_unwatch_owner(struct owner *owner);
void fork_watch_sandbox(struct sandbox *sb);
void fork_unwatch_sandbox(struct sandbox *sb);

/* sandbox.c: used space of its file system; -1: not known. */
int64_t sandbox_files_bytes(const struct sandbox *sb);

#endif
