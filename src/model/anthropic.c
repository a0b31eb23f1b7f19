/* SPDX-License-Identifier: Apache-2.0 */
#include "model/dialect.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <string.h>

/*
 * Anthropic's messages. The system prompt stands apart, roles alternate, results of tools are parts of
 * what a user says, no text is blank; a limit on the reply is always sent.
 */
#define DEFAULT_VERSION "2023-06-01"
#define DEFAULT_TOKENS 8192
#define CACHED_MESSAGES 2 /* the last so many of a user end what the provider is to cache */

/* --- address and headers ---------------------------------------------------------------------- */

static char *url(const char *base, const char *model, const char *version)
{
	if (str_ends(base, "/messages"))
		return xstrdup(base);
	return xasprintf("%s%s", base, str_ends(base, "/v1") ? "/messages" : "/v1/messages");
}

static void add_headers(struct http_headers *h, const char *key, const char *version)
{
	http_headers_add(h, "Content-Type", "", "application/json");
	http_headers_add(h, "anthropic-version", "", version ? version : DEFAULT_VERSION);
	if (key)
		http_headers_add(h, "x-api-key", "", key);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void add_text(json_t *parts, const char *text)
{
	if (!str_is_blank(text))
		json_array_append_new(parts,
				json_pack("{s:s, s:o}", "type", "text", "text", json_text(text)));
}

/* What comes from here up to the part's end may be kept by the provider for the next call. */
static void mark_cached(json_t *parts)
{
	json_t *last = json_array_get(parts, json_array_size(parts) - 1);

	if (last)
		json_object_set_new(last, "cache_control", json_pack("{s:s}", "type", "ephemeral"));
}

/* The API takes objects only; a model may have written anything. */
static json_t *write_input(const char *arguments)
{
	struct fh_error why = FH_ERROR_INIT;
	json_t *input = NULL;

	if (json_parse("arguments", arguments, strlen(arguments), &input, &why) == 0 &&
			json_is_object(input))
		return input;
	json_decref(input);
	return *arguments ? json_pack("{s:o}", "arguments", json_text(arguments)) : json_object();
}

/* Thoughts go back as they came, before everything else. */
static void add_kept(json_t *parts, const char *kept)
{
	struct fh_error why = FH_ERROR_INIT;
	auto_json json_t *blocks = NULL;

	if (kept && json_parse("keep", kept, strlen(kept), &blocks, &why) == 0)
		json_array_extend(parts, blocks);
}

static void add_assistant(json_t *parts, const struct chat_message *message)
{
	add_kept(parts, message->keep);
	add_text(parts, message->content);
	for (size_t i = 0; i < message->n_uses; i++) {
		const struct chat_use *use = &message->uses[i];

		json_array_append_new(parts,
				json_pack("{s:s, s:o, s:o, s:o}", "type", "tool_use", "id",
						json_text(use->id), "name", json_text(use->name),
						"input", write_input(use->arguments)));
	}
}

static void add_result(json_t *parts, const struct chat_message *message)
{
	json_t *part = json_pack("{s:s, s:o}", "type", "tool_result", "tool_use_id",
			json_text(message->use_id ? message->use_id : ""));
	json_t *content = json_array();

	add_text(content, message->content);
	json_object_set_new(part, "content", content);
	json_array_append_new(parts, part);
}

static void add_message(json_t *parts, const struct chat_message *message)
{
	switch (message->role) {
	case CHAT_SYSTEM: /* one that comes late */
	case CHAT_USER:
		add_text(parts, message->content);
		break;
	case CHAT_ASSISTANT:
		add_assistant(parts, message);
		break;
	case CHAT_TOOL:
		add_result(parts, message);
		break;
	}
}

/* The parts of the last message if it is of that role, else of a new one. */
static json_t *parts_for(json_t *messages, const char *role)
{
	json_t *last = json_array_get(messages, json_array_size(messages) - 1);
	json_t *parts;

	if (str_eq(json_string_value(json_object_get(last, "role")), role))
		return json_object_get(last, "content");
	parts = json_array();
	json_array_append_new(messages, json_pack("{s:s, s:o}", "role", role, "content", parts));
	return parts;
}

/* A message without parts would be refused. */
static void fill_empty(json_t *messages)
{
	json_t *message;
	size_t i;

	json_array_foreach(messages, i, message) {
		json_t *parts = json_object_get(message, "content");

		if (json_array_size(parts) == 0)
			add_text(parts, "(nothing)");
	}
}

static void mark_last_users(json_t *messages)
{
	int left = CACHED_MESSAGES;

	for (size_t i = json_array_size(messages); i-- > 0 && left > 0;) {
		json_t *message = json_array_get(messages, i);

		if (!str_eq(json_string_value(json_object_get(message, "role")), "user"))
			continue;
		mark_cached(json_object_get(message, "content"));
		left--;
	}
}

static void write_messages(json_t *body, const struct chat_request *chat)
{
	json_t *prompt = json_array(), *messages = json_array();
	size_t i = 0;

	for (; i < chat->n_messages && chat->messages[i].role == CHAT_SYSTEM; i++)
		add_text(prompt, chat->messages[i].content);
	mark_cached(prompt);
	if (json_array_size(prompt))
		json_object_set(body, "system", prompt);
	json_decref(prompt);
	if (i == chat->n_messages || chat->messages[i].role == CHAT_ASSISTANT)
		add_text(parts_for(messages, "user"), "Begin.");
	for (; i < chat->n_messages; i++) {
		bool own = chat->messages[i].role == CHAT_ASSISTANT;

		add_message(parts_for(messages, own ? "assistant" : "user"), &chat->messages[i]);
	}
	fill_empty(messages);
	mark_last_users(messages);
	json_object_set_new(body, "messages", messages);
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
				json_pack("{s:o, s:o, s:o}", "name", json_text(tool->name),
						"description",
						json_text(tool->description ? tool->description
									    : ""),
						"input_schema", parameters));
	}
	return 0;
}

