/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent_api.h"

#include "agent/conversation.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/sized.h"
#include "base/str.h"
#include "env/env.h"
#include "env/gym.h"
#include "model/dialects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Chats of fumehood/agent.h: a conversation in public types. */

#define CHAT_JSON_BYTES_MAX (1L << 30)

struct fh_chat {
	struct conversation *conversation;
	const struct fh_recorder *recorder; /* NULL: none */
	bool is_asked;                      /* a turn waits for the model's reply */
	int n_turns;
	/* Results of queries, in the arena, until the conversation changes; NULL: not made. */
	struct arena arena;
	const struct fh_message *messages, *history;
	size_t n_messages, n_history;
	const char *json, *history_json;
};

/* Forgets the results of queries. Call it before the conversation changes. */
static void chat_forget(struct fh_chat *chat)
{
	arena_release(&chat->arena);
	chat->messages = chat->history = NULL;
	chat->json = chat->history_json = NULL;
}

/* --- opening ---------------------------------------------------------------------------------- */

int fh_chat_open(const struct fh_agent *agent, const struct fh_chat_options *options,
		struct fh_chat **out, struct fh_error *err)
{
	struct conversation *conversation;
	struct fh_chat_options read;
	struct conversation_request request = { .config = agent->config };
	struct fh_env_info info;
	int r;

	err = error_or(err, &(struct fh_error)FH_ERROR_INIT);
	r = SIZED_READ(fh_chat_options, &read, options, err);
	if (r < 0)
		return r;
	if (!read.env)
		return error_say(err, EINVAL, "a chat needs an environment");
	r = gym_check_process(env_gym(read.env), err);
	if (r < 0)
		return r;
	r = read.recorder ? recorder_check_process(read.recorder, err) : 0;
	if (r < 0)
		return r;
	fh_env_info(read.env, &info);
	request.recorder = read.recorder ? read.recorder->events : NULL;
	request.task = env_task(read.env);
	request.max_steps = info.max_steps;
	r = conversation_open(&request, &conversation, err);
	if (r < 0)
		return r;
	*out = xcalloc(1, sizeof(**out));
	(*out)->conversation = conversation;
	(*out)->recorder = read.recorder;
	return 0;
}

void fh_chat_close(struct fh_chat *chat)
{
	if (!chat)
		return;
	conversation_close(chat->conversation);
	arena_release(&chat->arena);
	free(chat);
}

int fh_chat_observe(struct fh_chat *chat, const struct fh_step *step, struct fh_error *err)
{
	int r = chat->recorder ? recorder_check_process(chat->recorder, err) : 0;

	if (r < 0)
		return r;
	if (chat->is_asked)
		return error_say(err, EPROTO, "the turn has no action yet: a reply comes first");
	chat_forget(chat);
	r = conversation_observe(chat->conversation, step, err);
	if (r < 0)
		return r;
	chat->is_asked = true;
	chat->n_turns++;
	return 0;
}

/* --- messages --------------------------------------------------------------------------------- */

const char *fh_role_name(enum fh_role role)
{
	return (unsigned)role <= FH_ROLE_TOOL ? history_role_name((enum chat_role)role) : "unknown";
}

static_assert((int)FH_ROLE_SYSTEM == CHAT_SYSTEM && (int)FH_ROLE_USER == CHAT_USER &&
				(int)FH_ROLE_ASSISTANT == CHAT_ASSISTANT &&
				(int)FH_ROLE_TOOL == CHAT_TOOL,
		"roles have the same numbers");

static struct fh_message chat_copy_message(struct arena *a, const struct chat_message *m)
{
	struct fh_tool_call *calls = arena_array(a, m->n_uses + 1, sizeof(*calls));

	for (size_t i = 0; i < m->n_uses; i++)
		calls[i] = (struct fh_tool_call){ m->uses[i].id, m->uses[i].name,
			m->uses[i].arguments };
	return (struct fh_message){ .role = (enum fh_role)m->role,
		.content = m->content,
		.calls = calls,
		.n_calls = m->n_uses,
		.call_id = m->use_id };
}

const struct fh_message *fh_chat_messages(struct fh_chat *chat, size_t *out_n)
{
	size_t n;
	const struct chat_message *all = conversation_messages(chat->conversation, &n);
	struct fh_message *own;

	if (!chat->messages) {
		chat->messages = own = arena_array(&chat->arena, n + 1, sizeof(*own));
		chat->n_messages = n;
		for (size_t i = 0; i < n; i++)
			own[i] = chat_copy_message(&chat->arena, &all[i]);
	}
	*out_n = n;
	return chat->messages;
}

