/* SPDX-License-Identifier: Apache-2.0 */
#include "run/foreign_messages.h"

#include "base/scope.h"
#include "base/str.h"

#include <string.h>

#define MESSAGES_TEXT_BYTES_MAX (60L << 20)

void foreign_messages_release(struct foreign_messages *m)
{
	for (size_t i = 0; i < FOREIGN_CONVERSATIONS; i++)
		json_decref(m->lists[i]);
}

/* --- texts ------------------------------------------------------------------------------------ */

static void messages_add(struct buf *out, json_t *value)
{
	if (out->len)
		buf_add_char(out, '\n');
	if (json_is_string(value))
		buf_add(out, json_string_value(value), json_string_length(value));
	else
		json_add(out, value, false);
}

/* Returns true for a part of a message that calls a tool. */
static bool messages_is_use(const json_t *part)
{
	return str_eq(json_string_value(json_object_get(part, "type")), "tool_use");
}

/* Returns true for a part of a message that is the result of a tool, as Anthropic has it. */
static bool messages_is_result(const json_t *part)
{
	return str_eq(json_string_value(json_object_get(part, "type")), "tool_result");
}

/* Appends a message's text. Parts without a text, such as images, are appended as JSON. */
static void messages_add_content(struct buf *out, json_t *content)
{
	json_t *part;
	size_t i;

	if (json_is_string(content))
		messages_add(out, content);
	json_array_foreach(content, i, part) {
		json_t *text = json_object_get(part, "text");

		if (messages_is_result(part))
			messages_add_content(out, json_object_get(part, "content"));
		else if (!messages_is_use(part))
			messages_add(out, json_is_string(text) ? text : part);
	}
}

/* Appends the tool calls of a message as JSON, one a line. */
static void messages_add_uses(struct buf *out, const json_t *message)
{
	json_t *part;
	size_t i;

	json_array_foreach(json_object_get(message, "tool_calls"), i, part) {
		json_t *function = json_object_get(part, "function");

		messages_add(out, function ? function : part);
	}
	json_array_foreach(json_object_get(message, "content"), i, part)
		if (messages_is_use(part))
			messages_add(out, part);
}

/* --- tool calls ------------------------------------------------------------------------------- */

/* The record of a message. Strings live in the arena. */
struct messages_record {
	struct arena arena;
	struct recorder_message message;
	struct recorder_use *uses;
};

static void scope_messages_record(struct messages_record *r)
{
	arena_release(&r->arena);
}

#define auto_messages_record __attribute__((cleanup(scope_messages_record)))

static const char *messages_text(struct arena *a, json_t *value)
{
	auto_buf struct buf out = BUF_INIT(MESSAGES_TEXT_BYTES_MAX);

	if (value)
		messages_add(&out, value);
	return arena_strdup(a, buf_str(&out));
}

static void messages_take_use(
		struct messages_record *r, const char *id, const char *name, const char *arguments)
{
	struct recorder_message *m = &r->message;

	r->uses = arena_grow(&r->arena, r->uses, m->n_uses, sizeof(*r->uses));
	r->uses[m->n_uses++] = (struct recorder_use){ id, name, arguments };
	m->uses = r->uses;
}

/* Takes a message's tool calls, in the form of OpenAI or Anthropic. A message with a tool's result
 * has the id of its call. */
static void messages_take_tools(struct messages_record *r, const json_t *message)
{
	struct arena *a = &r->arena;
	const json_t *part;
	size_t i;

	r->message.use_id = json_string_value(json_object_get(message, "tool_call_id"));
	json_array_foreach(json_object_get(message, "tool_calls"), i, part) {
		const json_t *function = json_object_get(part, "function");

		messages_take_use(r, messages_text(a, json_object_get(part, "id")),
				messages_text(a, json_object_get(function, "name")),
				messages_text(a, json_object_get(function, "arguments")));
	}
	json_array_foreach(json_object_get(message, "content"), i, part) {
		if (messages_is_use(part))
			messages_take_use(r, messages_text(a, json_object_get(part, "id")),
					messages_text(a, json_object_get(part, "name")),
					messages_text(a, json_object_get(part, "input")));
		else if (messages_is_result(part))
			r->message.use_id = json_string_value(json_object_get(part, "tool_use_id"));
	}
}

/* JSON list of the tools on offer, in OpenAI's form. NULL: there are none. */
static const char *messages_tools(struct arena *a, const json_t *request)
{
	auto_json json_t *list = json_array();
	json_t *tool;
	size_t i;

	json_array_foreach(json_object_get(request, "tools"), i, tool) {
		json_t *schema = json_object_get(tool, "input_schema");

		if (json_object_get(tool, "function"))
			json_array_append(list, tool);
		else if (schema)
			json_array_append_new(list,
					json_pack("{s:s, s:{s:O*, s:O*, s:O}}", "type", "function",
							"function", "name",
							json_object_get(tool, "name"),
							"description",
							json_object_get(tool, "description"),
							"parameters", schema));
	}
	return json_array_size(list) ? messages_text(a, list) : NULL;
}

/* --- records ---------------------------------------------------------------------------------- */

static int messages_record_text(struct recorder *recorder, struct messages_record *r,
		const struct buf *text, const struct buf *uses, struct fh_error *err)
{
	auto_buf struct buf whole = BUF_INIT(MESSAGES_TEXT_BYTES_MAX);
	struct recorder_message *m = &r->message;
	bool is_assistant = str_eq(m->role, "assistant");

	buf_add(&whole, buf_str(text), text->len);
	if (uses->len)
		buf_printf(&whole, "%s%s", whole.len ? "\n" : "", buf_str(uses));
	m->content = buf_str(&whole);
	m->thought = is_assistant ? buf_str(text) : NULL;
	m->action = is_assistant ? buf_str(uses) : NULL;
	return recorder_message(recorder, m, err);
}

