/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_FOREIGN_MESSAGES_H
#define RUN_FOREIGN_MESSAGES_H

#include "base/json.h"
#include "model/chat.h"
#include "trajectory/recorder.h"

/*
 * The conversations of a foreign agent, as its requests show them. Each request repeats the whole
 * conversation, so only messages that the record lacks are recorded. An agent may have a few
 * conversations side by side.
 */
#define FOREIGN_CONVERSATIONS 4

struct foreign_messages {
	json_t *lists[FOREIGN_CONVERSATIONS]; /* messages of the last requests; NULL: none */
	size_t next;                          /* entry that the next new conversation takes */
};

void foreign_messages_release(struct foreign_messages *m);

/*
 * Records the new messages of a request, and the reply; NULL: there was none. *out_old is the
 * number of messages at the beginning that the record has already.
 */
int foreign_messages_record(struct foreign_messages *m, struct recorder *recorder,
		const json_t *request, const struct chat_reply *reply, int64_t *out_old,
		struct fh_error *err);

/* Appends the request as JSON, without its first `n_old` messages. */
void foreign_messages_add_request(struct buf *out, json_t *request, int64_t n_old);

#endif