const struct fh_message *fh_chat_history(struct fh_chat *chat, size_t *out_n)
{
	const struct history *h = conversation_history(chat->conversation);
	struct fh_message *own;

	if (!chat->history) {
		chat->history = own = arena_array(&chat->arena, h->n + 1, sizeof(*own));
		for (size_t i = 0; i < h->n; i++) {
			own[i] = chat_copy_message(&chat->arena, &h->items[i].message);
			own[i].thought = h->items[i].thought;
			own[i].action = h->items[i].action;
			own[i].is_demo = h->items[i].is_demo;
		}
	}
	*out_n = h->n;
	return chat->history;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static const char *chat_write_json(struct fh_chat *chat, json_t *list)
{
	auto_buf struct buf text = BUF_INIT(CHAT_JSON_BYTES_MAX);

	json_add(&text, list, false);
	return text.truncated ? NULL : arena_strdup(&chat->arena, buf_str(&text));
}

const char *fh_chat_json(struct fh_chat *chat)
{
	auto_json json_t *list = NULL;
	const struct chat_message *all;
	size_t n;

	if (chat->json)
		return chat->json;
	all = conversation_messages(chat->conversation, &n);
	list = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, openai_write_message(&all[i]));
	chat->json = chat_write_json(chat, list);
	return chat->json;
}

const char *fh_chat_history_json(struct fh_chat *chat)
{
	const struct history *h = conversation_history(chat->conversation);
	auto_json json_t *list = NULL;

	if (chat->history_json)
		return chat->history_json;
	list = json_array();
	for (size_t i = 0; i < h->n; i++) {
		const struct history_item *item = &h->items[i];
		json_t *message = openai_write_message(&item->message);

		if (item->thought)
			json_object_set_new(message, "thought", json_text(item->thought));
		if (item->action)
			json_object_set_new(message, "action", json_text(item->action));
		if (item->is_demo)
			json_object_set_new(message, "is_demo", json_true());
		json_array_append_new(list, message);
	}
	chat->history_json = chat_write_json(chat, list);
	return chat->history_json;
}

/* --- replies ---------------------------------------------------------------------------------- */

static int chat_check_size(const char *text, size_t *bytes, struct fh_error *err)
{
	*bytes += strlen(text);
	if (*bytes > REPLY_BYTES_MAX)
		return error_say(err, E2BIG, "a reply of more than %ld MiB", REPLY_BYTES_MAX >> 20);
	return 0;
}

static int chat_check_utf8(const char *text, struct fh_error *err)
{
	if (str_utf8_invalid(text, strlen(text)) >= 0)
		return error_say(err, EINVAL, "the reply is not UTF-8");
	return 0;
}

static int chat_check_text(const char *text, size_t *bytes, struct fh_error *err)
{
	int r = chat_check_size(text, bytes, err);

	return r < 0 ? r : chat_check_utf8(text, err);
}

