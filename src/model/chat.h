/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_CHAT_H
#define MODEL_CHAT_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Language models: a conversation goes out over HTTP, a reply comes back, and what it cost is counted.
 *
 * A chat_service holds what the models of a process share: connections, prices, the sum that all of them
 * spent. A chat_model is one model as one episode uses it. A chat_call is one question on its way: with
 * the retries and pauses that it takes, none of which block. All of a service belongs to one thread:
 *
 *   chat_begin(model, &request, user, &call, &err);
 *   poll(chat_service_fd(service), ...);                 when readable:
 *   n = chat_service_advance(service, done, max);        those that are over
 *   chat_end(done[i], &reply, &err);
 *   ...                                                  the reply lives until
 *   chat_call_free(done[i]);
 */
struct chat_service;
struct chat_model;
struct chat_call;

/* A try that failed, and that another will follow. */
struct chat_retry {
	const char *spec, *why; /* without a key; they live as long as the call of the function */
	int tries, most;        /* this one's number; how many there may be */
	int64_t pause_ms;       /* before the next */
	bool is_first; /* of its kind and spec for a minute: it is enough to tell people of this one */
};

/* `user` is the call's. Runs within chat_begin() and chat_service_advance(); begins and frees no calls. */
typedef void chat_retry_fn(void *user, const struct chat_retry *retry);

struct chat_service_options {
	const char *prices; /* a file that adds to the price table and changes it; NULL: none */
	double total_cost_limit; /* US dollars, of all models together; 0: none */
	double spent;            /* before, which counts towards it */
	chat_retry_fn *on_retry; /* NULL: nobody is told */
};

/* -EINVAL with "FILE:LINE:COLUMN: ..." for a table of prices that is wrong, and for a limit below 0. Options need
 * not stay. */
int chat_service_open(const struct chat_service_options *options, struct chat_service **out,
		struct fh_error *err);
void chat_service_close(struct chat_service *s); /* after its models; NULL is fine */

/* Readable when chat_service_advance() has something to do: timers are in it, too. */
int chat_service_fd(const struct chat_service *s);

/* Does what can be done now; gives calls that are over, at most max, each once. */
size_t chat_service_advance(struct chat_service *s, struct chat_call **out_done, size_t max);

/* Whether all models together have cost what they may: none is asked any more. -ECANCELED says how much. */
bool chat_service_is_spent(const struct chat_service *s, struct fh_error *err);

/* --- models ----------------------------------------------------------------------------------- */

/* What a model was asked for. */
struct chat_stats {
	double cost; /* US dollars */
	int64_t tokens_sent, tokens_received;
	int64_t tokens_cached; /* of those sent: read from the provider's cache */
	int64_t calls;         /* that gave a reply */
	int64_t retries;
};

struct chat_options {
	const char *spec;    /* "openai:gpt-4o", "anthropic:claude-...", "litellm:NAME" */
	const char *url;     /* base URL, "http://localhost:8000/v1"; NULL: the provider's own */
	const char *key;     /* NULL: from the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY) */
	const char *version; /* api-version, as Azure wants it; NULL: none */
	double temperature, top_p; /* negative: not sent */
	int64_t max_tokens; /* of a reply; 0: the provider's own (Anthropic must be told: 8192) */
	const char **stop;  /* sequences that end a reply; n_stop of them */
	size_t n_stop;
	/* a JSON object whose members go into each request's body, a null takes one out; NULL: none */
	const char *extra;
	bool stream;
	int64_t timeout_ms; /* of one try; 0: ten minutes */
	int retries; /* after a first try that failed; negative: MLGYM_MODEL_MAX_RETRIES, or 10 */
	double cost_limit;              /* US dollars, of this model; 0: none */
	int64_t context_tokens;         /* of the model; 0: from the table, where it is known */
	uint64_t seed;                  /* of the pauses' jitter */
	const struct chat_stats *spent; /* before, which counts; NULL: nothing */
};

/* True for a spec that is a language model's: the part before the ":" is one of the providers. */
bool chat_is_spec(const char *spec);

