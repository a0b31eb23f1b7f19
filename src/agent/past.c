/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/conversation.h"

#include "base/json_text.h"
#include "base/scope.h"
#include "base/str.h"
#include "trajectory/traj.h"

#include <string.h>

#define DEMONSTRATION_BYTES_MAX (4L * 1024 * 1024)
#define ARGUMENTS_BYTES_MAX (64L * 1024 * 1024)

/* --- demonstrations --------------------------------------------------------------------------- */

static bool past_is_system(const struct traj_message *m)
{
	return str_eq(pyjson_text(m->role), "system");
}

static void past_add_messages(const struct traj *t, struct history *h)
{
	for (size_t i = 0; i < t->n_history; i++) {
		const struct traj_message *m = &t->history[i];
		bool assistant = str_eq(pyjson_text(m->role), "assistant");
		struct history_item item = {
			.message = { .role = assistant ? CHAT_ASSISTANT : CHAT_USER,
					.content = pyjson_text(m->content) },
			.thought = assistant ? pyjson_text(m->thought) : NULL,
			.action = assistant ? pyjson_text(m->action) : NULL,
			.is_demo = true,
		};

		if (!past_is_system(m))
			history_add(h, &item);
	}
}

static int past_add_one_message(const struct template *template, const struct traj *t,
		struct history *h, struct fh_error *err)
{
	auto_buf struct buf all = BUF_INIT(DEMONSTRATION_BYTES_MAX);
	auto_buf struct buf out = BUF_INIT(DEMONSTRATION_BYTES_MAX);
	struct fields fields = { .arena = h->arena };
	struct history_item item = { .message = { .role = CHAT_USER }, .is_demo = true };
	int r;

	for (size_t i = 0; i < t->n_history; i++) {
		if (past_is_system(&t->history[i]))
			continue;
		buf_add_str(&all, all.len ? "\n" : "");
		buf_add_str(&all, pyjson_text(t->history[i].content));
	}
	fields_set(&fields, "demonstration", buf_str(&all));
	r = template_render(&out, template, &fields, err);
	if (r < 0)
		return r;
	item.message.content = buf_str(&out);
	history_add(h, &item);
	return 0;
}

int agent_add_demonstrations(const struct agent_config *config, bool recorded, struct history *h,
		struct fh_error *err)
{
	const struct texts *paths = &config->keys.demonstrations;

	for (size_t i = 0; i < paths->n; i++) {
		auto_traj struct traj *t = NULL;
		int r = traj_read(paths->items[i], &t, err);

		if (r < 0)
			return error_wrap(err, "read a demonstration of %s", config->path);
		if (config->keys.put_demos_in_history)
			past_add_messages(t, h);
		else if (!recorded)
			r = past_add_one_message(&config->demonstration, t, h, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- the past of a resumed run ---------------------------------------------------------------- */

static void past_use_shell(
		struct arena *a, struct chat_message *m, const char *id, const char *action)
{
	auto_buf struct buf arguments = BUF_INIT(ARGUMENTS_BYTES_MAX);
	struct chat_use *use = arena_alloc(a, sizeof(*use));

	buf_add_str(&arguments, "{\"command\": ");
	json_text_add(&arguments, action, strlen(action), JSON_TEXT_BYTES);
	buf_add_str(&arguments, "}");
	*use = (struct chat_use){
		.id = id, .name = "bash", .arguments = arena_strdup(a, buf_str(&arguments))
	};
	m->uses = use;
	m->n_uses = 1;
}

/* Takes the tool calls that the message's event has. False: it has none. */
static bool past_use_recorded(struct arena *a, struct chat_message *m, const struct pyjson *calls)
{
	struct chat_use *uses;

	if (!calls || calls->kind != PYJSON_ARRAY || !calls->n)
		return false;
	uses = arena_array(a, calls->n, sizeof(*uses));
	m->uses = uses;
	for (const struct pyjson *v = calls->first; v; v = v->next) {
		const struct pyjson *function = pyjson_get(v, "function");

		uses[m->n_uses++] = (struct chat_use){
			.id = arena_strdup(a, pyjson_text(pyjson_get(v, "id"))),
			.name = arena_strdup(a, pyjson_text(pyjson_get(function, "name"))),
			.arguments = arena_strdup(
					a, pyjson_text(pyjson_get(function, "arguments"))),
		};
	}
	return true;
}

/* True if the result of a tool call follows a message. It does not if a person took the step. */
static bool past_is_answered(const struct conversation_past *past, size_t i)
{
	return i + 1 == past->n || str_eq(pyjson_text(past->messages[i + 1].role), "tool");
}

void agent_add_past(const struct conversation_past *past, bool tools, struct history *h)
{
	/* id of a tool call that awaits its result, if the record lacks ids */
	const char *id = NULL;

	for (size_t i = 0; i < past->n; i++) {
		const struct traj_message *m = &past->messages[i];
		struct history_item item = {
			.message = { .role = history_role(pyjson_text(m->role)),
					.content = pyjson_text(m->content) },
			.thought = m->thought ? pyjson_text(m->thought) : NULL,
			.action = m->action ? pyjson_text(m->action) : NULL,
			.is_demo = m->is_demo && m->is_demo->boolean,
			.is_hint = pyjson_get(m->event, "is_hint") != NULL,
		};

		const char *answered = pyjson_string(pyjson_get(m->event, "tool_call_id"));

		if (item.message.role == CHAT_TOOL && answered && !id) {
			item.message.use_id = arena_strdup(h->arena, answered);
		} else if (item.message.role == CHAT_TOOL) {
			/* If a reply has several tool calls, only the first call's result belongs
			 * to its action. Skip the others. */
			if (!id)
				continue;
			item.message.use_id = take_ptr(id);
		} else if (tools && past_is_answered(past, i) && !item.is_demo &&
				item.message.role == CHAT_ASSISTANT &&
				!past_use_recorded(h->arena, &item.message,
						pyjson_get(m->event, "tool_calls"))) {
			id = arena_printf(h->arena, "resumed_%zu", i);
			past_use_shell(h->arena, &item.message, id, item.action ? item.action : "");
		}
		history_add(h, &item);
	}
}