static int chat_check_use(const struct chat_use *use, size_t *bytes, struct fh_error *err)
{
	const char *const texts[] = { use->id, use->name, use->arguments };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		int r = chat_check_text(texts[i], bytes, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Copies a reply of the caller. A tool call without an id gets one, because its result names it. */
static int chat_read_reply(struct arena *a, const struct fh_reply *reply, int turn,
		struct chat_reply *out, struct fh_error *err)
{
	struct chat_use *uses = arena_array(a, reply->n_calls + 1, sizeof(*uses));
	const char *content = reply->content ? reply->content : "";
	size_t bytes = 0;
	/* Allow text that is not UTF-8 here: the conversation complains to the model about it. */
	int r = chat_check_size(content, &bytes, err);

	if (r < 0)
		return r;
	if (reply->n_calls > REPLY_USES_MAX)
		return error_say(err, E2BIG, "a reply of more than %d tool calls", REPLY_USES_MAX);
	for (size_t i = 0; i < reply->n_calls; i++) {
		const struct fh_tool_call *call = &reply->calls[i];

		uses[i].id = call->id && *call->id ? call->id
						   : arena_printf(a, "call_%d_%zu", turn, i);
		uses[i].name = call->name ? call->name : "";
		uses[i].arguments = call->arguments && *call->arguments ? call->arguments : "{}";
		r = chat_check_use(&uses[i], &bytes, err);
		if (r < 0)
			return r;
	}
	*out = (struct chat_reply){ .content = content, .uses = uses, .n_uses = reply->n_calls };
	return 0;
}

static int chat_check_asked(const struct fh_chat *chat, struct fh_error *err)
{
	if (!chat->is_asked)
		return error_say(err, EPROTO, "no turn waits for a reply: observe a step first");
	return chat->recorder ? recorder_check_process(chat->recorder, err) : 0;
}

/* Ends the turn: the reply becomes a message. */
static int chat_take(struct fh_chat *chat, const struct conversation_verdict *verdict,
		struct fh_decision *out, struct fh_error *err)
{
	struct model_turn turn;
	int r = conversation_take(chat->conversation, &turn, err);

	if (r < 0)
		return r;
	chat->is_asked = false;
	*out = (struct fh_decision){
		.kind = verdict->kind,
		.fault = verdict->fault,
		.action = turn.action,
		.thought = turn.thought,
		.response = turn.response,
		.complaint = verdict->complaint,
		.beside_bytes = (int64_t)(json_text_bytes(turn.response) +
				json_text_bytes(turn.thought)),
	};
	return 0;
}

int fh_chat_reply(struct fh_chat *chat, const struct fh_reply *reply, struct fh_decision *out,
		struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct conversation_verdict verdict;
	struct chat_reply own;
	struct fh_reply read;
	int r = chat_check_asked(chat, err);

	if (r < 0)
		return r;
	r = SIZED_READ(fh_reply, &read, reply, err);
	if (r < 0)
		return r;
	r = chat_read_reply(&arena, &read, chat->n_turns, &own, err);
	if (r < 0)
		return r;
	chat_forget(chat);
	r = conversation_reply(chat->conversation, &own, &verdict, err);
	if (r < 0)
		return r;
	if (verdict.kind != FH_DECISION_ASK_AGAIN)
		return chat_take(chat, &verdict, out, err);
	*out = (struct fh_decision){
		.kind = verdict.kind, .fault = verdict.fault, .complaint = verdict.complaint
	};
	return 0;
}

/* Passes on a message in OpenAI's form as a reply. */
static int chat_reply_read(struct fh_chat *chat, const struct reply *read, struct fh_decision *out,
		struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct fh_tool_call *calls = arena_array(&arena, read->n_uses + 1, sizeof(*calls));

	for (size_t i = 0; i < read->n_uses; i++)
		calls[i] = (struct fh_tool_call){ buf_str(&read->uses[i].id),
			buf_str(&read->uses[i].name), buf_str(&read->uses[i].arguments) };
	return fh_chat_reply(chat,
			&FH_REPLY(.content = buf_str(&read->content), .calls = calls,
					.n_calls = read->n_uses),
			out, err);
}

int fh_chat_reply_json(struct fh_chat *chat, const char *json, size_t n, struct fh_decision *out,
		struct fh_error *err)
{
	__attribute__((cleanup(reply_release))) struct reply read;
	auto_json json_t *message = NULL;
	const char *role;
	int r = json_parse("reply", json, n, &message, err);

	reply_init(&read);
	if (r < 0)
		return r;
	role = json_string_value(json_object_get(message, "role"));
	if (!json_is_object(message) || (role && !str_eq(role, "assistant")))
		return error_say(err, EINVAL, "a reply is an object with the role 'assistant'");
	r = openai_read_message(&read, message, true, err);
	return r < 0 ? r : chat_reply_read(chat, &read, out, err);
}

int fh_chat_act(struct fh_chat *chat, const char *action, const char *text, struct fh_decision *out,
		struct fh_error *err)
{
	const struct conversation_verdict verdict = { FH_DECISION_ACTION, FH_FAULT_NONE, NULL };
	size_t bytes = 0;
	int r = chat_check_asked(chat, err);

	if (r < 0)
		return r;
	if (!action)
		return error_say(err, EINVAL, "an action needs a text");
	text = text ? text : "";
	r = chat_check_text(action, &bytes, err);
	if (r < 0)
		return r;
	r = chat_check_text(text, &bytes, err);
	if (r < 0)
		return r;
	chat_forget(chat);
	conversation_act(chat->conversation,
			&(struct model_turn){
					.action = action, .thought = text, .response = text });
	return chat_take(chat, &verdict, out, err);
}

/* --- parsers ---------------------------------------------------------------------------------- */

int fh_reply_parse(const char *name, const struct fh_reply *reply, struct fh_parsed *out,
		struct fh_error *err)
{
	const struct commands none = { 0 };
	auto_arena struct arena arena = ARENA_INIT;
	const struct output_parser *parser;
	struct chat_reply own;
	struct fh_reply read;
	struct parsed parsed;
	int r = SIZED_READ(fh_reply, &read, reply, err);

	if (r < 0)
		return r;
	parser = output_parser_find(name ? name : "", err);
	if (!parser)
		return -EINVAL;
	r = chat_read_reply(&arena, &read, 0, &own, err);
	if (r < 0)
		return r;
	r = chat_check_utf8(own.content, err);
	if (r < 0)
		return r;
	r = output_parse(parser, &arena, &own, &none, &parsed, err);
	if (r < 0)
		return r;
	*out = (struct fh_parsed){ xstrdup(parsed.thought), xstrdup(parsed.action) };
	return 0;
}

void fh_parsed_release(struct fh_parsed *parsed)
{
	free(parsed->thought);
	free(parsed->action);
	*parsed = (struct fh_parsed){ 0 };
}
