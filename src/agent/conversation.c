/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/conversation.h"

#include "agent/native.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Largest message to a model. It has room for an observation of 1 MiB, even if escaping makes it
 * four times as long. */
#define MESSAGE_BYTES_MAX (16L * 1024 * 1024)
/* most times to ask the model again for one action, after replies that can't be run */
#define ASK_AGAIN_MAX 2

struct conversation {
	const struct agent_config *config;
	struct recorder *recorder;
	int max_steps;

	struct arena arena; /* holds the conversation */
	struct history history;
	/* values for the {fields} of the system prompt's template, and of all other templates */
	struct fields system_fields, fields;
	/* n_tools tools offered to the model; none if actions are read from the text of its
	 * replies */
	struct chat_tool *tools;
	size_t n_tools;

	/* state of the current turn, in which the model decides on one action */
	struct arena turn_arena;
	/* n_shown messages, as the history processor shortens them; NULL: not made yet */
	struct chat_message *shown;
	size_t n_shown;
	/* n_messages messages to send: `shown`, maybe with a reply and a complaint at the end */
	struct chat_message *messages;
	size_t n_messages;
	int asked_again;
	bool decided;
	struct parsed parsed;
	struct chat_reply reply; /* last reply, copied into turn_arena */
};

/* --- messages --------------------------------------------------------------------------------- */

/* The tools as OpenAI's files for fine-tuning have them. NULL: there are none. */
static const char *conversation_tools_text(struct conversation *c)
{
	auto_buf struct buf out = BUF_INIT(MESSAGE_BYTES_MAX);
	struct pyjson_writer w = PYJSON_WRITER_INIT(&out, PYJSON_LINE);

	if (!c->n_tools)
		return NULL;
	pyjson_put_array(&w, NULL);
	for (size_t i = 0; i < c->n_tools; i++) {
		pyjson_put_object(&w, NULL);
		pyjson_put_text(&w, "type", "function");
		pyjson_put_object(&w, "function");
		pyjson_put_text(&w, "name", c->tools[i].name);
		pyjson_put_text(&w, "description", c->tools[i].description);
		pyjson_put_written(&w, "parameters", c->tools[i].parameters);
		pyjson_end_object(&w);
		pyjson_end_object(&w);
	}
	pyjson_end_array(&w);
	return arena_strdup(&c->arena, buf_str(&out));
}

static struct recorder_use *conversation_uses(
		struct arena *a, const struct chat_use *uses, size_t n)
{
	struct recorder_use *out = arena_array(a, n + 1, sizeof(*out));

	for (size_t i = 0; i < n; i++)
		out[i] = (struct recorder_use){ uses[i].id, uses[i].name, uses[i].arguments };
	return out;
}

static int conversation_record(
		struct conversation *c, const struct history_item *item, struct fh_error *err)
{
	const struct chat_message *m = &item->message;
	auto_arena struct arena arena = ARENA_INIT;
	struct recorder_message message = {
		.role = history_role_name(m->role),
		.content = m->content,
		.thought = item->thought,
		.action = item->action,
		.is_demo = item->is_demo,
		.is_hint = item->is_hint,
		.uses = conversation_uses(&arena, m->uses, m->n_uses),
		.n_uses = m->n_uses,
		.use_id = m->use_id,
		.tools = c->history.n ? NULL : conversation_tools_text(c),
	};

	return recorder_message(c->recorder, &message, err);
}

static int conversation_add(
		struct conversation *c, const struct history_item *item, struct fh_error *err)
{
	int r = c->recorder ? conversation_record(c, item, err) : 0;

	history_add(&c->history, item);
	return r;
}

static int conversation_add_text(
		struct conversation *c, enum chat_role role, const char *text, struct fh_error *err)
{
	return conversation_add(c,
			&(struct history_item){ .message = { .role = role, .content = text } },
			err);
}

static void conversation_set_state(struct conversation *c, const struct fh_step *step)
{
	fields_set(&c->fields, "open_file", step->open_file ? step->open_file : "n/a");
	fields_set(&c->fields, "working_dir", step->working_dir ? step->working_dir : "");
	if (step->tools_state)
		agent_state_fields(&c->fields, &c->turn_arena, step->tools_state);
	fields_set_number(&c->fields, "current_step", step->step);
	fields_set_number(&c->fields, "remaining_steps", c->max_steps - step->step);
	fields_set(&c->fields, "observation", step->observation ? step->observation : "");
}

