/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_CHAT_H
#define MODEL_CHAT_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Language models over HTTP: a conversation is sent, a reply comes back, and its cost is counted.
 *
 * A chat_service holds what all models of a process share: connections, prices, the total cost. A
 * chat_model is a model as one episode uses it. A chat_call is one question with its retries.
 * Nothing blocks. A service and all that belongs to it are for one thread:
 *
 *   chat_begin(model, &request, user, &call, &err);
 *   poll(chat_service_fd(service), ...);                 when readable:
 *   n = chat_service_advance(service, done, max);        calls that have ended
 *   chat_end(done[i], &reply, &err);
 *   ...                                                  the reply lives until
 *   chat_call_free(done[i]);
 */
struct chat_service;
struct chat_model;
struct chat_call;

/* A try failed, and another one follows. The strings hold no key, and live until the callback
 * returns. */
struct chat_retry {
	const char *spec, *why;
	int tries, most;  /* number of the failed try; how many are allowed */
	int64_t pause_ms; /* until the next try */
	bool is_first;    /* no failure of this kind and spec was reported within the last minute */
};

/* `user` is the call's. Runs within chat_begin() and chat_service_advance(). Must not begin or free
 * calls. */
typedef void chat_retry_fn(void *user, const struct chat_retry *retry);

struct chat_service_options {
	const char *prices; /* a file that adds to the price table, or changes it; NULL: none */
	double total_cost_limit; /* US dollars, for all models together; 0: none */
	double spent;            /* US dollars spent earlier, which count */
	chat_retry_fn *on_retry; /* NULL: none */
};

/* -EINVAL with "FILE:LINE:COLUMN: ..." for a wrong price table, and for a limit below 0. The
 * options are copied. */
int chat_service_open(const struct chat_service_options *options, struct chat_service **out,
		struct fh_error *err);
void chat_service_close(struct chat_service *s); /* after its models; NULL is fine */

/* Readable when chat_service_advance() has something to do, timers included. */
int chat_service_fd(const struct chat_service *s);

/* Does what can be done now. Gives at most `max` calls that have ended, each once. */
size_t chat_service_advance(struct chat_service *s, struct chat_call **out_done, size_t max);

/* True if the total cost has reached its limit: no model is asked any more. -ECANCELED with both
 * sums. */
bool chat_service_is_spent(const struct chat_service *s, struct fh_error *err);

/* --- models ----------------------------------------------------------------------------------- */

/* Use of a model so far. */
struct chat_stats {
	double cost; /* US dollars */
	int64_t tokens_sent, tokens_received;
	int64_t tokens_cached; /* read from the provider's cache; part of tokens_sent */
	int64_t calls;         /* with a reply */
	int64_t retries;
};

struct chat_options {
	const char *spec;    /* "openai:gpt-4o", "anthropic:claude-...", "litellm:NAME" */
	const char *url;     /* base URL, "http://localhost:8000/v1"; NULL: the provider's */
	const char *key;     /* NULL: from the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY) */
	const char *version; /* api-version, for Azure; NULL: none */
	double temperature, top_p; /* negative: not sent */
	int64_t max_tokens; /* in a reply; 0: the provider's default (8192 for Anthropic, which has
			       none) */
	const char **stop;  /* n_stop sequences that end a reply */
	size_t n_stop;
	/* A JSON object whose members are added to each request's body; a null removes one. NULL:
	 * none. */
	const char *extra;
	bool stream;
	int64_t timeout_ms;             /* for each try; 0: ten minutes */
	int retries;                    /* negative: MLGYM_MODEL_MAX_RETRIES, or 10 */
	double cost_limit;              /* US dollars, for this model; 0: none */
	int64_t context_tokens;         /* size of the context; 0: from the price table, if known */
	uint64_t seed;                  /* for the jitter of pauses */
	const struct chat_stats *spent; /* earlier use, which counts; NULL: none */
};

/* True for the spec of a language model: a provider stands before the ":". */
bool chat_is_spec(const char *spec);