/* Since the fourth generation one of temperature and top_p is taken, not both. */
static void write_sampling(json_t *body, const struct dialect_request *request)
{
	const struct chat_options *options = request->options;
	bool both = str_starts(request->model, "claude-3-");
	int64_t most = options->max_tokens ? options->max_tokens : DEFAULT_TOKENS;
	json_t *stop;

	json_object_set_new(body, "max_tokens", json_integer(most));
	if (options->temperature >= 0)
		json_object_set_new(body, "temperature", json_real(options->temperature));
	if (options->top_p >= 0 && (both || options->temperature < 0))
		json_object_set_new(body, "top_p", json_real(options->top_p));
	if (options->n_stop) {
		stop = json_array();
		for (size_t i = 0; i < options->n_stop; i++)
			json_array_append_new(stop, json_text(options->stop[i]));
		json_object_set_new(body, "stop_sequences", stop);
	}
	if (options->stream)
		json_object_set_new(body, "stream", json_true());
}

static int write_body(const struct dialect_request *request, json_t **out, struct fh_error *err)
{
	auto_json json_t *body = json_object();

	json_object_set_new(body, "model", json_text(request->model));
	write_sampling(body, request);
	write_messages(body, request->chat);
	if (request->chat->n_tools) {
		int r = write_tools(body, request->chat, err);

		if (r < 0)
			return r;
	}
	*out = take_ptr(body);
	return 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void read_stop(struct reply *r, const json_t *reason)
{
	static const struct {
		const char *name;
		enum chat_stop stop;
	} reasons[] = {
		{ "max_tokens", CHAT_STOP_LENGTH },
		{ "model_context_window_exceeded", CHAT_STOP_LENGTH },
		{ "tool_use", CHAT_STOP_TOOLS },
		{ "refusal", CHAT_STOP_FILTER },
	};

	if (!json_is_string(reason))
		return;
	r->stopped = true;
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (str_eq(json_string_value(reason), reasons[i].name))
			r->stop = reasons[i].stop;
}

/* Tokens of the cache are counted apart; with us they are some of those sent. */
static void read_usage(struct reply *r, const json_t *usage)
{
	int64_t fresh = r->sent < 0 ? -1 : r->sent - r->cached - r->stored;

	reply_count(usage, "input_tokens", &fresh);
	reply_count(usage, "cache_read_input_tokens", &r->cached);
	reply_count(usage, "cache_creation_input_tokens", &r->stored);
	reply_count(usage, "output_tokens", &r->received);
	if (fresh >= 0)
		r->sent = fresh + r->cached + r->stored;
}

/* Thoughts are signed, and wanted back as they are when tools are used. */
static int keep_block(struct reply *r, const json_t *block, struct fh_error *err)
{
	static const char *const members[] = { "type", "thinking", "signature", "data" };
	json_t *kept = json_object();

	if (!r->keep)
		r->keep = json_array();
	json_array_append_new(r->keep, kept);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		json_t *text = json_object_get(block, members[i]);

		if (!json_is_string(text))
			continue;
		json_object_set(kept, members[i], text);
		r->bytes += json_string_length(text);
	}
	return reply_check(r, err);
}

