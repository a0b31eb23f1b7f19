/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_INBOX_H
#define SERVE_INBOX_H

#include <stdbool.h>
#include <stddef.h>

/* Messages of a client that wait until the message before them has been answered. */
struct inbox {
	struct inbox_message *first, *last;
	size_t n, bytes;
};

struct inbox_message {
	struct inbox_message *next;
	char *call_id; /* name of a JSON-RPC call (client.h); NULL: it has none */
	size_t n;
	char text[];
};

/* call_id: a heap string, which the inbox takes; or NULL. */
void inbox_add(struct inbox *box, const char *text, size_t n, char *call_id);

/* Removes the first message, which the caller frees by inbox_message_free(). NULL: the inbox is
 * empty. */
struct inbox_message *inbox_take(struct inbox *box);
void inbox_message_free(struct inbox_message *m);

/* Drops the messages of a call, which is cancelled before it began. */
void inbox_drop(struct inbox *box, const char *call_id);

/* True if the client should wait before it sends more. */
bool inbox_is_full(const struct inbox *box);

void inbox_release(struct inbox *box);

#endif
