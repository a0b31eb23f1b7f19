/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_CHAT_H
#define MODEL_CHAT_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

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

/* Describes a failed try of a request to a language model, which is repeated after a pause. The
 * struct's strings hold no API key, and are valid until the callback returns. */
struct chat_retry {
	const char *spec, *why;
	/* number of the failed try, counted from 1, and the most tries that are allowed */
	int tries, most;
	int64_t pause_ms; /* milliseconds until the failed request is sent again */
	/* true for the first such failure in a minute, for each spec and kind of failure */
	bool is_first;
};

/* Callback for failed requests that are retried. `user` is the argument of chat_begin().
 * chat_begin() and chat_service_advance() call it. It must not begin or free calls. */
typedef void chat_retry_fn(void *user, const struct chat_retry *retry);

struct chat_service_options {
	/* path of a file with the user's own prices of language models; NULL: none */
	const char *prices;
	double total_cost_limit; /* US dollars that all models together may cost; 0: no limit */
	/* US dollars that an earlier part of the run cost; they count towards total_cost_limit */
	double spent;
	chat_retry_fn *on_retry; /* callback before the pause of each retry; NULL: not called */
};

/* Opens a service for language models, and copies the options. -EINVAL: a price table is wrong
 * ("FILE:LINE:COLUMN: ..."), or total_cost_limit is below 0. */
int chat_service_open(const struct chat_service_options *options, struct chat_service **out,
		struct fh_error *err);
/* Closes a service for language models. Close all its models first. NULL is fine. */
void chat_service_close(struct chat_service *s);

/* Returns a descriptor that is readable when chat_service_advance() has something to do. So it also
 * becomes readable when the pause before a retry is over. */
int chat_service_fd(const struct chat_service *s);

/* Advances all calls of language models without blocking. Puts up to `max` calls that have ended
 * into out_done, each only once, and returns their number. */
size_t chat_service_advance(struct chat_service *s, struct chat_call **out_done, size_t max);

/* Returns true if the total cost has reached its limit, so that no language model is called any
 * more. The error is -ECANCELED and names cost and limit. */
bool chat_service_is_spent(const struct chat_service *s, struct fh_error *err);

/* --- models ----------------------------------------------------------------------------------- */

/* Calls, tokens and cost of a model so far. */
struct chat_stats {
	double cost; /* cost of all calls of the model in US dollars */
	int64_t tokens_sent, tokens_received;
	int64_t tokens_cached; /* part of tokens_sent that the provider read from its cache */
	int64_t calls;         /* number of calls that gave a reply */
	int64_t unpriced;      /* those of them whose price is not known; they cost 0 here */
	int64_t retries;
};

struct chat_options {
	/* provider and name of the model: "openai:gpt-4o", "anthropic:claude-...",
	 * "litellm:NAME" */
	const char *spec;
	/* base URL of the API, "http://localhost:8000/v1"; NULL: the provider's own */
	const char *url;
	/* API key of the provider; NULL: $OPENAI_API_KEY, $ANTHROPIC_API_KEY and so on */
	const char *key;
	const char *version;       /* version of Azure's API; NULL: none */
	double temperature, top_p; /* sampling parameters of requests; negative: not sent */
	/* Most tokens that a reply may have. 0: the provider's default; for Anthropic 8192. */
	int64_t max_tokens;
	const char **stop; /* n_stop strings at which the model stops */
	size_t n_stop;
	/* JSON object with members to add to each request's body. A null removes the body's
	 * member of that name. NULL: none. */
	const char *extra;
	bool stream;
	int64_t timeout_ms; /* milliseconds until a try times out; 0: ten minutes */
	int retries;        /* most retries; negative: $MLGYM_MODEL_MAX_RETRIES, or 10 */
	double cost_limit;  /* most US dollars that this model may cost; 0: no limit */
	/* size of the model's context in tokens; 0: take it from the price table */
	int64_t context_tokens;
	uint64_t seed; /* seed for the random length of pauses between tries */
	/*
	 * calls, tokens and cost in an earlier part of the run, which count towards the limits;
	 * NULL: none
	 */
	const struct chat_stats *spent;
};

/* Returns true if a model's spec names a language model: it begins with a provider's name or
 * "litellm", then ":". */
bool chat_is_spec(const char *spec);

/* Checks the options `version` and `extra`, which may be given even if no language model plays.
 * -EINVAL: one is wrong. */
int chat_check_options(const struct chat_options *options, struct fh_error *err);

/* Opens a model and copies the options. No request is sent yet. -EINVAL, with a fix in the error:
 *   - the spec is unknown, `extra` is not an object, or `version` or the number of retries is wrong
 *   - the URL is missing or wrong, or a .env file set it and the API key is from elsewhere
 *   - the provider needs a key and there is none, or the key is invalid
 *   - cost_limit is below 0, or costs are limited and the model's price is unknown
 */
