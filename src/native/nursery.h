/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_NURSERY_H
#define NATIVE_NURSERY_H

#include "native/native.h"

#include <errno.h>

/* How an owner starts its nursery, talks to it, and puts off messages that it can't take at
 * once. */

#define NURSERY_ANSWER_MS 30000 /* layers have no timeout */

/* --- nursery.c: under `changing` -------------------------------------------------------------- */

/* Starts one with all layers if none runs, and waits until it stands. */
int nursery_need(struct native_owner *owner, struct fh_error *err);
/* The same for callers without `changing`, which it takes. */
int nursery_ensure(struct native_owner *owner, struct fh_error *err);
/* Lets the nursery end, which it does once its sandboxes have. Waits 2 s at most. */
void nursery_leave(struct native_owner *owner);

/* Lets this nursery finish its work and live on; the next sandbox comes from a new one. */
void nursery_retire(struct native_owner *owner);
void nursery_await_retired(struct native_owner *owner); /* once no sandbox is left */

/* Under `lock`: the nursery runs and has room for a message, as far as can be seen. */
bool nursery_is_ready(const struct native_owner *owner);

/* --- nursery_talk.c --------------------------------------------------------------------------- */

/* Never waits: -EAGAIN if its socket is full. -EPIPE: it is gone. */
int nursery_send(int nursery, const struct buf *b, const int *fds, size_t n_fds);
/* poll(2) for one descriptor. */
bool nursery_poll(int fd, short events, int timeout_ms);

/* Whether a failure of sending or asking may go away if it is tried again, by a new nursery
 * perhaps. */
static inline bool nursery_is_lost(int r)
{
	return r == -EPIPE || r == -ECONNRESET || r == -EAGAIN;
}

/* Waits for an answer of this kind; *out_bits is its u8 if it has one. */
int nursery_await(
		int socket, uint8_t kind, int timeout_ms, uint8_t *out_bits, struct fh_error *err);

/* Under `changing`. */
bool nursery_answers(int nursery);
void nursery_do_all(int nursery); /* waits until it has no work left */
/* -EPIPE if the nursery has ended meanwhile. */
int nursery_make_layer(int nursery, const struct owner_layer *layer, struct fh_error *err);

/* Takes the lock. */
int nursery_send_plan(struct native_owner *owner, const struct buf *message, const int *fds,
		size_t n_fds);
/* Has the folder of an ended episode removed, in the nursery's own time. Takes the lock. */
void nursery_remove(struct native_owner *owner, const char *folder);
/* Has a process wait in a group for the plan with this number. Under the lock. */
int nursery_add_cradle(struct native_owner *owner, uint32_t number, const struct cgroup *group);

/* --- errands.c: these take the lock, unless they say otherwise -------------------------------- */

/* Keeps a message that found no room, and sends it later. */
void errand_message(struct native_owner *owner, const struct buf *message);

/* Makes a sandbox later. Takes the ends over. */
int errand_sandbox(struct native_sandbox *sb, const struct plan *plan,
		const struct sandbox_limits *limits, struct sandbox_ends *ends,
		struct fh_error *err);

/* Before the sandbox is freed. */
void errand_drop(struct native_sandbox *sb);

bool errands_none(const struct native_owner *owner); /* under the lock */
void errands_finish(struct native_owner *owner);     /* once no sandbox is left, without the lock */
void errands_forget(struct native_owner *owner);     /* in a fork */

/* --- start.c ---------------------------------------------------------------------------------- */

/* Gets a group and a folder, completes the plan and sends it to a nursery that is ready. Takes
 * the lock. May be called again if the nursery was lost. */
int start_send_plan(struct native_sandbox *sb, const struct plan *plan,
		const struct sandbox_limits *limits, const struct sandbox_ends *ends,
		struct fh_error *err);
void start_close_ends(struct sandbox_ends *ends);

#endif
