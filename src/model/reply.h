/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_REPLY_H
#define MODEL_REPLY_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "model/chat.h"

#define REPLY_BYTES_MAX (16L * 1024 * 1024)
#define REPLY_USES_MAX 128

struct reply_use {
	struct buf id, name, arguments;
	int64_t index; /* index that the provider gave this tool call of the reply */
};

/*
 * A language model's reply while its pieces arrive. A provider is untrusted. So
 * each byte of a text that is NUL or invalid UTF-8 is stored as \xNN. All texts together have a
 * cap.
 */
struct reply {
	struct buf content, thinking;
	struct reply_use *uses;
	size_t n_uses;
	/* JSON array of data that the provider wants back in the next request; NULL: none */
	json_t *keep;
	/* texts of the last item in `keep` while their pieces arrive: a thought and its
	 * signature */
	struct buf kept_thinking, kept_signature;
	/*
	 * a piece of the choice (reply) with index `choice` was read, so pieces of other choices
	 * are ignored
	 */
	bool chosen;
	int64_t choice;
	enum chat_stop stop;
	/* the provider gave a reason for stopping, which is in `stop` if it is known */
	bool stopped;
	bool ended; /* the reply is complete: it came whole, or the provider marked its end */
	/* number of tokens in the request and in the reply; negative: unknown */
	int64_t sent, received;
	/*
	 * Number of tokens in `sent` that the provider read from its cache, and number that it
	 * wrote into the cache. Each is 0 if the provider did not report it.
	 */
	int64_t cached, stored;
	size_t bytes; /* bytes of all texts of the reply together */
};

/* Maps a provider's name of the reason why a model stopped to enum chat_stop. Unknown names leave
 * reply.stop unchanged. */
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

/* Finds the reply's tool call with the provider's `index`, or adds it. -EFBIG: there are too
 * many. */
int reply_use(struct reply *r, int64_t index, struct reply_use **out, struct fh_error *err);

/* Stores the reason why the model stopped, as the provider names it, in r->stopped and r->stop.
 * Ignores a reason that is not a string. */
void reply_stop(struct reply *r, const json_t *reason, const struct reply_reason *reasons,
		size_t n_reasons);

/* Sets the error for a reply that breaks the protocol, and returns -EPROTO. */
int reply_broken(struct fh_error *err, const char *what);

/*
 * Reads object[key], a number of tokens, into *out. Leaves *out unchanged unless the value is an
 * integer from 0 to 10^12.
 */
void reply_count(const json_t *object, const char *key, int64_t *out);

#endif
