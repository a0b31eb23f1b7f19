/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_NURSERY_H
#define NATIVE_NURSERY_H

#include "native/native.h"

#include <errno.h>

/*
 * How an owner starts its nursery and sends messages to it. Messages that the nursery can't take at
 * once become errands.
 */

#define NURSERY_ANSWER_MS 30000 /* time for the nursery's answer; making a layer has no limit */

/* --- nursery.c: under `changing` -------------------------------------------------------------- */

/* Starts a nursery with all layers if none runs, and waits until it is ready. */
int nursery_need(struct native_owner *owner, struct fh_error *err);
/* As nursery_need(), but locks `changing` itself. */
int nursery_ensure(struct native_owner *owner, struct fh_error *err);
/* Closes the nursery, which ends after its sandboxes. Waits 2 s for that at most. */
void nursery_leave(struct native_owner *owner);

/*
 * Replaces the nursery: it runs until its sandboxes have ended. The next sandbox comes from a new
 * nursery.
 */
void nursery_retire(struct native_owner *owner);
/* Waits for retired nurseries; call it when no sandbox is left. */
void nursery_await_retired(struct native_owner *owner);

/* Whether the nursery seems to run and to have room for a message. The caller holds `lock`. */
bool nursery_is_ready(const struct native_owner *owner);

/* --- nursery_talk.c --------------------------------------------------------------------------- */

/*
 * Sends a message without waiting. -EAGAIN: the nursery's socket is full. -EPIPE: the nursery has
 * ended.
 */
int nursery_send(int nursery, const struct buf *b, const int *fds, size_t n_fds);
/* poll(2) for one descriptor. */
bool nursery_poll(int fd, short events, int timeout_ms);

/*
 * Whether an error of nursery_send() or of a request may go away on a retry, perhaps with a new
 * nursery.
 */
static inline bool nursery_is_lost(int r)
{
	return r == -EPIPE || r == -ECONNRESET || r == -EAGAIN;
}

/* Waits for an answer of this kind. *out_bits is the answer's u8, if it has one. */
int nursery_await(
		int socket, uint8_t kind, int timeout_ms, uint8_t *out_bits, struct fh_error *err);

/* Whether the nursery answers a ping. The caller holds `changing`. */
bool nursery_answers(int nursery);
void nursery_do_all(int nursery); /* waits until the nursery has removed all folders */
/* Has the nursery make a layer, and waits for it. -EPIPE if the nursery has ended meanwhile. */
int nursery_make_layer(int nursery, const struct owner_layer *layer, struct fh_error *err);

/* Sends a plan to the owner's nursery without waiting. Locks `lock`. */
int nursery_send_plan(struct native_owner *owner, const struct buf *message, const int *fds,
		size_t n_fds);
/* Has the nursery remove the folder of an ended episode when it has time. Locks `lock`. */
void nursery_remove(struct native_owner *owner, const char *folder);
/*
 * Has the nursery make a process that waits in a group for its plan. `number` names the process in
 * that plan. The caller holds `lock`.
 */
int nursery_add_cradle(struct native_owner *owner, uint32_t number, const struct cgroup *group);

/* --- errands.c: functions lock `lock`, unless they say otherwise ------------------------------ */

/* Keeps a message that the nursery's socket had no room for, and sends it later. */
void errand_message(struct native_owner *owner, const struct buf *message);

/* Makes a sandbox later. Takes ownership of the ends. */
int errand_sandbox(struct native_sandbox *sb, const struct plan *plan,
		const struct sandbox_limits *limits, struct sandbox_ends *ends,
		struct fh_error *err);

/* Drops the sandbox' errand. Call it before the sandbox is freed. */
void errand_drop(struct native_sandbox *sb);

/* Whether there is no errand; the caller holds `lock`. */
bool errands_none(const struct native_owner *owner);
/* Ends the thread; call it when no sandbox is left, without `lock`. */
void errands_finish(struct native_owner *owner);
void errands_forget(struct native_owner *owner); /* call it in a fork: drops all errands */

/* --- start.c ---------------------------------------------------------------------------------- */

/*
 * Gets a group and a folder, completes the plan and sends it to the nursery, which must be ready.
 * Locks `lock`. May be called again if the nursery was lost.
 */
int start_send_plan(struct native_sandbox *sb, const struct plan *plan,
		const struct sandbox_limits *limits, const struct sandbox_ends *ends,
		struct fh_error *err);
void start_close_ends(struct sandbox_ends *ends);

#endif