/* The pieces of a thought that has come to its end. */
static void keep_pieces(struct reply *r)
{
	json_t *kept = json_array_get(r->keep, json_array_size(r->keep) - 1);

	if (kept && r->kept_thinking.len)
		json_object_set_new(kept, "thinking", json_text(buf_str(&r->kept_thinking)));
	if (kept && r->kept_signature.len)
		json_object_set_new(kept, "signature", json_text(buf_str(&r->kept_signature)));
	buf_clear(&r->kept_thinking);
	buf_clear(&r->kept_signature);
}

static int read_use(struct reply *r, int64_t index, const json_t *block, bool whole,
		struct fh_error *err)
{
	json_t *input = json_object_get(block, "input");
	auto_buf struct buf text = BUF_INIT(REPLY_BYTES_MAX);
	auto_json json_t *arguments = NULL;
	struct reply_use *use;
	int ret = reply_use(r, index, &use, err);

	if (ret == 0)
		ret = reply_add(r, &use->id, json_object_get(block, "id"), err);
	if (ret == 0)
		ret = reply_add(r, &use->name, json_object_get(block, "name"), err);
	if (ret < 0 || !whole || !input)
		return ret; /* a stream's arguments come later, in pieces */
	json_add(&text, input, false);
	arguments = json_text(buf_str(&text));
	return reply_add(r, &use->arguments, arguments, err);
}

/* A block of a whole reply, or the beginning of one in a stream. */
static int read_block(struct reply *r, int64_t index, const json_t *block, bool whole,
		struct fh_error *err)
{
	const char *type = json_string_value(json_object_get(block, "type"));

	if (str_eq(type, "text"))
		return reply_add(r, &r->content, json_object_get(block, "text"), err);
	if (str_eq(type, "tool_use"))
		return read_use(r, index, block, whole, err);
	if (str_eq(type, "thinking") || str_eq(type, "redacted_thinking")) {
		int ret = keep_block(r, block, err);

		return ret < 0 ? ret
			       : reply_add(r, &r->thinking, json_object_get(block, "thinking"),
						 err);
	}
	return type ? 0 : reply_broken(err, "a part of it has no type");
}

static int read_whole(struct reply *r, const json_t *root, struct fh_error *err)
{
	const json_t *blocks = json_object_get(root, "content");
	const json_t *block;
	size_t i;

	if (!json_is_array(blocks))
		return reply_broken(err, "it has no content");
	json_array_foreach(blocks, i, block) {
		int ret = read_block(r, (int64_t)i, block, true, err);

		if (ret < 0)
			return ret;
	}
	read_usage(r, json_object_get(root, "usage"));
	read_stop(r, json_object_get(root, "stop_reason"));
	r->stopped = r->ended = true;
	return 0;
}

static int read_delta(struct reply *r, int64_t index, const json_t *delta, struct fh_error *err)
{
	const json_t *thinking = json_object_get(delta, "thinking");
	const json_t *arguments = json_object_get(delta, "partial_json");
	struct reply_use *use;
	int ret;

	ret = reply_add(r, &r->thinking, thinking, err);
	if (ret == 0)
		ret = reply_add(r, &r->kept_thinking, thinking, err);
	if (ret == 0)
		ret = reply_add(r, &r->kept_signature, json_object_get(delta, "signature"), err);
	if (ret == 0)
		ret = reply_add(r, &r->content, json_object_get(delta, "text"), err);
	if (ret < 0 || !json_is_string(arguments))
		return ret;
	ret = reply_use(r, index, &use, err);
	return ret < 0 ? ret : reply_add(r, &use->arguments, arguments, err);
}

static int read_event(struct reply *r, const json_t *data, struct fh_error *err)
{
	const char *type = json_string_value(json_object_get(data, "type"));
	const json_t *delta = json_object_get(data, "delta");
	int64_t index = 0;

	if (!type)
		return reply_broken(err, "an event of its stream has no type");
	reply_count(data, "index", &index);
	if (str_eq(type, "message_start"))
		read_usage(r, json_object_get(json_object_get(data, "message"), "usage"));
	if (str_eq(type, "content_block_start"))
		return read_block(r, index, json_object_get(data, "content_block"), false, err);
	if (str_eq(type, "content_block_delta"))
		return read_delta(r, index, delta, err);
	if (str_eq(type, "content_block_stop"))
		keep_pieces(r);
	if (str_eq(type, "message_delta")) {
		read_usage(r, json_object_get(data, "usage"));
		read_stop(r, json_object_get(delta, "stop_reason"));
	}
	if (str_eq(type, "message_stop"))
		r->ended = true;
	return 0;
}

const struct dialect dialect_anthropic = {
	.url = url,
	.add_headers = add_headers,
	.write = write_body,
	.read = read_whole,
	.read_event = read_event,
};
