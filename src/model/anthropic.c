/* SPDX-License-Identifier: Apache-2.0 */
#include "model/dialects.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <string.h>

/*
 * Anthropic's protocol for messages. Compared with OpenAI's: the system prompt is separate, and
 * roles alternate. Results of tools are parts of a user's message, and no text is blank. A limit on
 * the reply's tokens is always sent.
 */

#define DEFAULT_VERSION "2023-06-01"
#define DEFAULT_TOKENS 8192
/* Number of the user's last messages, up to which the provider is asked to cache the
 * conversation. */
#define CACHED_MESSAGES 2

/* --- URL and headers of Anthropic's API ------------------------------------------------------- */

static char *anthropic_url(const char *base, const char *model, const char *version)
{
	if (str_ends(base, "/messages"))
		return xstrdup(base);
	return xasprintf("%s%s", base, str_ends(base, "/v1") ? "/messages" : "/v1/messages");
}

static void anthropic_add_headers(struct http_headers *h, const char *key, const char *version)
{
	http_headers_add(h, "Content-Type", "", "application/json");
	http_headers_add(h, "anthropic-version", "", version ? version : DEFAULT_VERSION);
	if (key)
		http_headers_add(h, "x-api-key", "", key);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void anthropic_add_text(json_t *parts, const char *text)
{
	if (!str_is_blank(text))
		json_array_append_new(parts,
				json_pack("{s:s, s:o}", "type", "text", "text", json_text(text)));
}

/* Asks the provider to cache the conversation up to the last part in the array `parts`. */
static void anthropic_mark_cached(json_t *parts)
{
	json_t *last = json_array_get(parts, json_array_size(parts) - 1);

	if (last)
		json_object_set_new(last, "cache_control", json_pack("{s:s}", "type", "ephemeral"));
}

/* Makes the member "input" of a tool call. The API requires an object, but the model may have
 * written other JSON, or none. */
static json_t *anthropic_write_input(const char *arguments)
{
	struct fh_error why = FH_ERROR_INIT;
	json_t *input = NULL;

	if (json_parse("arguments", arguments, strlen(arguments), &input, &why) == 0 &&
			json_is_object(input))
		return input;
	json_decref(input);
	return *arguments ? json_pack("{s:o}", "arguments", json_text(arguments)) : json_object();
}

static void anthropic_add_assistant(json_t *parts, const struct chat_message *message)
{
	const char *keep = message->keep;
	auto_json json_t *blocks = NULL;

	/* Put the thoughts that the provider signed before all other parts, unchanged. */
	if (keep && json_parse("keep", keep, strlen(keep), &blocks, NULL) == 0)
		json_array_extend(parts, blocks);
	anthropic_add_text(parts, message->content);
	for (size_t i = 0; i < message->n_uses; i++) {
		const struct chat_use *use = &message->uses[i];

		json_array_append_new(parts,
				json_pack("{s:s, s:o, s:o, s:o}", "type", "tool_use", "id",
						json_text(use->id), "name", json_text(use->name),
						"input", anthropic_write_input(use->arguments)));
	}
}

static void anthropic_add_message(json_t *parts, const struct chat_message *message)
{
	json_t *content;

	switch (message->role) {
	case CHAT_SYSTEM: /* a system message after the first is sent as a user's message */
	case CHAT_USER:
		anthropic_add_text(parts, message->content);
		break;
	case CHAT_ASSISTANT:
		anthropic_add_assistant(parts, message);
		break;
	case CHAT_TOOL:
		content = json_array();
		anthropic_add_text(content, message->content);
		json_array_append_new(parts,
				json_pack("{s:s, s:o, s:o}", "type", "tool_result", "tool_use_id",
						json_text(message->use_id ? message->use_id : ""),
						"content", content));
		break;
	}
}

/* Returns the array of content parts of the last message, if it has the role `role`. If not, adds a
 * message with this role and returns its array. */
static json_t *anthropic_parts_for(json_t *messages, const char *role)
{
	json_t *last = json_array_get(messages, json_array_size(messages) - 1);
	json_t *parts;

	if (str_eq(json_string_value(json_object_get(last, "role")), role))
		return json_object_get(last, "content");
	parts = json_array();
	json_array_append_new(messages, json_pack("{s:s, s:o}", "role", role, "content", parts));
	return parts;
}

/* Gives a text to messages without content parts, because the API refuses empty ones. Asks the
 * provider to cache the conversation up to each of the last user messages. */
static void anthropic_finish_messages(json_t *messages)
{
	int left = CACHED_MESSAGES;

	for (size_t i = json_array_size(messages); i-- > 0;) {
		json_t *message = json_array_get(messages, i);
		json_t *parts = json_object_get(message, "content");

		if (json_array_size(parts) == 0)
			anthropic_add_text(parts, "(nothing)");
		if (left > 0 &&
				str_eq(json_string_value(json_object_get(message, "role")),
						"user")) {
			anthropic_mark_cached(parts);
			left--;
		}
	}
}

static void anthropic_write_messages(json_t *body, const struct chat_request *chat)
{
	json_t *prompt = json_array(), *messages = json_array();
	size_t i = 0;

	for (; i < chat->n_messages && chat->messages[i].role == CHAT_SYSTEM; i++)
		anthropic_add_text(prompt, chat->messages[i].content);
	anthropic_mark_cached(prompt);
	if (json_array_size(prompt))
		json_object_set(body, "system", prompt);
	json_decref(prompt);
	if (i == chat->n_messages || chat->messages[i].role == CHAT_ASSISTANT)
		anthropic_add_text(anthropic_parts_for(messages, "user"), "Begin.");
	for (; i < chat->n_messages; i++) {
		bool own = chat->messages[i].role == CHAT_ASSISTANT;

		anthropic_add_message(anthropic_parts_for(messages, own ? "assistant" : "user"),
				&chat->messages[i]);
	}
	anthropic_finish_messages(messages);
	json_object_set_new(body, "messages", messages);
}

static int anthropic_write(
		const struct dialect_request *request, json_t **out, struct fh_error *err)
{
	const struct chat_options *options = request->options;
	/* Send top_p with temperature only to models of Claude 3; later ones accept only one of the
	 * two. */
	bool both = str_starts(request->model, "claude-3-");
	int64_t most = options->max_tokens ? options->max_tokens : DEFAULT_TOKENS;
	auto_json json_t *body = json_object();
	int r;

	json_object_set_new(body, "model", json_text(request->model));
	json_object_set_new(body, "max_tokens", json_integer(most));
	if (options->temperature >= 0)
		json_object_set_new(body, "temperature", json_real(options->temperature));
	if (options->top_p >= 0 && (both || options->temperature < 0))
		json_object_set_new(body, "top_p", json_real(options->top_p));
	dialect_write_stop(body, options, "stop_sequences");
	if (options->stream)
		json_object_set_new(body, "stream", json_true());
	anthropic_write_messages(body, request->chat);
	r = dialect_write_tools(body, request->chat, "input_schema", false, err);
	if (r < 0)
		return r;
	*out = take_ptr(body);
	return 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

static const struct reply_reason anthropic_reasons[] = {
	{ "max_tokens", CHAT_STOP_LENGTH },
	{ "model_context_window_exceeded", CHAT_STOP_LENGTH },
	{ "tool_use", CHAT_STOP_TOOLS },
	{ "refusal", CHAT_STOP_FILTER },
};

/* Reads the numbers of tokens from an answer. Anthropic's input_tokens leave out cached tokens;
 * reply.sent must include them. */
static void anthropic_read_usage(struct reply *r, const json_t *usage)
{
	int64_t fresh = r->sent < 0 ? -1 : r->sent - r->cached - r->stored;

	reply_count(usage, "input_tokens", &fresh);
	reply_count(usage, "cache_read_input_tokens", &r->cached);
	reply_count(usage, "cache_creation_input_tokens", &r->stored);
	reply_count(usage, "output_tokens", &r->received);
	if (fresh >= 0)
		r->sent = fresh + r->cached + r->stored;
}

/* Keeps a thought that the provider signed in reply.keep: after a tool call it wants the thought
 * back unchanged. */
static int anthropic_keep_block(struct reply *r, const json_t *block, struct fh_error *err)
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

/* Completes a thought that the provider signed in reply.keep, from the pieces that a stream
 * sent. */
static void anthropic_keep_pieces(struct reply *r)
{
	json_t *kept = json_array_get(r->keep, json_array_size(r->keep) - 1);

	if (kept && r->kept_thinking.len)
		json_object_set_new(kept, "thinking", json_text(buf_str(&r->kept_thinking)));
	if (kept && r->kept_signature.len)
		json_object_set_new(kept, "signature", json_text(buf_str(&r->kept_signature)));
	buf_clear(&r->kept_thinking);
	buf_clear(&r->kept_signature);
}

static int anthropic_read_use(struct reply *r, int64_t index, const json_t *block, bool whole,
		struct fh_error *err)
{
	json_t *input = json_object_get(block, "input");
	struct reply_use *use;
	int ret = reply_use(r, index, &use, err);

	if (ret < 0)
		return ret;
	ret = reply_add(r, &use->id, json_object_get(block, "id"), err);
	if (ret < 0)
		return ret;
	ret = reply_add(r, &use->name, json_object_get(block, "name"), err);
	if (ret < 0 || !whole || !input)
		/* wait for later events of the stream: they bring the tool call's arguments */
		return ret;
	return reply_add_json(r, &use->arguments, input, err);
}

/* Reads one part ("block") of a model's reply; in a stream, reads the part's first piece. */
static int anthropic_read_block(struct reply *r, int64_t index, const json_t *block, bool whole,
		struct fh_error *err)
{
	const char *type = json_string_value(json_object_get(block, "type"));

	if (str_eq(type, "text"))
		return reply_add(r, &r->content, json_object_get(block, "text"), err);
	if (str_eq(type, "tool_use"))
		return anthropic_read_use(r, index, block, whole, err);
	if (str_eq(type, "thinking") || str_eq(type, "redacted_thinking")) {
		int ret = anthropic_keep_block(r, block, err);

		return ret < 0 ? ret
			       : reply_add(r, &r->thinking, json_object_get(block, "thinking"),
						 err);
	}
	return type ? 0 : reply_broken(err, "a part of it has no type");
}

static int anthropic_read(struct reply *r, const json_t *root, struct fh_error *err)
{
	const json_t *blocks = json_object_get(root, "content");
	const json_t *block;
	size_t i;

	if (!json_is_array(blocks))
		return reply_broken(err, "it has no content");
	json_array_foreach(blocks, i, block) {
		int ret = anthropic_read_block(r, (int64_t)i, block, true, err);

		if (ret < 0)
			return ret;
	}
	anthropic_read_usage(r, json_object_get(root, "usage"));
	reply_stop(r, json_object_get(root, "stop_reason"), anthropic_reasons,
			ARRAY_SIZE(anthropic_reasons));
	r->stopped = r->ended = true;
	return 0;
}

static int anthropic_read_delta(
		struct reply *r, int64_t index, const json_t *delta, struct fh_error *err)
{
	const json_t *thinking = json_object_get(delta, "thinking");
	const json_t *arguments = json_object_get(delta, "partial_json");
	struct reply_use *use;
	int ret = reply_add(r, &r->thinking, thinking, err);

	if (ret < 0)
		return ret;
	ret = reply_add(r, &r->kept_thinking, thinking, err);
	if (ret < 0)
		return ret;
	ret = reply_add(r, &r->kept_signature, json_object_get(delta, "signature"), err);
	if (ret < 0)
		return ret;
	ret = reply_add(r, &r->content, json_object_get(delta, "text"), err);
	if (ret < 0 || !json_is_string(arguments))
		return ret;
	ret = reply_use(r, index, &use, err);
	return ret < 0 ? ret : reply_add(r, &use->arguments, arguments, err);
}

static int anthropic_read_event(struct reply *r, const json_t *data, struct fh_error *err)
{
	const char *type = json_string_value(json_object_get(data, "type"));
	const json_t *delta = json_object_get(data, "delta");
	int64_t index = 0;

	if (!type)
		return reply_broken(err, "an event of its stream has no type");
	reply_count(data, "index", &index);
	if (str_eq(type, "message_start"))
		anthropic_read_usage(r, json_object_get(json_object_get(data, "message"), "usage"));
	if (str_eq(type, "content_block_start"))
		return anthropic_read_block(
				r, index, json_object_get(data, "content_block"), false, err);
	if (str_eq(type, "content_block_delta"))
		return anthropic_read_delta(r, index, delta, err);
	if (str_eq(type, "content_block_stop"))
		anthropic_keep_pieces(r);
	if (str_eq(type, "message_delta")) {
		anthropic_read_usage(r, json_object_get(data, "usage"));
		reply_stop(r, json_object_get(delta, "stop_reason"), anthropic_reasons,
				ARRAY_SIZE(anthropic_reasons));
	}
	if (str_eq(type, "message_stop"))
		r->ended = true;
	return 0;
}

const struct dialect dialect_anthropic = {
	.path = "/messages",
	.url = anthropic_url,
	.add_headers = anthropic_add_headers,
	.write = anthropic_write,
	.read = anthropic_read,
	.read_event = anthropic_read_event,
};
