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
	int disk_claim;             /* descriptor that locks disk_dir; -1: none */
	unsigned disk_folders;      /* number of episode folders made so far */
	atomic_bool disk_collected; /* disk_stale_collect_once() was called */
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

#endif
