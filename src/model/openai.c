/* SPDX-License-Identifier: Apache-2.0 */
#include "model/dialect.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <string.h>

/* Chat completions, as OpenAI made them and many servers speak them. */

/* --- address and headers ---------------------------------------------------------------------- */

/* Azure is what has a version: there the model is part of the path. */
static char *url(const char *base, const char *model, const char *version)
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

static void add_headers(struct http_headers *h, const char *key, const char *version)
{
	http_headers_add(h, "Content-Type", "", "application/json");
	if (key && version)
		http_headers_add(h, "api-key", "", key);
	else if (key)
		http_headers_add(h, "Authorization", "Bearer ", key);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* OpenAI's own models that think first: they count tokens otherwise, and choose their own temperature. */
static bool is_thinker(const struct dialect_request *request)
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

static json_t *write_uses(const struct chat_message *message)
{
	json_t *uses = json_array();

	for (size_t i = 0; i < message->n_uses; i++) {
		const struct chat_use *use = &message->uses[i];

		json_array_append_new(uses,
				json_pack("{s:o, s:s, s:{s:o, s:o}}", "id", json_text(use->id),
						"type", "function", "function", "name",
						json_text(use->name), "arguments",
						json_text(use->arguments)));
	}
	return uses;
}

static json_t *write_message(const struct chat_message *message)
{
	static const char *const roles[] = {
		[CHAT_SYSTEM] = "system",
		[CHAT_USER] = "user",
		[CHAT_ASSISTANT] = "assistant",
		[CHAT_TOOL] = "tool",
	};
	json_t *out = json_object();
	bool only_uses = message->n_uses && !*message->content;

	json_object_set_new(out, "role", json_string(roles[message->role]));
	json_object_set_new(out, "content", only_uses ? json_null() : json_text(message->content));
	if (message->n_uses)
		json_object_set_new(out, "tool_calls", write_uses(message));
	if (message->role == CHAT_TOOL)
		json_object_set_new(out, "tool_call_id",
				json_text(message->use_id ? message->use_id : ""));
	return out;
}

static int write_tools(json_t *body, const struct chat_request *chat, struct fh_error *err)
{
	json_t *tools = json_array();
	json_t *parameters;
	int r;

	json_object_set_new(body, "tools", tools);
	for (size_t i = 0; i < chat->n_tools; i++) {
		const struct chat_tool *tool = &chat->tools[i];

		r = dialect_parameters(tool, &parameters, err);
		if (r < 0)
			return r;
		json_array_append_new(tools,
				json_pack("{s:s, s:{s:o, s:o, s:o}}", "type", "function",
						"function", "name", json_text(tool->name),
						"description",
						json_text(tool->description ? tool->description
									    : ""),
						"parameters", parameters));
	}
	return 0;
}

static void write_sampling(json_t *body, const struct dialect_request *request)
{
	const struct chat_options *options = request->options;
	bool thinker = is_thinker(request);
	json_t *stop;

	if (options->temperature >= 0 && !thinker)
		json_object_set_new(body, "temperature", json_real(options->temperature));
	if (options->top_p >= 0 && !thinker)
		json_object_set_new(body, "top_p", json_real(options->top_p));
	if (options->max_tokens)
		json_object_set_new(body, thinker ? "max_completion_tokens" : "max_tokens",
				json_integer(options->max_tokens));
	if (options->n_stop) {
		stop = json_array();
		for (size_t i = 0; i < options->n_stop; i++)
			json_array_append_new(stop, json_text(options->stop[i]));
		json_object_set_new(body, "stop", stop);
	}
	if (options->stream) {
		json_object_set_new(body, "stream", json_true());
		json_object_set_new(body, "stream_options", json_pack("{s:b}", "include_usage", 1));
	}
}

static int write_body(const struct dialect_request *request, json_t **out, struct fh_error *err)
{
	const struct chat_request *chat = request->chat;
	auto_json json_t *body = json_object();
	json_t *messages = json_array();

	json_object_set_new(body, "model", json_text(request->model));
	json_object_set_new(body, "messages", messages);
	for (size_t i = 0; i < chat->n_messages; i++)
		json_array_append_new(messages, write_message(&chat->messages[i]));
	write_sampling(body, request);
	if (chat->n_tools) {
		int r = write_tools(body, chat, err);

		if (r < 0)
			return r;
	}
	*out = take_ptr(body);
	return 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int read_content(struct reply *r, struct buf *to, const json_t *value, struct fh_error *err);

/* Some servers give parts: {"type":"text","text":...}, {"type":"thinking","thinking":[parts]}. */
static int read_part(struct reply *r, struct buf *to, const json_t *part, struct fh_error *err)
{
	const json_t *thinking = json_object_get(part, "thinking");

	/* Parts within those of thinking can't nest further. */
	if (thinking && to == &r->content)
		return read_content(r, &r->thinking, thinking, err);
	return reply_add(r, to, json_object_get(part, "text"), err);
}

static int read_content(struct reply *r, struct buf *to, const json_t *value, struct fh_error *err)
{
	const json_t *part;
	size_t i;
	int ret;

	if (!json_is_array(value))
		return reply_add(r, to, value, err);
	json_array_foreach(value, i, part) {
		ret = read_part(r, to, part, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Text, though some servers give the object itself. */
static int read_arguments(struct reply *r, struct buf *to, json_t *value, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(REPLY_BYTES_MAX);
	auto_json json_t *written = NULL;

	if (!json_is_object(value))
		return reply_add(r, to, value, err);
	json_add(&text, value, false);
	written = json_text(buf_str(&text));
	return reply_add(r, to, written, err);
}

/* Id and name come once, whatever a server repeats. */
static int read_once(struct reply *r, struct buf *to, const json_t *value, struct fh_error *err)
{
	return to->len ? 0 : reply_add(r, to, value, err);
}

static int read_function(struct reply *r, struct reply_use *use, const json_t *function,
		struct fh_error *err)
{
	int ret = read_once(r, &use->name, json_object_get(function, "name"), err);

	if (ret == 0)
		ret = read_arguments(
				r, &use->arguments, json_object_get(function, "arguments"), err);
	return ret;
}

/* Which use a piece belongs to, where the server doesn't count them: a new id begins a new one. */
static int64_t index_of(const struct reply *r, const json_t *call, bool whole, size_t i)
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

static int read_uses(struct reply *r, const json_t *message, bool whole, struct fh_error *err)
{
	const json_t *calls = json_object_get(message, "tool_calls");
	const json_t *old = json_object_get(message, "function_call");
	const json_t *call;
	struct reply_use *use;
	size_t i;
	int ret;

	json_array_foreach(calls, i, call) {
		ret = reply_use(r, index_of(r, call, whole, i), &use, err);
		if (ret == 0)
			ret = read_once(r, &use->id, json_object_get(call, "id"), err);
		if (ret == 0)
			ret = read_function(r, use, json_object_get(call, "function"), err);
		if (ret < 0)
			return ret;
	}
	if (!json_is_object(old))
		return 0;
	ret = reply_use(r, 0, &use, err);
	return ret < 0 ? ret : read_function(r, use, old, err);
}

static void read_stop(struct reply *r, const json_t *reason)
{
	static const struct {
		const char *name;
		enum chat_stop stop;
	} reasons[] = {
		{ "length", CHAT_STOP_LENGTH },
		{ "tool_calls", CHAT_STOP_TOOLS },
		{ "function_call", CHAT_STOP_TOOLS },
		{ "content_filter", CHAT_STOP_FILTER },
	};

	if (!json_is_string(reason))
		return;
	r->stopped = true;
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (str_eq(json_string_value(reason), reasons[i].name))
			r->stop = reasons[i].stop;
}

static void read_usage(struct reply *r, const json_t *usage)
{
	reply_count(usage, "prompt_tokens", &r->sent);
	reply_count(usage, "completion_tokens", &r->received);
	reply_count(usage, "prompt_cache_hit_tokens", &r->cached);
	reply_count(json_object_get(usage, "prompt_tokens_details"), "cached_tokens", &r->cached);
}

/* `message`: a whole one, or a delta that adds to it. */
static int read_message(struct reply *r, const json_t *message, bool whole, struct fh_error *err)
{
	const json_t *thinking = json_object_get(message, "reasoning_content");
	int ret;

	/* Two names for one thing; servers that know both send both. */
	if (!json_is_string(thinking))
		thinking = json_object_get(message, "reasoning");
	ret = reply_add(r, &r->thinking, thinking, err);
	if (ret == 0)
		ret = read_content(r, &r->content, json_object_get(message, "content"), err);
	if (ret == 0)
		ret = reply_add(r, &r->content, json_object_get(message, "refusal"), err);
	if (ret == 0)
		ret = read_uses(r, message, whole, err);
	return ret;
}

/* A server may number none. */
static int64_t number_of(const json_t *choice)
{
	const json_t *index = json_object_get(choice, "index");

	return json_is_integer(index) ? json_integer_value(index) : 0;
}

static const json_t *numbered(const json_t *root, int64_t number)
{
	const json_t *choice;
	size_t i;

	json_array_foreach(json_object_get(root, "choices"), i, choice)
		if (number_of(choice) == number)
			return choice;
	return NULL;
}

/* Of several that were asked for the one that is numbered 0, wherever it stands, or else what comes first: numbers may
 * begin with another. */
static const json_t *first_choice(const json_t *root)
{
	const json_t *zero = numbered(root, 0);

	return zero ? zero : json_array_get(json_object_get(root, "choices"), 0);
}

/* The pieces of a stream are all of one choice. */
static const json_t *same_choice(struct reply *r, const json_t *event)
{
	const json_t *choice = r->chosen ? numbered(event, r->choice) : first_choice(event);

	if (choice && !r->chosen) {
		r->chosen = true;
		r->choice = number_of(choice);
	}
	return choice;
}

static int read_whole(struct reply *r, const json_t *root, struct fh_error *err)
{
	const json_t *choice = first_choice(root);
	const json_t *message = json_object_get(choice, "message");

	if (!json_is_object(message))
		return reply_broken(err, "it has no choices[0].message");
	read_usage(r, json_object_get(root, "usage"));
	read_stop(r, json_object_get(choice, "finish_reason"));
	r->stopped = r->ended = true;
	return read_message(r, message, true, err);
}

static int read_event(struct reply *r, const json_t *data, struct fh_error *err)
{
	const json_t *choice = same_choice(r, data);

	if (!json_is_object(data))
		return reply_broken(err, "an event of its stream is no object");
	read_usage(r, json_object_get(data, "usage"));
	if (!choice)
		return 0;
	read_stop(r, json_object_get(choice, "finish_reason"));
	return read_message(r, json_object_get(choice, "delta"), false, err);
}

const struct dialect dialect_openai = {
	.url = url,
	.add_headers = add_headers,
	.write = write_body,
	.read = read_whole,
	.read_event = read_event,
};