/* -EINVAL for a wrong `version` or `extra`. For options that may be given without a language
 * model. */
int chat_check_options(const struct chat_options *options, struct fh_error *err);

/* Opens a model and copies the options. Nothing is sent yet. -EINVAL, with the way out in the text:
 *   - the spec is unknown, or `extra` is no object
 *   - the provider needs a key, and there is none
 *   - the cost limit is below 0, or the model's price is unknown
 */
int chat_model_open(struct chat_service *s, const struct chat_options *options,
		struct chat_model **out, struct fh_error *err);
void chat_model_close(struct chat_model *m); /* cancels and frees its calls; NULL is fine */

/* Whether the price of this spec's model is known. */
bool chat_price_is_known(const struct chat_service *s, const char *spec);

/* The URL for a spec without an option: from its variable, else the provider's. NULL if unknown.
 * Valid until the environment changes. */
const char *chat_address(const char *spec);

/* The URL that an option or a variable gave; NULL if it is the provider's own. */
const char *chat_model_base(const struct chat_model *m);

/* The key, for callers that remove it from text; lives as long as the model. NULL: none. */
const char *chat_model_key(const struct chat_model *m);

/* Removes the model's key from a text, as from every reply (base/hide.h). */
void chat_model_hide(const struct chat_model *m, struct buf *text);

const char *chat_model_name(const struct chat_model *m); /* "gpt-4o" */
void chat_model_stats(const struct chat_model *m, struct chat_stats *out);

/* --- calls ------------------------------------------------------------------------------------ */

enum chat_role { CHAT_SYSTEM, CHAT_USER, CHAT_ASSISTANT, CHAT_TOOL };

/* A tool call that a model asks for. */
struct chat_use {
	const char *id, *name;
	const char *arguments; /* JSON as the model wrote it, perhaps invalid; {} for none */
};

struct chat_message {
	enum chat_role role;
	const char *content;         /* UTF-8, perhaps "" */
	const struct chat_use *uses; /* CHAT_ASSISTANT only */
	size_t n_uses;
	const char *use_id; /* CHAT_TOOL: id of the answered use */
	const char *keep;   /* CHAT_ASSISTANT: chat_reply.keep, unchanged; NULL: none */
};

struct chat_tool {
	const char *name, *description;
	const char *parameters; /* JSON Schema of an object */
};

struct chat_request {
	const struct chat_message *messages; /* a system message comes first */
	size_t n_messages;
	const struct chat_tool *tools;
	size_t n_tools;
};

/* Copies the request. `user` is for the caller. Fails only if the request can't be written. */
int chat_begin(struct chat_model *m, const struct chat_request *request, void *user,
		struct chat_call **out, struct fh_error *err);
void *chat_call_user(const struct chat_call *call);

enum chat_stop { CHAT_STOP_END, CHAT_STOP_LENGTH, CHAT_STOP_TOOLS, CHAT_STOP_FILTER };

struct chat_reply {
	const char *content;  /* perhaps "" */
	const char *thinking; /* reasoning that the provider gives separately; NULL: none */
	const char *keep;     /* data that the provider wants back with this message; NULL: none */
	const struct chat_use *uses;
	size_t n_uses;
	enum chat_stop stop;
	int64_t tokens_sent, tokens_received;
	double cost; /* US dollars, of this reply */
};

/*
 * For calls that chat_service_advance() gave. The reply lives as long as the call. Errors hold no
 * key:
 *   -E2BIG      the conversation exceeds the context, by our estimate or the provider's
 *   -EDQUOT     the model's cost limit is reached; a reply that reached it is counted and dropped
 *   -ECANCELED  the same for the limit of all models together
 *   -EIO        the provider refused, gave an unreadable reply, or none after all retries
 */
int chat_end(struct chat_call *call, struct chat_reply *out, struct fh_error *err);
void chat_call_free(struct chat_call *call); /* at any time: cancels it; NULL is fine */

#endif
