/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_NURSERY_TALK_H
#define NATIVE_NURSERY_TALK_H

#include "native/native.h"

#include <errno.h>

/* milliseconds to wait for an answer of the nursery; making a layer has no timeout */
#define NURSERY_ANSWER_MS 30000

/*
 * Sends the nursery a message without waiting. -EAGAIN: its socket is full. -EPIPE, -ECONNRESET: it
 * has ended, or none runs. -EMSGSIZE: the message is too long.
 */
int nursery_send(int nursery, const struct buf *b, const int *fds, size_t n_fds);
/*
 * Waits for an event of one descriptor, as poll(2) does. Returns false if the timeout passed, or
 * poll() failed.
 */
bool nursery_poll(int fd, short events, int timeout_ms);

/*
 * Returns true if a retry may succeed after an error of sending to the nursery. Either the nursery
 * has ended, so that a new one is needed, or its socket is full (-EAGAIN).
 */
static inline bool nursery_is_lost(int r)
{
	return r == -EPIPE || r == -ECONNRESET || r == -EAGAIN;
}

/*
 * Waits for the nursery's answer `kind` (NURSERY_*) on `socket`. *out_bits is the answer's byte;
 * out_bits is NULL if such an answer has none. -ETIMEDOUT: no answer came. -EPIPE: the nursery
 * ended. -EPROTO: another answer came.
 */
int nursery_await(
		int socket, uint8_t kind, int timeout_ms, uint8_t *out_bits, struct fh_error *err);

/* Returns true if the nursery answers a ping. The caller holds `changing`. */
bool nursery_answers(int nursery);
/* Has the nursery remove a layer that no sandbox uses. */
void nursery_drop_layer(struct native_owner *o, const char *name);

/* Waits at most 30 s until the nursery has removed all folders that it was asked to remove. */
void nursery_do_all(int nursery);
/* Has the nursery make a layer, and waits for it. -EPIPE if the nursery has ended meanwhile. */
int nursery_make_layer(int nursery, const struct owner_layer *layer, struct fh_error *err);

/* Sends a plan to the owner's nursery without waiting. Locks the owner's `lock`. */
int nursery_send_plan(struct native_owner *owner, const struct buf *message, const int *fds,
		size_t n_fds);
/*
 * Has the nursery make a cradle, a process that waits for the plan of a sandbox. With control
 * groups v1, it waits in `group`. A plan asks for this cradle by `number`. The caller holds the
 * owner's `lock`.
 */
int nursery_add_cradle(struct native_owner *owner, uint32_t number, const struct cgroup *group);

#endif
