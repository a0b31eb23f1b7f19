/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_NATIVE_H
#define NATIVE_NATIVE_H

#include "base/arena.h"
#include "base/buf.h"
#include "native/cgroup.h"
#include "proto/guest.h"
#include "sandbox/ops.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * Native sandboxes: namespaces, a root of listed paths, an overlay and control groups. The owner
 * talks to each sandbox' PID 1 over a socket. An owner has a nursery, which makes its sandboxes. It
 * also has a pool of control groups and a list of its layers (starting files).
 *
 * A sandbox starts by sending its plan to the nursery. If the nursery was killed, or its socket is
 * full, a thread sends the plan later (errands.c).
 */

#define COVERS_MAX GUEST_BINDS_MAX
#define SPARES_MAX 3

/* A control group made ahead for a future sandbox, with a process (cradle) that waits in it: see
 * guest/cradle.c. */
struct spare {
	/* control group for a future sandbox; NULL: this entry of spares[] is empty */
	struct cgroup *group;
	/* number of the cradle (waiting process) in this group; a plan asks for this number */
	uint32_t cradle;
};

/* Description of a layer that the owner keeps. A new nursery makes the layer again from it. */
struct owner_layer {
	struct arena arena; /* holds the layer's strings and items */
	const char *name;
	struct layer_item *items;
	size_t n;
	bool folders_only; /* the layer has only the subfolders of a single host folder, no files */
	struct owner_layer *next;
};

/*
 * Descriptors that the owner sends with the plan of a new sandbox: the guest's ends of sockets, and
 * memory.
 */
struct sandbox_ends {
	int sockets[PLAN_SOCKETS];
	int mail; /* memfd of the shell's commands and answers (native/mail.h); -1: none */
};

#define SANDBOX_ENDS_INIT                                                                          \
	{                                                                                          \
		.sockets = { -1, -1, -1, -1 }, .mail = -1                                          \
	}

struct native_owner {
	struct owner base;
	/*
	 * Lock held while a thread starts, asks or ends a nursery, or adds a layer or a hidden
	 * folder. It may be held for long: starting or ending a sandbox does not wait for it.
	 */
	pthread_mutex_t changing;
	/* guards the owner's fields below; held briefly; a thread that needs both takes `changing`
	 * first */
	pthread_mutex_t lock;
	struct arena arena; /* holds the strings of `label` and `covers`; guarded by `changing` */
	const char *label;
	/* folders that sandboxes must not see, as real paths, NULL-terminated: cover.c */
	const char *covers[COVERS_MAX + 1];
	size_t n_covers;
	int self;            /* pidfd of the owner's process, which tells sandboxes when it ends */
	int nursery;         /* socket of the running nursery, which makes sandboxes; -1: none */
	int nursery_process; /* pidfd of the running nursery: base/child.h */
	/* Pidfds of replaced nurseries, which run until their last sandbox has ended. */
	int retired[COVERS_MAX + 1];
	size_t n_retired;
	/* memory shared with nurseries, in which the owner marks the sandboxes that it has
	 * closed */
	struct roll *roll;
	int roll_fd;
	atomic_uint numbers; /* number of the newest sandbox: each gets the next number */
	bool forked;         /* this process is a fork, not the process that opened the owner */
	/* bits NURSERY_CAN_*: features of this machine that the nursery can use */
	atomic_uchar can;
	/* the nursery may be dead, because a sandbox or layer that it should make got lost */
	atomic_bool in_doubt;
	atomic_bool had_nursery;
	/*
	 * queue of errands (messages to send to the nursery later), and the one that is being sent:
	 * errands.c
	 */
	struct errand *errands, *errand_in_hand;
	pthread_cond_t errand_settled;
	pthread_t errand_thread;
	/* runs_errands: the thread that sends delayed messages runs; ran_errands: that thread must
	 * be joined */
	bool runs_errands, ran_errands;
	struct buf base_filter, agent_filter, judged_filter;
	struct cgroups *cgroups; /* pool of control groups of the running nursery; NULL: none */
	struct spare spares[SPARES_MAX];
	/* number of the newest cradle (waiting process): each gets the next number */
	uint32_t cradles;
	/*
	 * Limits of the newest sandbox. Control groups made ahead get the same, since the next
	 * sandbox most likely has them.
	 */
	struct sandbox_limits last_limits;
	unsigned sandboxes_started;
	/*
	 * Sentence for the user on limits that are weaker or missing, because there are no control
	 * groups. NULL: all limits are enforced.
	 */
	char *no_cgroups;
	atomic_bool limits_missed;
	/* True: a disk limit was asked for, but the file system has no project quotas to enforce
	 * it. */
	atomic_bool disk_unlimited;
	struct owner_layer *layers;
	/* Path of the folder that has the folders of this owner's episodes; NULL: not made yet. */
	char *disk_dir;
	/* descriptor with a file lock on disk_dir, so that no other process removes the folder; -1:
	 * none */
	int disk_claim;
	unsigned disk_folders;      /* number of folders made so far for episodes' files */
	atomic_bool disk_collected; /* disk_stale_collect_once() was called already */
	/* Number of ended owners' folders that the nursery was asked to remove. */
	unsigned disk_removals;
	struct devices *devices;          /* GPUs that the owner holds; NULL: none */
	struct native_sandbox *sandboxes; /* live sandboxes; guarded by the lock in fork.c */
	struct native_owner *next;
};