/* -EINVAL: its version or its `extra` is none, whoever the model is. For options that no model gets. */
int chat_check_options(const struct chat_options *options, struct fh_error *err);

/*
 * -EINVAL, each with a sentence that says the way out: a spec that nobody knows, no key where the
 * provider's own address wants one, a limit on costs below 0, or for a model whose price is not known, an `extra`
 * that is no object. Options need not stay. Nothing is sent yet.
 */
int chat_model_open(struct chat_service *s, const struct chat_options *options,
		struct chat_model **out, struct fh_error *err);
void chat_model_close(struct chat_model *m); /* ends and frees its calls; NULL is fine */

/* Whether costs can be told, of a model by its spec. */
bool chat_price_is_known(const struct chat_service *s, const char *spec);

/* Where requests for a model go when no option says where, by its spec: as a variable or the provider has it. NULL: it
 * is not known. Lives until the variables change. */
const char *chat_address(const char *spec);

/* Where it was said to be, by an option or a variable; NULL: at the provider's own address. */
const char *chat_model_base(const struct chat_model *m);

/* For who has to take it out of a text himself; lives as long as the model. NULL: it has none. */
const char *chat_model_key(const struct chat_model *m);

/* Takes its key out of a text, as that of any reply (base/hide.h). */
void chat_model_hide(const struct chat_model *m, struct buf *text);

const char *chat_model_name(const struct chat_model *m); /* "gpt-4o" */

/* So far. */
void chat_model_stats(const struct chat_model *m, struct chat_stats *out);

/* --- calls ------------------------------------------------------------------------------------ */

enum chat_role { CHAT_SYSTEM, CHAT_USER, CHAT_ASSISTANT, CHAT_TOOL };

/* A use of a tool that a model asks for. */
struct chat_use {
	const char *id, *name;
	const char *arguments; /* JSON as the model wrote it, which may be broken; {} for nothing */
};

struct chat_message {
	enum chat_role role;
	const char *content;         /* UTF-8; "" where there is none */
	const struct chat_use *uses; /* of an assistant */
	size_t n_uses;
	const char *use_id; /* CHAT_TOOL: what this answers */
	const char *keep;   /* of an assistant: chat_reply.keep, as it was; NULL: nothing */
};

struct chat_tool {
	const char *name, *description;
	const char *parameters; /* a JSON Schema, of an object */
};

struct chat_request {
	const struct chat_message *messages; /* system first, if there is one */
	size_t n_messages;
	const struct chat_tool *tools;
	size_t n_tools;
};

/* The request is copied. `user` is for the caller. Fails for what can't be sent at all only. */
int chat_begin(struct chat_model *m, const struct chat_request *request, void *user,
		struct chat_call **out, struct fh_error *err);
void *chat_call_user(const struct chat_call *call);

enum chat_stop { CHAT_STOP_END, CHAT_STOP_LENGTH, CHAT_STOP_TOOLS, CHAT_STOP_FILTER };

struct chat_reply {
	const char *content;  /* "" where there is none */
	const char *thinking; /* what a model gave beside it as its reasoning; NULL: nothing */
	const char *keep;     /* what the provider wants back with this message; NULL: nothing */
	const struct chat_use *uses;
	size_t n_uses;
	enum chat_stop stop;
	int64_t tokens_sent, tokens_received;
	double cost; /* of this reply */
};

/*
 * After chat_service_advance() gave the call. The reply lives as long as the call.
 *   -E2BIG    the conversation does not fit into the model's context, seen before or by the provider
 *   -EDQUOT   its limit on costs was reached before, or by this reply (it is counted, and thrown away)
 *   -ECANCELED  the same of the limit of all models together
 *   -EIO      the provider gave no reply, after all tries; or none that can be read; or refused
 * The sentence never holds a key.
 */
int chat_end(struct chat_call *call, struct chat_reply *out, struct fh_error *err);
void chat_call_free(struct chat_call *call); /* at any time: ends it; NULL is fine */

#endif