int chat_model_open(struct chat_service *s, const struct chat_options *options,
		struct chat_model **out, struct fh_error *err);
/* Closes a language model, and cancels and frees its calls. NULL is fine. */
void chat_model_close(struct chat_model *m);

/* Returns whether the price of the model with this spec is known. */
bool chat_price_is_known(const struct chat_service *s, const char *spec);

/* Returns the default URL for a model's spec: from the provider's environment variable, or the
 * provider's own. NULL if unknown. Valid until the environment changes. */
const char *chat_address(const char *spec);

/* Returns the base URL that an option or an environment variable set for the model. NULL: the
 * provider's own is used. */
const char *chat_model_base(const struct chat_model *m);

/* Returns the model's API key, for callers that remove it from a text. NULL: none. Valid as long as
 * the model. */
const char *chat_model_key(const struct chat_model *m);

/*
 * Removes the model's API key from a text (base/hide.h). Texts of replies get the same treatment.
 */
void chat_model_hide(const struct chat_model *m, struct buf *text);

/* Returns the end of the URL of the model's protocol: "/chat/completions", "/messages". */
const char *chat_model_path(const struct chat_model *m);

/* returns the model's name without the provider, "gpt-4o" */
const char *chat_model_name(const struct chat_model *m);
void chat_model_stats(const struct chat_model *m, struct chat_stats *out);

/* --- calls ------------------------------------------------------------------------------------ */

enum chat_role { CHAT_SYSTEM, CHAT_USER, CHAT_ASSISTANT, CHAT_TOOL };

/* A tool call that a model asks for. */
struct chat_use {
	const char *id, *name;
	/* arguments of the tool call: JSON as the model wrote it, maybe invalid; "{}" if it wrote
	 * none */
	const char *arguments;
};

struct chat_message {
	enum chat_role role;
	const char *content;         /* text of the message in UTF-8; may be "" */
	const struct chat_use *uses; /* tool calls in a message of the model (CHAT_ASSISTANT) */
	size_t n_uses;
	const char *use_id; /* id of the tool call that a tool's message (CHAT_TOOL) answers */
	/* chat_reply.keep of the reply that a message of the model repeats; NULL: none */
	const char *keep;
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
	/*
	 * Body of a request that another client wrote in the provider's protocol, n_raw bytes of
	 * JSON. NULL: the members above are the request. The body is sent with this model's name,
	 * and not as a stream. All other members stay.
	 */
	const char *raw;
	size_t n_raw;
};

/*
 * Begins a call that sends the request to the model. A thread may write the request as JSON. So all
 * that the request points to must stay valid until the call has ended or is freed. chat_call_user()
 * returns `user`.
 */
struct chat_call *chat_begin(struct chat_model *m, const struct chat_request *request, void *user);
void *chat_call_user(const struct chat_call *call);

enum chat_stop { CHAT_STOP_END, CHAT_STOP_LENGTH, CHAT_STOP_TOOLS, CHAT_STOP_FILTER };

struct chat_reply {
	/* for a raw request: the provider's whole answer, a JSON object; else NULL */
	const char *raw;
	const char *content; /* text of the model's reply; may be "" */
	/* model's reasoning, if the provider sends it separately; NULL: none */
	const char *thinking;
	/* data that the provider wants back with this reply in the next request; NULL: none */
	const char *keep;
	const struct chat_use *uses;
	size_t n_uses;
	enum chat_stop stop;
	int64_t tokens_sent, tokens_received;
	double cost; /* cost of this reply of the model in US dollars */
};

/*
 * Gives the reply of a call that chat_service_advance() returned. The reply lives as long as the
 * call. Errors hold no API key:
 *   -EBUSY      the call has not ended
 *   -EINVAL     the request can't be written as JSON, or its body is too large
 *   -E2BIG      the conversation exceeds the context, by our estimate or the provider's
 *   -EDQUOT     the model's cost limit is reached
 *   -ECANCELED  the cost limit of all models together is reached
 *   -EIO        the provider refused, or sent no readable reply after all retries
 * A reply that takes the cost above one of these limits is counted and dropped.
 */
int chat_end(struct chat_call *call, struct chat_reply *out, struct fh_error *err);

/* The request of a call with chat_request.raw that has ended, as it was sent. It lives as long as
 * the call. NULL: it was not a JSON object. */
json_t *chat_call_sent(const struct chat_call *call);
/* HTTP status of the last answer to a call; 0: there was none. */
int chat_call_status(const struct chat_call *call);

/* Frees a call of a language model, and cancels it if it has not ended. NULL is fine. */
void chat_call_free(struct chat_call *call);

#endif
