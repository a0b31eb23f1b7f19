/* SPDX-License-Identifier: Apache-2.0 */
#include "model/dialects.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <string.h>

/* OpenAI's protocol for chat completions, which many servers use. */

/* --- URL and headers of OpenAI's API ---------------------------------------------------------- */

/* Makes the URL of a request. An API version means Azure, whose URL path names the model. */
static char *openai_url(const char *base, const char *model, const char *version)
{
	const char *host = strstr(base, "://");
	bool bare = host && !strchr(host + 3, '/');

	if (str_ends(base, "/chat/completions"))
		return version ? xasprintf("%s?api-version=%s", base, version) : xstrdup(base);
	if (version && strstr(base, "/deployments/"))
		return xasprintf("%s/chat/completions?api-version=%s", base, version);
	if (version)
		return xasprintf("%s%s/deployments/%s/chat/completions?api-version=%s", base,
				str_ends(base, "/openai") ? "" : "/openai", model, version);
	return xasprintf("%s%s/chat/completions", base, bare ? "/v1" : "");
}

static void openai_add_headers(struct http_headers *h, const char *key, const char *version)
{
	http_headers_add(h, "Content-Type", "", "application/json");
	if (key && version)
		http_headers_add(h, "api-key", "", key);
	else if (key)
		http_headers_add(h, "Authorization", "Bearer ", key);
}

/* --- writing ---------------------------------------------------------------------------------- */

/*
 * Returns true for OpenAI's reasoning models, which refuse requests with max_tokens, temperature or
 * top_p.
 */
static bool openai_is_thinker(const struct dialect_request *request)
{
	static const char *const names[] = { "o1", "o3", "o4", "gpt-5" };

	for (size_t i = 0; request->own_address && i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);
		char after = str_starts(request->model, names[i]) ? request->model[n] : 'x';

		if (after == '\0' || after == '-' || after == '.')
			return true;
	}
	return false;
}

json_t *openai_write_message(const struct chat_message *message)
{
	static const char *const roles[] = {
		[CHAT_SYSTEM] = "system",
		[CHAT_USER] = "user",
		[CHAT_ASSISTANT] = "assistant",
		[CHAT_TOOL] = "tool",
	};
	json_t *out = json_object(), *uses = json_array();
	bool only_uses = message->n_uses && !*message->content;

	json_object_set_new(out, "role", json_string(roles[message->role]));
	json_object_set_new(out, "content", only_uses ? json_null() : json_text(message->content));
	for (size_t i = 0; i < message->n_uses; i++) {
		const struct chat_use *use = &message->uses[i];

		json_array_append_new(uses,
				json_pack("{s:o, s:s, s:{s:o, s:o}}", "id", json_text(use->id),
						"type", "function", "function", "name",
						json_text(use->name), "arguments",
						json_text(use->arguments)));
	}
	if (message->n_uses)
		json_object_set(out, "tool_calls", uses);
	json_decref(uses);
	if (message->role == CHAT_TOOL)
		json_object_set_new(out, "tool_call_id",
				json_text(message->use_id ? message->use_id : ""));
	return out;
}

static void openai_write_sampling(json_t *body, const struct dialect_request *request)
{
	const struct chat_options *options = request->options;
	bool thinker = openai_is_thinker(request);

	if (options->temperature >= 0 && !thinker)
		json_object_set_new(body, "temperature", json_real(options->temperature));
	if (options->top_p >= 0 && !thinker)
		json_object_set_new(body, "top_p", json_real(options->top_p));
	if (options->max_tokens)
		json_object_set_new(body, thinker ? "max_completion_tokens" : "max_tokens",
				json_integer(options->max_tokens));
	dialect_write_stop(body, options, "stop");
	if (options->stream) {
		json_object_set_new(body, "stream", json_true());
		json_object_set_new(body, "stream_options", json_pack("{s:b}", "include_usage", 1));
	}
}