static int conversation_render_observation(
		struct conversation *c, struct buf *out, struct fh_error *err)
{
	const char *observation = fields_get(&c->fields, "observation");
	const struct history_item *last = &c->history.items[c->history.n - 1];
	const struct agent_config *k = c->config;
	int r;

	if (last->message.role != CHAT_SYSTEM && !last->is_demo) {
		bool blank = str_is_blank(observation);

		return template_render(out, blank ? &k->no_output : &k->next_step, &c->fields, err);
	}
	r = template_render(out, &k->task, &c->fields, err);
	if (r < 0 || !k->strategy.text)
		return r;
	buf_add_char(out, '\n');
	return template_render(out, &k->strategy, &c->fields, err);
}

static int conversation_add_observation(struct conversation *c, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(MESSAGE_BYTES_MAX);
	/* copy the conversation's last item: conversation_add() may move the array */
	const struct history_item last = c->history.items[c->history.n - 1];
	const struct chat_message *m = &last.message;
	int r = conversation_render_observation(c, &text, err);

	if (r < 0)
		return r;
	if (!m->n_uses || last.is_demo)
		return conversation_add_text(c, CHAT_USER, buf_str(&text), err);
	/* Add a result for each tool call, because providers require it. */
	for (size_t i = 0; i < m->n_uses; i++) {
		const char *result = i ? "Not run: one at a time." : buf_str(&text);
		struct history_item item = {
			.message = { .role = CHAT_TOOL,
					.content = result,
					.use_id = m->uses[i].id },
		};

		r = conversation_add(c, &item, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Fails if a template names an unknown {field}, before a call to the model costs money. If the
 * agent's tools report a state, only templates of complaints are checked: the state adds fields for
 * all others. */
static int conversation_check_templates(struct conversation *c, struct fh_error *err)
{
	const struct agent_config *k = c->config;
	struct fields malformed = { .arena = &c->arena }, blocked = malformed;
	const struct {
		const struct template *template;
		const struct fields *fields;
	} all[] = {
		{ &k->task, &c->fields },
		{ &k->strategy, &c->fields },
		{ &k->next_step, &c->fields },
		{ &k->no_output, &c->fields },
		{ &k->format_error, &malformed },
		{ &k->blocked, &blocked },
	};

	conversation_set_state(c, &(struct fh_step){ .step = 0 });
	if (k->keys.tools.state_command.name)
		c->fields.state = FIELDS_AWAIT_STATE;
	fields_add(&malformed, &c->system_fields);
	fields_set(&malformed, "why", "");
	fields_add(&blocked, &c->system_fields);
	fields_set(&blocked, "name", "");
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		auto_buf struct buf text = BUF_INIT(MESSAGE_BYTES_MAX);
		int r = template_render(&text, all[i].template, all[i].fields, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int conversation_begin(struct conversation *c, bool is_replay, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(MESSAGE_BYTES_MAX);
	struct history demos = { .arena = &c->arena };
	int r = template_render(&text, &c->config->system_message, &c->system_fields, err);

	if (r < 0)
		return r;
	r = conversation_add_text(c, CHAT_SYSTEM, buf_str(&text), err);
	if (r < 0)
		return r;
	r = agent_add_demonstrations(c->config, is_replay, &demos, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < demos.n; i++) {
		r = conversation_add(c, &demos.items[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

static void scope_conversation(struct conversation **c)
{
	conversation_close(*c);
}

int conversation_open(const struct conversation_request *request, struct conversation **out,
		struct fh_error *err)
{
	__attribute__((cleanup(scope_conversation))) struct conversation *c =
			xcalloc(1, sizeof(*c));
	const struct text_map *variables = &request->config->keys.tools.env_variables;
	int r;

	c->config = request->config;
	c->recorder = request->recorder;
	c->max_steps = request->max_steps;
	c->history.arena = c->system_fields.arena = c->fields.arena = &c->arena;
	agent_task_fields(&c->system_fields, request->task);
	for (size_t i = 0; i < variables->n; i++)
		fields_set(&c->system_fields, variables->pairs[i].key, variables->pairs[i].value);
	fields_set(&c->system_fields, "command_docs", c->config->command_docs);
	fields_add(&c->fields, &c->system_fields);
	if (c->config->parser->wants_tools)
		c->tools = command_tools(&c->arena, &c->config->commands, &c->n_tools);
	r = conversation_check_templates(c, err);
	if (r < 0)
		return r;
	if (request->past && request->past->n) {
		agent_add_past(request->past, c->tools != NULL, &c->history);
	} else {
		r = conversation_begin(c, request->is_replay, err);
		if (r < 0)
			return r;
	}
	*out = take_ptr(c);
	return 0;
}

void conversation_close(struct conversation *c)
{
	if (!c)
		return;
	arena_release(&c->turn_arena);
	arena_release(&c->arena);
	free(c);
}

int conversation_observe(struct conversation *c, const struct fh_step *step, struct fh_error *err)
{
	arena_release(&c->turn_arena);
	c->shown = c->messages = NULL;
	c->decided = false;
	c->asked_again = 0;
	conversation_set_state(c, step);
	if (c->fields.state == FIELDS_AWAIT_STATE)
		c->fields.state = FIELDS_HAVE_STATE;
	return conversation_add_observation(c, err);
}

/* --- what is sent ----------------------------------------------------------------------------- */

static void conversation_show(struct conversation *c)
{
	if (c->shown)
		return;
	c->shown = c->messages = history_shown(
			&c->history, c->config->processor, &c->config->args, &c->turn_arena);
	c->n_shown = c->n_messages = c->history.n;
}

const struct chat_message *conversation_messages(struct conversation *c, size_t *out_n)
{
	conversation_show(c);
	*out_n = c->n_messages;
	return c->messages;
}

const struct history *conversation_history(const struct conversation *c)
{
	return &c->history;
}

const struct chat_tool *conversation_tools(const struct conversation *c, size_t *out_n)
{
	*out_n = c->n_tools;
	return c->tools;
}

/* --- replies ---------------------------------------------------------------------------------- */

/* Adds the malformed reply and the complaint about it to the messages to send. */
static void conversation_ask_again(struct conversation *c, const char *complaint)
{
	const struct chat_reply *reply = &c->reply;
	struct chat_message *m;
	size_t n;

	conversation_show(c);
	n = c->n_shown;
	m = arena_array(&c->turn_arena, n + 1 + reply->n_uses + 1, sizeof(*m));
	memcpy(m, c->shown, n * sizeof(*m));
	m[n++] = (struct chat_message){ .role = CHAT_ASSISTANT,
		.content = reply->content,
		.uses = reply->uses,
		.n_uses = reply->n_uses };
	for (size_t i = 0; i < reply->n_uses; i++)
		m[n++] = (struct chat_message){
			.role = CHAT_TOOL, .content = complaint, .use_id = reply->uses[i].id
		};
	if (!reply->n_uses)
		m[n++] = (struct chat_message){ .role = CHAT_USER, .content = complaint };
	c->messages = m;
	c->n_messages = n;
}

/* The text and the tool calls of the reply. Lives until the next turn. */
static const char *conversation_reply_text(struct conversation *c)
{
	auto_buf struct buf text = BUF_INIT(MESSAGE_BYTES_MAX);
	const struct chat_reply *reply = &c->reply;

	buf_add_str(&text, reply->content);
	for (size_t i = 0; i < reply->n_uses; i++)
		buf_printf(&text, "%s%s %s", text.len ? "\n" : "", reply->uses[i].name,
				reply->uses[i].arguments);
	return arena_strdup(&c->turn_arena, buf_str(&text));
}

static int conversation_record_fault(struct conversation *c,
		const struct conversation_verdict *verdict, struct fh_error *err)
{
	const struct recorder_fault fault = {
		.kind = verdict->fault == FH_FAULT_BLOCKED ? "blocked" : "format",
		.response = c->reply.content,
		.uses = conversation_uses(&c->turn_arena, c->reply.uses, c->reply.n_uses),
		.n_uses = c->reply.n_uses,
		.complaint = verdict->complaint,
	};

	return c->recorder ? recorder_fault(c->recorder, &fault, err) : 0;
}

/* Complains about a reply. The text is made from `template`. It may use the system prompt's fields,
 * and the field named `field` with the value `value`. */
static int conversation_complain(struct conversation *c, const struct template *template,
		const char *field, const char *value, struct conversation_verdict *out,
		struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(MESSAGE_BYTES_MAX);
	struct fields fields = { .arena = &c->turn_arena };
	int r;

	fields_add(&fields, &c->system_fields);
	fields_set(&fields, field, value);
	r = template_render(&text, template, &fields, err);
	if (r < 0)
		return r;
	out->fault = template == &c->config->blocked ? FH_FAULT_BLOCKED : FH_FAULT_FORMAT;
	out->complaint = arena_strdup(&c->turn_arena, buf_str(&text));
	out->reply = conversation_reply_text(c);
	r = conversation_record_fault(c, out, err);
	if (r < 0)
		return r;
	if (c->asked_again++ == ASK_AGAIN_MAX) {
		out->kind = FH_DECISION_GIVE_UP;
		/* The last reply is recorded with its tool calls, as MLGym does. */
		conversation_act(c,
				&(struct model_turn){ .action = "exit_format",
						.thought = "None of the model's replies could be run.",
						.response = out->reply });
	} else {
		out->kind = FH_DECISION_ASK_AGAIN;
		conversation_ask_again(c, out->complaint);
	}
	return 0;
}

/* Copies a reply's text. A byte that is not UTF-8 becomes \xNN, so that the reply can be shown and
 * recorded. Returns false if there was one. */
static bool conversation_copy_content(struct conversation *c, const char *content)
{
	auto_buf struct buf text = BUF_INIT(4 * strlen(content) + 1);

	str_add_utf8(&text, content, strlen(content));
	c->reply.content = arena_strdup(&c->turn_arena, buf_str(&text));
	return str_utf8_invalid(content, strlen(content)) < 0;
}

int conversation_reply(struct conversation *c, const struct chat_reply *reply,
		struct conversation_verdict *out, struct fh_error *err)
{
	const struct agent_config *k = c->config;
	struct arena *arena = &c->turn_arena;
	struct fh_error why;
	const char *name;
	bool valid;

	*out = (struct conversation_verdict){ .kind = FH_DECISION_ACTION };
	c->reply = *reply;
	valid = conversation_copy_content(c, reply->content);
	c->reply.uses = history_copy_uses(arena, reply->uses, reply->n_uses);
	if (!valid)
		return conversation_complain(c, &k->format_error, "why",
				"the reply has bytes that are not text", out, err);
	if (output_parse(k->parser, arena, &c->reply, &k->commands, &c->parsed, &why) < 0)
		return conversation_complain(c, &k->format_error, "why", why.message, out, err);
	if (strlen(c->parsed.action) > FH_ACTION_BYTES_MAX) {
		error_say(&why, E2BIG, "a command has at most %d bytes", FH_ACTION_BYTES_MAX);
		return conversation_complain(c, &k->format_error, "why", why.message, out, err);
	}
	if (agent_config_blocks(k, c->parsed.action, arena, &name))
		return conversation_complain(c, &k->blocked, "name", name, out, err);
	c->decided = true;
	return 0;
}

static const char *conversation_copy(struct conversation *c, const char *text)
{
	return text ? arena_strdup(&c->turn_arena, text) : NULL;
}

void conversation_act(struct conversation *c, const struct model_turn *turn)
{
	const char *response = turn->response ? turn->response : "";

	c->parsed = (struct parsed){ .thought = conversation_copy(c, turn->thought),
		.action = conversation_copy(c, turn->action) };
	c->reply = (struct chat_reply){ .content = conversation_copy(c, response) };
	c->decided = true;
}

int conversation_hint(struct conversation *c, const char *text, struct fh_error *err)
{
	c->shown = c->messages = NULL;
	return conversation_add(c,
			&(struct history_item){ .message = { .role = CHAT_USER, .content = text },
					.is_hint = true },
			err);
}

bool conversation_is_decided(const struct conversation *c)
{
	return c->decided;
}

int conversation_take(struct conversation *c, struct model_turn *out, struct fh_error *err)
{
	struct history_item said = {
		.message = { .role = CHAT_ASSISTANT,
				.content = c->reply.content,
				.uses = c->reply.uses,
				.n_uses = c->reply.n_uses },
		.thought = c->parsed.thought,
		.action = c->parsed.action,
	};

	*out = (struct model_turn){ .action = c->parsed.action,
		.response = c->reply.content,
		.thought = c->parsed.thought };
	c->shown = c->messages = NULL;
	return conversation_add(c, &said, err);
}
