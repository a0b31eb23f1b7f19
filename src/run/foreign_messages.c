/* SPDX-License-Identifier: Apache-2.0 */
#include "run/foreign_messages.h"

#include "base/scope.h"
#include "base/str.h"

#include <string.h>

#define TEXT_BYTES_MAX (60L << 20)

void foreign_messages_release(struct foreign_messages *m)
{
	for (size_t i = 0; i < FOREIGN_CONVERSATIONS; i++)
		json_decref(m->lists[i]);
}

/* --- texts ------------------------------------------------------------------------------------ */

static void messages_add(struct buf *out, const json_t *value)
{
	if (out->len)
		buf_add_char(out, '\n');
	if (json_is_string(value))
		buf_add(out, json_string_value(value), json_string_length(value));
	else
		json_add(out, (json_t *)(uintptr_t)value, false);
}

/* Returns true for a part of a message that calls a tool. */
static bool messages_is_use(const json_t *part)
{
	return str_eq(json_string_value(json_object_get(part, "type")), "tool_use");
}

/* Appends a message's text. Parts without a text, such as images, are appended as JSON. */
static void messages_add_content(struct buf *out, const json_t *content)
{
	const json_t *part;
	size_t i;

	if (json_is_string(content))
		messages_add(out, content);
	json_array_foreach(content, i, part) {
		const json_t *text = json_object_get(part, "text");

		if (!messages_is_use(part))
			messages_add(out, json_is_string(text) ? text : part);
	}
}

/* Appends the tool calls of a message as JSON, one a line. */
static void messages_add_uses(struct buf *out, const json_t *message)
{
	const json_t *part;
	size_t i;

	json_array_foreach(json_object_get(message, "tool_calls"), i, part) {
		const json_t *function = json_object_get(part, "function");

		messages_add(out, function ? function : part);
	}
	json_array_foreach(json_object_get(message, "content"), i, part)
		if (messages_is_use(part))
			messages_add(out, part);
}

/* --- records ---------------------------------------------------------------------------------- */

static int messages_record_text(struct recorder *recorder, const char *role, const struct buf *text,
		const struct buf *uses, struct fh_error *err)
{
	auto_buf struct buf whole = BUF_INIT(TEXT_BYTES_MAX);
	bool is_assistant = str_eq(role, "assistant");

	buf_add(&whole, buf_str(text), text->len);
	if (uses->len)
		buf_printf(&whole, "%s%s", whole.len ? "\n" : "", buf_str(uses));
	return recorder_message(recorder,
			&(struct recorder_message){
					.role = role,
					.content = buf_str(&whole),
					.thought = is_assistant ? buf_str(text) : NULL,
					.action = is_assistant ? buf_str(uses) : NULL,
			},
			err);
}

/* Records a message. A .traj knows three roles. */
static int messages_record_one(struct recorder *recorder, const char *role, const json_t *message,
		struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(TEXT_BYTES_MAX), uses = BUF_INIT(TEXT_BYTES_MAX);

	if (str_eq(role, "developer"))
		role = "system";
	if (!str_eq(role, "system") && !str_eq(role, "assistant"))
		role = "user";
	messages_add_content(&text, json_object_get(message, "content"));
	messages_add_uses(&uses, message);
	return messages_record_text(recorder, role, &text, &uses, err);
}

static int messages_record_reply(
		struct recorder *recorder, const struct chat_reply *reply, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(TEXT_BYTES_MAX), uses = BUF_INIT(TEXT_BYTES_MAX);

	buf_add_str(&text, reply->content);
	for (size_t i = 0; i < reply->n_uses; i++)
		buf_printf(&uses, "%s%s %s", i ? "\n" : "", reply->uses[i].name,
				reply->uses[i].arguments);
	return messages_record_text(recorder, "assistant", &text, &uses, err);
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
	const json_t *orders = json_object_get(request, "system");
	bool replied;
	size_t old = messages_take(m, list, &replied);
	int r = 0;

	*out_old = (int64_t)old;
	if (!old && orders) {
		auto_json json_t *message =
				json_pack("{s:O}", "content", (json_t *)(uintptr_t)orders);

		r = messages_record_one(recorder, "system", message, err);
	}
	for (size_t i = old; r == 0 && i < json_array_size(list); i++) {
		const json_t *message = json_array_get(list, i);
		const char *role = json_string_value(json_object_get(message, "role"));

		/* Leave out the reply to the last request: it was recorded when it came. */
		if (i == old && replied && str_eq(role, "assistant"))
			continue;
		r = messages_record_one(recorder, role ? role : "user", message, err);
	}
	return r == 0 && reply ? messages_record_reply(recorder, reply, err) : r;
}

void foreign_messages_add_request(struct buf *out, const json_t *request, int64_t n_old)
{
	json_t *copy = json_copy((json_t *)(uintptr_t)request), *rest = json_array();
	const json_t *list = json_object_get(request, "messages");

	for (size_t i = (size_t)n_old; i < json_array_size(list); i++)
		json_array_append(rest, json_array_get(list, i));
	if (list)
		json_object_set(copy, "messages", rest);
	json_add(out, copy, false);
	json_decref(rest);
	json_decref(copy);
}