/* Records a message. A .traj knows three roles. `request` is that of a conversation's first
 * message, else NULL. */
static int messages_record_one(struct recorder *recorder, const char *role, const json_t *message,
		const json_t *request, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(MESSAGES_TEXT_BYTES_MAX),
			    uses = BUF_INIT(MESSAGES_TEXT_BYTES_MAX);
	auto_messages_record struct messages_record r = { 0 };

	if (str_eq(role, "developer"))
		role = "system";
	if (!str_eq(role, "system") && !str_eq(role, "assistant"))
		role = "user";
	r.message.role = role;
	r.message.tools = messages_tools(&r.arena, request);
	messages_take_tools(&r, message);
	messages_add_content(&text, json_object_get(message, "content"));
	messages_add_uses(&uses, message);
	return messages_record_text(recorder, &r, &text, &uses, err);
}

/* True if a message has a result of a tool beside other parts. A record has one result at most. */
static bool messages_is_mixed(const json_t *message)
{
	const json_t *content = json_object_get(message, "content"), *part;
	size_t i;

	json_array_foreach(content, i, part)
		if (messages_is_result(part) && json_array_size(content) > 1)
			return true;
	return false;
}

/* Records a message, or each part of a mixed one. */
static int messages_record_all(struct recorder *recorder, const char *role, json_t *message,
		const json_t *request, struct fh_error *err)
{
	json_t *part;
	size_t i;
	int r = 0;

	if (!messages_is_mixed(message))
		return messages_record_one(recorder, role, message, request, err);
	json_array_foreach(json_object_get(message, "content"), i, part) {
		auto_json json_t *one = json_pack("{s:[O]}", "content", part);

		r = messages_record_one(recorder, role, one, i ? NULL : request, err);
		if (r < 0)
			return r;
	}
	return r;
}

static int messages_record_reply(
		struct recorder *recorder, const struct chat_reply *reply, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(MESSAGES_TEXT_BYTES_MAX),
			    uses = BUF_INIT(MESSAGES_TEXT_BYTES_MAX);
	auto_messages_record struct messages_record r = { 0 };

	r.message.role = "assistant";
	buf_add_str(&text, reply->content);
	for (size_t i = 0; i < reply->n_uses; i++) {
		const struct chat_use *use = &reply->uses[i];

		buf_printf(&uses, "%s%s %s", i ? "\n" : "", use->name, use->arguments);
		messages_take_use(&r, use->id, use->name, use->arguments);
	}
	return messages_record_text(recorder, &r, &text, &uses, err);
}

/* Number of messages at the beginning that both lists have. */
static size_t messages_in_common(const json_t *a, const json_t *b)
{
	size_t n = 0;

	while (n < json_array_size(a) && n < json_array_size(b) &&
			json_equal(json_array_get(a, n), json_array_get(b, n)))
		n++;
	return n;
}

/* Finds the conversation that has the most messages in common with the list. Takes the list as its
 * new state. If there is none, the oldest conversation is forgotten. Returns the number of
 * messages in common. */
static size_t messages_take(struct foreign_messages *m, json_t *list, bool *out_replied)
{
	size_t best = FOREIGN_CONVERSATIONS, most = 0;

	for (size_t i = 0; i < FOREIGN_CONVERSATIONS; i++) {
		size_t n = messages_in_common(m->lists[i], list);

		if (n > most) {
			most = n;
			best = i;
		}
	}
	*out_replied = best < FOREIGN_CONVERSATIONS && most == json_array_size(m->lists[best]);
	if (best == FOREIGN_CONVERSATIONS) {
		best = m->next;
		m->next = (m->next + 1) % FOREIGN_CONVERSATIONS;
	}
	json_decref(m->lists[best]);
	m->lists[best] = json_incref(list);
	return most;
}

int foreign_messages_record(struct foreign_messages *m, struct recorder *recorder,
		const json_t *request, const struct chat_reply *reply, int64_t *out_old,
		struct fh_error *err)
{
	json_t *list = json_object_get(request, "messages");
	json_t *orders = json_object_get(request, "system");
	bool replied;
	size_t old = messages_take(m, list, &replied);
	int r;

	*out_old = (int64_t)old;
	if (!old && orders) {
		auto_json json_t *message = json_pack("{s:O}", "content", orders);

		r = messages_record_one(recorder, "system", message, request, err);
		if (r < 0)
			return r;
		request = NULL;
	}
	for (size_t i = old; i < json_array_size(list); i++) {
		json_t *message = json_array_get(list, i);
		const char *role = json_string_value(json_object_get(message, "role"));

		/* Leave out the reply to the last request: it was recorded when it came. */
		if (i == old && replied && str_eq(role, "assistant"))
			continue;
		r = messages_record_all(
				recorder, role ? role : "user", message, i ? NULL : request, err);
		if (r < 0)
			return r;
	}
	return reply ? messages_record_reply(recorder, reply, err) : 0;
}

void foreign_messages_add_request(struct buf *out, json_t *request, int64_t n_old)
{
	json_t *copy = json_copy(request), *rest = json_array();
	const json_t *list = json_object_get(request, "messages");

	for (size_t i = (size_t)n_old; i < json_array_size(list); i++)
		json_array_append(rest, json_array_get(list, i));
	if (list)
		json_object_set(copy, "messages", rest);
	json_add(out, copy, false);
	json_decref(rest);
	json_decref(copy);
}
