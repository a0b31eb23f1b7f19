/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_REPLY_H
#define MODEL_REPLY_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "model/chat.h"

/*
 * A reply as it is put together, from one piece or from many. What a provider sends may be anything:
 * texts become UTF-8 without NUL, and all of them together have a cap.
 */
#define REPLY_BYTES_MAX (16L * 1024 * 1024)
#define REPLY_USES_MAX 128

struct reply_use {
	struct buf id, name, arguments;
	int64_t index; /* as the provider counts its pieces */
};

struct reply {
	struct buf content, thinking;
	struct reply_use *uses;
	size_t n_uses;
	json_t *keep; /* an array that the provider wants back with this message; NULL: nothing */
	struct buf kept_thinking, kept_signature; /* pieces for its last item */
	bool chosen;                              /* a piece came, of this choice */
	int64_t choice;
	enum chat_stop stop;
	bool stopped;           /* the provider said why it stopped */
	bool ended;             /* and that nothing more comes */
	int64_t sent, received; /* tokens; negative: not said */
	int64_t cached, stored; /* of those sent: read from a cache, written into it */
	size_t bytes;           /* of all texts together */
};

void reply_init(struct reply *r);
void reply_release(struct reply *r);

/* All -EFBIG when there is too much of it. A text that is null or no string adds nothing. */
int reply_add(struct reply *r, struct buf *to, const json_t *text, struct fh_error *err);

int reply_check(const struct reply *r, struct fh_error *err);

/* The use that the provider counts as `index`, a new one if there is none yet. */
int reply_use(struct reply *r, int64_t index, struct reply_use **out, struct fh_error *err);

/* -EBADMSG: what came is not what the protocol says. Another try may go better. */
int reply_broken(struct fh_error *err, const char *what);

/* A count of tokens; anything but a number from 0 on leaves *out. */
void reply_count(const json_t *object, const char *key, int64_t *out);

#endif
