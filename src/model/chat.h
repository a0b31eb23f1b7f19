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
 *   call = chat_begin(model, &request, user);
 *   poll(chat_service_fd(service), ...);                 when readable:
 *   n = chat_service_advance(service, done, max);        calls that have ended
 *   chat_end(done[i], &reply, &err);
 *   ...                                                  the reply lives until
 *   chat_call_free(done[i]);
 */
struct chat_service;
struct chat_model;
struct chat_call;

/* Report of a failed try that will be repeated after a pause. The strings hold no API key, and are
 * valid until the callback returns. */
struct chat_retry {
	const char *spec, *why;
	int tries, most;  /* number of the failed try, and of all tries that are allowed */
	int64_t pause_ms; /* pause before the next try */
	bool is_first;    /* the spec had no failure of this kind within the last minute */
};

/* Callback for failed tries. `user` is the one of chat_begin(). It is called within chat_begin()
 * and chat_service_advance(), and must not begin or free calls. */
typedef void chat_retry_fn(void *user, const struct chat_retry *retry);

struct chat_service_options {
	const char *prices; /* path of a file with prices to add to the price table; NULL: none */
	double total_cost_limit; /* US dollars for all models together; 0: no limit */
	double spent;            /* US dollars spent earlier, which count towards the limit */
	chat_retry_fn *on_retry; /* called before each retry; NULL: not called */
};

/* Opens a service, and copies the options. -EINVAL: the price table is wrong ("FILE:LINE:COLUMN:
 * ..."), or the limit is below 0. */
int chat_service_open(const struct chat_service_options *options, struct chat_service **out,
		struct fh_error *err);
/* Call it after all models are closed. NULL is fine. */
void chat_service_close(struct chat_service *s);

/* A descriptor that is readable when chat_service_advance() has something to do, timers
 * included. */
int chat_service_fd(const struct chat_service *s);

/* Advances all calls without blocking. Puts up to `max` calls that have ended into out_done, each
 * only once, and returns their number. */
size_t chat_service_advance(struct chat_service *s, struct chat_call **out_done, size_t max);

/* True if the total cost has reached its limit, so that no model is called any more. The error is
 * -ECANCELED and names cost and limit. */
bool chat_service_is_spent(const struct chat_service *s, struct fh_error *err);

/* --- models ----------------------------------------------------------------------------------- */

/* Calls, tokens and cost of a model so far. */
struct chat_stats {
	double cost; /* cost in US dollars */
	int64_t tokens_sent, tokens_received;
	int64_t tokens_cached; /* the part of tokens_sent that came from the provider's cache */
	int64_t calls;         /* calls that gave a reply */
	int64_t retries;
};

struct chat_options {
	const char *spec;    /* model: "openai:gpt-4o", "anthropic:claude-...", "litellm:NAME" */
	const char *url;     /* base URL, "http://localhost:8000/v1"; NULL: the provider's own */
	const char *key;     /* API key; NULL: $OPENAI_API_KEY, $ANTHROPIC_API_KEY and so on */
	const char *version; /* Azure's api-version; NULL: none */
	double temperature, top_p; /* negative: left out of the request */
	/* most tokens of a reply; 0: the provider's default, for Anthropic 8192 */
	int64_t max_tokens;
	const char **stop; /* n_stop strings at which the model stops */
	size_t n_stop;
	/* JSON object with members to add to each request's body. A null removes a member. NULL:
	 * none. */
	const char *extra;
	bool stream;
	int64_t timeout_ms;     /* timeout of each try; 0: ten minutes */
	int retries;            /* most retries; negative: $MLGYM_MODEL_MAX_RETRIES, or 10 */
	double cost_limit;      /* US dollars for this model; 0: no limit */
	int64_t context_tokens; /* size of the context; 0: as in the price table */
	uint64_t seed;          /* seed of the random pauses between tries */
	/* use in an earlier run, which counts towards the limits; NULL: none */
	const struct chat_stats *spent;
};

/* True if the spec names a language model: a provider's name stands before the ":". */
bool chat_is_spec(const char *spec);

/* Checks options that may be given even if no language model plays. -EINVAL for a wrong `version`
 * or `extra`. */
