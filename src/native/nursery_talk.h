/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_NURSERY_TALK_H
#define NATIVE_NURSERY_TALK_H

#include "native/native.h"

#include <errno.h>

#define NURSERY_ANSWER_MS 30000 /* time for the nursery's answer; making a layer has no limit */

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
/*
 * Has the nursery make a process that waits in a group for its plan. `number` names the process in
 * that plan. The caller holds `lock`.
 */
int nursery_add_cradle(struct native_owner *owner, uint32_t number, const struct cgroup *group);

#endif