static int openai_write(const struct dialect_request *request, json_t **out, struct fh_error *err)
{
	const struct chat_request *chat = request->chat;
	auto_json json_t *body = json_object();
	json_t *messages = json_array();
	int r;

	json_object_set_new(body, "model", json_text(request->model));
	json_object_set_new(body, "messages", messages);
	for (size_t i = 0; i < chat->n_messages; i++)
		json_array_append_new(messages, openai_write_message(&chat->messages[i]));
	openai_write_sampling(body, request);
	r = dialect_write_tools(body, chat, "parameters", true, err);
	if (r < 0)
		return r;
	*out = take_ptr(body);
	return 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Reads the text of a model's message. Some servers send an array of parts:
 * {"type":"text","text":...}, {"type":"thinking","thinking":[parts]}. */
static int openai_read_content(
		struct reply *r, struct buf *to, const json_t *value, struct fh_error *err)
{
	const json_t *part;
	size_t i;
	int ret;

	if (!json_is_array(value))
		return reply_add(r, to, value, err);
	json_array_foreach(value, i, part) {
		const json_t *thinking = json_object_get(part, "thinking");

		/* Ignore a thought inside a thought. */
		if (thinking && to == &r->content)
			ret = openai_read_content(r, &r->thinking, thinking, err);
		else
			ret = reply_add(r, to, json_object_get(part, "text"), err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Sets an id or a name of a tool call only if it is empty. Some servers repeat it in each piece of
 * a stream. */
static int openai_read_once(
		struct reply *r, struct buf *to, const json_t *value, struct fh_error *err)
{
	return to->len ? 0 : reply_add(r, to, value, err);
}

static int openai_read_function(struct reply *r, struct reply_use *use, const json_t *function,
		struct fh_error *err)
{
	json_t *arguments = json_object_get(function, "arguments");
	int ret = openai_read_once(r, &use->name, json_object_get(function, "name"), err);

	if (ret < 0)
		return ret;
	/* Convert a tool call's arguments to text: some servers send them as an object. */
	if (json_is_object(arguments))
		return reply_add_json(r, &use->arguments, arguments, err);
	return reply_add(r, &use->arguments, arguments, err);
}

/* Returns the index of the tool call that a piece of a stream belongs to. If the server gives no
 * index, a new id begins a new tool call. */
static int64_t openai_index_of(const struct reply *r, const json_t *call, bool whole, size_t i)
{
	const json_t *index = json_object_get(call, "index");
	const char *id = json_string_value(json_object_get(call, "id"));
	size_t last = r->n_uses ? r->n_uses - 1 : 0;

	if (whole)
		return (int64_t)i;
	if (json_is_integer(index))
		return json_integer_value(index);
	if (id && *id && r->n_uses && strcmp(buf_str(&r->uses[last].id), id) != 0)
		return (int64_t)r->n_uses;
	return (int64_t)last;
}

static int openai_read_uses(
		struct reply *r, const json_t *message, bool whole, struct fh_error *err)
{
	const json_t *calls = json_object_get(message, "tool_calls");
	const json_t *old = json_object_get(message, "function_call");
	const json_t *call;
	struct reply_use *use;
	size_t i;
	int ret;

	json_array_foreach(calls, i, call) {
		ret = reply_use(r, openai_index_of(r, call, whole, i), &use, err);
		if (ret < 0)
			return ret;
		ret = openai_read_once(r, &use->id, json_object_get(call, "id"), err);
		if (ret < 0)
			return ret;
		ret = openai_read_function(r, use, json_object_get(call, "function"), err);
		if (ret < 0)
			return ret;
	}
	if (!json_is_object(old))
		return 0;
	ret = reply_use(r, 0, &use, err);
	return ret < 0 ? ret : openai_read_function(r, use, old, err);
}

static void openai_read_stop(struct reply *r, const json_t *choice)
{
	static const struct reply_reason reasons[] = {
		{ "length", CHAT_STOP_LENGTH },
		{ "tool_calls", CHAT_STOP_TOOLS },
		{ "function_call", CHAT_STOP_TOOLS },
		{ "content_filter", CHAT_STOP_FILTER },
	};

	reply_stop(r, json_object_get(choice, "finish_reason"), reasons, ARRAY_SIZE(reasons));
}

static void openai_read_usage(struct reply *r, const json_t *usage)
{
	reply_count(usage, "prompt_tokens", &r->sent);
	reply_count(usage, "completion_tokens", &r->received);
	reply_count(usage, "prompt_cache_hit_tokens", &r->cached);
	reply_count(json_object_get(usage, "prompt_tokens_details"), "cached_tokens", &r->cached);
}

int openai_read_message(struct reply *r, const json_t *message, bool whole, struct fh_error *err)
{
	const json_t *thinking = json_object_get(message, "reasoning_content");
	int ret;

	/* Read a message's "reasoning" only if "reasoning_content" is missing: servers with both
	 * send the same text. */
	if (!json_is_string(thinking))
		thinking = json_object_get(message, "reasoning");
	ret = reply_add(r, &r->thinking, thinking, err);
	if (ret < 0)
		return ret;
	ret = openai_read_content(r, &r->content, json_object_get(message, "content"), err);
	if (ret < 0)
		return ret;
	ret = reply_add(r, &r->content, json_object_get(message, "refusal"), err);
	return ret < 0 ? ret : openai_read_uses(r, message, whole, err);
}

/* Returns the index of a choice in an answer, which may have several; 0 if the server gives
 * none. */
static int64_t openai_number_of(const json_t *choice)
{
	const json_t *index = json_object_get(choice, "index");

	return json_is_integer(index) ? json_integer_value(index) : 0;
}

static const json_t *openai_numbered(const json_t *root, int64_t number)
{
	const json_t *choice;
	size_t i;

	json_array_foreach(json_object_get(root, "choices"), i, choice)
		if (openai_number_of(choice) == number)
			return choice;
	return NULL;
}

/*
 * Returns the choice (reply) with index 0. If there is none, returns the first one: some servers
 * begin with another index.
 */
static const json_t *openai_first_choice(const json_t *root)
{
	const json_t *zero = openai_numbered(root, 0);

	return zero ? zero : json_array_get(json_object_get(root, "choices"), 0);
}

static int openai_read(struct reply *r, const json_t *root, struct fh_error *err)
{
	const json_t *choice = openai_first_choice(root);
	const json_t *message = json_object_get(choice, "message");

	if (!json_is_object(message))
		return reply_broken(err, "it has no choices[0].message");
	openai_read_usage(r, json_object_get(root, "usage"));
	openai_read_stop(r, choice);
	r->stopped = r->ended = true;
	return openai_read_message(r, message, true, err);
}

static int openai_read_event(struct reply *r, const json_t *data, struct fh_error *err)
{
	/* Read all pieces of a streamed reply from the choice that its first piece came from. */
	const json_t *choice = r->chosen ? openai_numbered(data, r->choice)
					 : openai_first_choice(data);

	if (!json_is_object(data))
		return reply_broken(err, "an event of its stream is not an object");
	openai_read_usage(r, json_object_get(data, "usage"));
	if (!choice)
		return 0;
	r->chosen = true;
	r->choice = openai_number_of(choice);
	openai_read_stop(r, choice);
	return openai_read_message(r, json_object_get(choice, "delta"), false, err);
}

const struct dialect dialect_openai = {
	.path = "/chat/completions",
	.url = openai_url,
	.add_headers = openai_add_headers,
	.write = openai_write,
	.read = openai_read,
	.read_event = openai_read_event,
};
