/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_REPLY_H
#define MODEL_REPLY_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "model/chat.h"

/*
 * A reply while it is put together from one piece or many. A provider is untrusted: texts become
 * UTF-8 without NUL, and their total size has a cap.
 */
#define REPLY_BYTES_MAX (16L * 1024 * 1024)
#define REPLY_USES_MAX 128

struct reply_use {
	struct buf id, name, arguments;
	int64_t index; /* the provider's number */
};

struct reply {
	struct buf content, thinking;
	struct reply_use *uses;
	size_t n_uses;
	json_t *keep; /* an array that the provider wants back with this message; NULL: none */
	struct buf kept_thinking, kept_signature; /* pieces for the array's last item */
	bool chosen; /* `choice` is set: later pieces are of the same choice */
	int64_t choice;
	enum chat_stop stop;
	bool stopped;           /* the provider gave a reason for stopping */
	bool ended;             /* the provider marked the end */
	int64_t sent, received; /* tokens; negative: unknown */
	int64_t cached, stored; /* tokens sent that were read from, or written into, a cache */
	size_t bytes;           /* size of all texts */
};

/* Maps a provider's reason for stopping. A reason without an entry keeps `stop`. */
struct reply_reason {
	const char *name;
	enum chat_stop stop;
};

void reply_init(struct reply *r);
void reply_release(struct reply *r);

/* Append to one of the reply's texts. The first adds nothing for a value that is no string; the
 * second adds any value as JSON. -EFBIG at the cap, as for reply_check(). */
int reply_add(struct reply *r, struct buf *to, const json_t *text, struct fh_error *err);
int reply_add_json(struct reply *r, struct buf *to, json_t *value, struct fh_error *err);
int reply_check(const struct reply *r, struct fh_error *err);

/* Finds or adds the use with the provider's number `index`. -EFBIG. */
int reply_use(struct reply *r, int64_t index, struct reply_use **out, struct fh_error *err);

/* Sets `stopped` and `stop`, if the reason is a string. */
void reply_stop(struct reply *r, const json_t *reason, const struct reply_reason *reasons,
		size_t n_reasons);

/* -EBADMSG: the reply breaks the protocol. A retry may succeed. */
int reply_broken(struct fh_error *err, const char *what);

/* Reads a count of tokens. Leaves *out for anything but a number from 0 on. */
void reply_count(const json_t *object, const char *key, int64_t *out);

#endif