int chat_check_options(const struct chat_options *options, struct fh_error *err);

/* Opens a model and copies the options. No request is sent yet. -EINVAL, with a fix in the error:
 *   - the spec is unknown, or `extra` is no object
 *   - the provider needs a key, and there is none
 *   - the cost limit is below 0, or the model's price is unknown
 */
int chat_model_open(struct chat_service *s, const struct chat_options *options,
		struct chat_model **out, struct fh_error *err);
/* Cancels and frees the model's calls too. NULL is fine. */
void chat_model_close(struct chat_model *m);

/* Whether the price of the model with this spec is known. */
bool chat_price_is_known(const struct chat_service *s, const char *spec);

/* Default URL for a spec: from the provider's variable, else the provider's own. NULL if unknown.
 * Valid until the environment changes. */
const char *chat_address(const char *spec);

/* URL that an option or a variable set for the model. NULL: the provider's own is used. */
const char *chat_model_base(const struct chat_model *m);

/* API key of the model, for callers that remove it from a text. NULL: none. Valid as long as the
 * model. */
const char *chat_model_key(const struct chat_model *m);

/* Removes the model's API key from a text (base/hide.h). Replies are cleaned in the same way. */
void chat_model_hide(const struct chat_model *m, struct buf *text);

const char *chat_model_name(const struct chat_model *m); /* name without the provider, "gpt-4o" */
void chat_model_stats(const struct chat_model *m, struct chat_stats *out);

/* --- calls ------------------------------------------------------------------------------------ */

enum chat_role { CHAT_SYSTEM, CHAT_USER, CHAT_ASSISTANT, CHAT_TOOL };

/* A tool call that a model asks for. */
struct chat_use {
	const char *id, *name;
	/* JSON as the model wrote it, maybe invalid; "{}" if it wrote none */
	const char *arguments;
};

struct chat_message {
	enum chat_role role;
	const char *content;         /* text in UTF-8; may be "" */
	const struct chat_use *uses; /* tool calls of a CHAT_ASSISTANT message */
	size_t n_uses;
	const char *use_id; /* in a CHAT_TOOL message: id of the tool call that it answers */
	const char *keep;   /* in a CHAT_ASSISTANT message: `keep` of its chat_reply; NULL: none */
};

struct chat_tool {
	const char *name, *description;
	const char *parameters; /* JSON Schema of the tool's arguments, an object */
};

struct chat_request {
	const struct chat_message *messages; /* the conversation; a system message comes first */
	size_t n_messages;
	const struct chat_tool *tools;
	size_t n_tools;
};

/*
 * Sends the request to the model. A thread writes a long one as JSON. So the request must stay
 * valid until the call has ended or is freed. `user` is kept for the caller: chat_call_user().
 */
struct chat_call *chat_begin(struct chat_model *m, const struct chat_request *request, void *user);
void *chat_call_user(const struct chat_call *call);

enum chat_stop { CHAT_STOP_END, CHAT_STOP_LENGTH, CHAT_STOP_TOOLS, CHAT_STOP_FILTER };

struct chat_reply {
	const char *content;  /* text of the reply; may be "" */
	const char *thinking; /* reasoning, if the provider sends it separately; NULL: none */
	const char *keep; /* data that the provider wants back in the next request; NULL: none */
	const struct chat_use *uses;
	size_t n_uses;
	enum chat_stop stop;
	int64_t tokens_sent, tokens_received;
	double cost; /* cost of this reply in US dollars */
};

/*
 * Gives the reply of a call that chat_service_advance() returned. The reply lives as long as the
 * call. Errors hold no API key:
 *   -EINVAL     the request can't be written as JSON
 *   -E2BIG      the conversation exceeds the context, by our estimate or the provider's
 *   -EDQUOT     the model's cost limit is reached; a reply that reached it is counted and dropped
 *   -ECANCELED  the cost limit of all models together is reached
 *   -EIO        the provider refused, or sent no readable reply after all retries
 */
int chat_end(struct chat_call *call, struct chat_reply *out, struct fh_error *err);
void chat_call_free(struct chat_call *call); /* cancels the call if it goes on; NULL is fine */

#endif