struct native_sandbox {
	struct sandbox base;
	struct native_owner *owner;
	/* number of the sandbox in struct roll, the owner's list; 0: none yet, or this process is a
	 * fork */
	uint32_t number;
	int control, porter; /* sockets to PID 1 and to the porter; -1: none */
	/* Memory shared with the shell, for commands and answers; NULL: no shell. */
	struct shell_mail *mail;
	uint32_t turn;                  /* number of the last command that the shell got */
	enum shell_listening listening; /* how the shell was told to wake the owner */
	/* PID 1 has reported that the shell ended, with shell_status. shell.c clears the flag. */
	bool shell_ended;
	int shell_status;
	int interruptions; /* number of interruptions whose signals PID 1 has not sent yet */
	/* answer of the porter that porter_take() gives; NULL: none */
	struct porter_answer *answer;
	uint32_t asked; /* id of the last request that the porter was sent */
	/* most bytes of the file that the awaited answer of the porter may bring; -1: no file */
	int64_t asked_bytes;
	int64_t answer_by_ns; /* deadline for the answer to the request `asked`; INT64_MAX: none */
	/* deadline for the porter's answer to PORTER_PUMP, the request to forward output;
	 * INT64_MAX: none */
	int64_t pump_by_ns;
	/* porter_ended: the porter's process ended; more: its socket may hold more messages */
	bool porter_ended, more;
	bool held; /* the caller wants no output of the sandbox now: sandbox_hold_output() */
	/*
	 * number of the porter's events since the owner last sent the sandbox a message, or since
	 * its socket was empty
	 */
	size_t n_told;
	/* O_PATH descriptor of the sandbox' file system; -1: the sandbox is not ready */
	int files;
	/* bytes used in the sandbox' file system when the sandbox became ready */
	int64_t files_base_bytes;
	struct cgroup *group;
	char *disk_folder; /* folder of the sandbox' files; NULL: they are in memory */
	/*
	 * True: a quota counts the files in disk_folder. So statfs() shows their size, and not that
	 * of all files on the disk.
	 */
	bool disk_counted;
	uint32_t next_id;
	/* queued events, which came while the caller waited for a porter's answer */
	struct sandbox_event *queue;
	size_t n_queue;
	/*
	 * number of messages from PID 1 since the owner last sent it a message, or since its socket
	 * was empty
	 */
	size_t n_unasked;
	bool stood, gone;
	/* The sandbox was not made at once, but by an errand: a plan sent later (errands.c). */
	bool is_errand;
	/*
	 * Set right before the plan is sent, maybe by the thread of errands. It sets `group`,
	 * `disk_folder` and `disk_counted` before, and nothing afterwards.
	 */
	atomic_bool provided;
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

/* Returns the native_sandbox of a sandbox; as native_of(), for const ones. */
static inline const struct native_sandbox *native_view(const struct sandbox *base)
{
	return (const struct native_sandbox *)base;
}

#endif
