/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_REPLY_H
#define MODEL_REPLY_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "model/chat.h"

/*
 * A language model's reply while its pieces arrive. A provider is untrusted: texts become UTF-8
 * without NUL, and their total size has a cap.
 */
#define REPLY_BYTES_MAX (16L * 1024 * 1024)
#define REPLY_USES_MAX 128

struct reply_use {
	struct buf id, name, arguments;
	int64_t index; /* index of the tool call, by the provider */
};

struct reply {
	struct buf content, thinking;
	struct reply_use *uses;
	size_t n_uses;
	json_t *keep; /* array that the provider wants back in the next request; NULL: none */
	/* text of the last item in `keep`, while its pieces arrive */
	struct buf kept_thinking, kept_signature;
	bool chosen; /* `choice` is set: pieces of other choices are ignored */
	int64_t choice;
	enum chat_stop stop;
	bool stopped;           /* `stop` has the provider's reason for stopping */
	bool ended;             /* the provider marked the end of the stream */
	int64_t sent, received; /* number of tokens; negative: unknown */
	/* the part of `sent` that was read from, or written into, the provider's cache */
	int64_t cached, stored;
	size_t bytes; /* total size of all texts */
};

/* Maps a provider's name of a reason for stopping to enum chat_stop. Unknown names leave reply.stop
 * unchanged. */
struct reply_reason {
	const char *name;
	enum chat_stop stop;
};

void reply_init(struct reply *r);
void reply_release(struct reply *r);

/* Append JSON to `to`, one of the reply's texts. reply_add() appends a string, and ignores other
 * values. reply_add_json() appends any value as JSON. reply_check() checks the total size. All fail
 * with -EFBIG if it exceeds the cap. */
int reply_add(struct reply *r, struct buf *to, const json_t *text, struct fh_error *err);
int reply_add_json(struct reply *r, struct buf *to, json_t *value, struct fh_error *err);
int reply_check(const struct reply *r, struct fh_error *err);

/* Finds the tool call with the provider's `index`, or adds it. -EFBIG: there are too many. */
int reply_use(struct reply *r, int64_t index, struct reply_use **out, struct fh_error *err);

/* Sets r->stopped and r->stop from a provider's reason for stopping. Ignores a reason that is no
 * string. */
void reply_stop(struct reply *r, const json_t *reason, const struct reply_reason *reasons,
		size_t n_reasons);

/* Returns -EPROTO for a reply that breaks the protocol. */
int reply_broken(struct fh_error *err, const char *what);

/* Reads a number of tokens, object[key]. *out stays unless the value is a number from 0 on. */
void reply_count(const json_t *object, const char *key, int64_t *out);

#endif
