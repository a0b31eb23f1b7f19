/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"
#include "agent/native.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Largest message to a model. It has room for an observation of 1 MiB, even if escaping makes it
 * four times as long. */
#define MESSAGE_BYTES_MAX (16L * 1024 * 1024)
/* most times to ask the model again for one action, after replies that can't be run */
#define ASK_AGAIN_MAX 2

struct agent {
	const struct agent_config *config;
	struct chat_model *model;
	struct fh_env *env;
	struct recorder *recorder;
	void *user;
	int max_steps;
	struct model *recorded;
	const struct fh_step *step; /* result of the last reset or step */

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
	struct chat_message *messages; /* messages to send to the model */
	size_t n_messages;
	struct chat_call *call;
	int asked_again;
	bool decided;
	/* why the model gave no reply, for agent_failure(); code 0: no failure */
	struct fh_error failure;
	struct parsed parsed;
	struct chat_reply reply; /* last reply, copied into turn_arena */
};

/* --- messages --------------------------------------------------------------------------------- */

static int agent_add(struct agent *a, const struct history_item *item, struct fh_error *err)
{
	struct recorder_message message = {
		.role = history_role_name(item->message.role),
		.content = item->message.content,
		.thought = item->thought,
		.action = item->action,
		.is_demo = item->is_demo,
	};

	history_add(&a->history, item);
	return a->recorder ? recorder_message(a->recorder, &message, err) : 0;
}

static int agent_add_text(
		struct agent *a, enum chat_role role, const char *text, struct fh_error *err)
{
	return agent_add(a, &(struct history_item){ .message = { .role = role, .content = text } },
			err);
}

static void agent_set_state(struct agent *a, const struct fh_step *step)
{
	const char *tools = a->env ? env_state(a->env) : NULL;

	fields_set(&a->fields, "open_file", step->open_file ? step->open_file : "n/a");
	fields_set(&a->fields, "working_dir", step->working_dir ? step->working_dir : "");
	if (tools)
		agent_state_fields(&a->fields, &a->turn_arena, tools);
	fields_set_number(&a->fields, "current_step", step->step);
	fields_set_number(&a->fields, "remaining_steps", a->max_steps - step->step);
	fields_set(&a->fields, "observation", step->observation ? step->observation : "");
}

static int agent_render_observation(struct agent *a, struct buf *out, struct fh_error *err)
{
	const char *observation = fields_get(&a->fields, "observation");
	const struct history_item *last = &a->history.items[a->history.n - 1];
	const struct agent_config *c = a->config;
	int r;

	if (last->message.role != CHAT_SYSTEM && !last->is_demo) {
		bool blank = str_is_blank(observation);

		return template_render(out, blank ? &c->no_output : &c->next_step, &a->fields, err);
	}
	r = template_render(out, &c->task, &a->fields, err);
	if (r < 0 || !c->strategy.text)
		return r;
	buf_add_char(out, '\n');
	return template_render(out, &c->strategy, &a->fields, err);
}

static int agent_add_observation(struct agent *a, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(MESSAGE_BYTES_MAX);
	/* copy the conversation's last item: agent_add() may move the array */
	const struct history_item last = a->history.items[a->history.n - 1];
	const struct chat_message *m = &last.message;
	int r = agent_render_observation(a, &text, err);

	if (r < 0)
		return r;
	if (!m->n_uses || last.is_demo)
		return agent_add_text(a, CHAT_USER, buf_str(&text), err);
	/* Add a result for each tool call, because providers require it. */
	for (size_t i = 0; i < m->n_uses; i++) {
		const char *result = i ? "Not run: one at a time." : buf_str(&text);
		struct history_item item = {
			.message = { .role = CHAT_TOOL,
					.content = result,
					.use_id = m->uses[i].id },
		};

		r = agent_add(a, &item, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Fails if a template names an unknown {field}, before a call to the model costs money. If the
 * agent's tools report a state, only templates of complaints are checked: the state adds fields for
 * all others. */
static int agent_check_templates(struct agent *a, struct fh_error *err)
{
	const struct agent_config *c = a->config;
	struct fields malformed = { .arena = &a->arena }, blocked = malformed;
	const struct {
		const struct template *template;
		const struct fields *fields;
	} all[] = {
		{ &c->task, &a->fields },
		{ &c->strategy, &a->fields },
		{ &c->next_step, &a->fields },
		{ &c->no_output, &a->fields },
		{ &c->format_error, &malformed },
		{ &c->blocked, &blocked },
	};

	agent_set_state(a, &(struct fh_step){ .step = 0 });
	if (c->keys.tools.state_command.name)
		a->fields.state = FIELDS_AWAIT_STATE;
	fields_add(&malformed, &a->system_fields);
	fields_set(&malformed, "why", "");
	fields_add(&blocked, &a->system_fields);
	fields_set(&blocked, "name", "");
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		auto_buf struct buf text = BUF_INIT(MESSAGE_BYTES_MAX);
		int r = template_render(&text, all[i].template, all[i].fields, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int agent_begin_conversation(struct agent *a, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(MESSAGE_BYTES_MAX);
	struct history demos = { .arena = &a->arena };
	int r = template_render(&text, &a->config->system_message, &a->system_fields, err);

	if (r < 0)
		return r;
	r = agent_add_text(a, CHAT_SYSTEM, buf_str(&text), err);
	if (r < 0)
		return r;
	r = agent_add_demonstrations(a->config, a->model == NULL, &demos, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < demos.n; i++) {
		r = agent_add(a, &demos.items[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

static void scope_agent(struct agent **a)
{
	agent_close(*a);
}

int agent_open(const struct agent_request *request, struct agent **out, struct fh_error *err)
{
	__attribute__((cleanup(scope_agent))) struct agent *a = xcalloc(1, sizeof(*a));
	const struct text_map *variables = &request->config->keys.tools.env_variables;
	int r;

	a->config = request->config;
	a->model = request->model;
	a->env = request->env;
	a->recorder = request->recorder;
	a->user = request->user;
	a->max_steps = request->max_steps;
	a->recorded = request->recorded;
	a->history.arena = a->system_fields.arena = a->fields.arena = &a->arena;
	agent_task_fields(&a->system_fields, request->task);
	for (size_t i = 0; i < variables->n; i++)
		fields_set(&a->system_fields, variables->pairs[i].key, variables->pairs[i].value);
	fields_set(&a->system_fields, "command_docs", a->config->command_docs);
	fields_add(&a->fields, &a->system_fields);
	if (a->env && a->model)
		env_hide(a->env, chat_model_key(a->model));
	if (a->config->parser->wants_tools)
		a->tools = command_tools(&a->arena, &a->config->commands, &a->n_tools);
	r = agent_check_templates(a, err);
	if (r < 0)
		return r;
	if (request->past && request->past->n) {
		agent_add_past(request->past, a->tools != NULL, &a->history);
	} else {
		r = agent_begin_conversation(a, err);
		if (r < 0)
			return r;
	}
	*out = take_ptr(a);
	return 0;
}

void agent_close(struct agent *a)
{
	if (!a)
		return;
	chat_call_free(a->call);
	arena_release(&a->turn_arena);
	arena_release(&a->arena);
	free(a);
}

/* --- turns ------------------------------------------------------------------------------------ */

/* Makes `action`, such as exit_cost, the agent's decision, with the thought `why`. The action ends
 * the episode. */
static void agent_give_up(struct agent *a, const char *action, const char *why)
{
	a->parsed = (struct parsed){ .thought = arena_strdup(&a->turn_arena, why),
		.action = action };
	a->reply = (struct chat_reply){ .content = a->parsed.thought };
	a->decided = true;
}

/* Ends the episode after a failure of the model. agent_failure() reports it, except for a full
 * context and the cost limit of the episode. */
static void agent_take_failure(struct agent *a, const struct fh_error *why)
{
	const char *action = "exit_error";

	if (why->code == -E2BIG)
		action = "exit_context";
	else if (why->code == -EDQUOT || why->code == -ECANCELED)
		action = "exit_cost";
	else if (why->code == -EIO)
		action = "exit_api";
	agent_give_up(a, action, why->message);
	if (why->code != -E2BIG && why->code != -EDQUOT)
		a->failure = *why;
}

static void agent_ask(struct agent *a, size_t n_messages)
{
	struct chat_request request = {
		.messages = a->messages,
		.n_messages = n_messages,
		.tools = a->tools,
		.n_tools = a->n_tools,
	};

	a->call = chat_begin(a->model, &request, a->user);
}

static int agent_take_recorded(struct agent *a, struct fh_error *err);

/* Asks the model again: sends the conversation, the model's malformed reply, and the complaint
 * about it. Later messages to the model leave reply and complaint out. */
static void agent_ask_again(struct agent *a, const char *complaint)
{
	const struct chat_reply *reply = &a->reply;
	size_t n = a->n_messages;

	a->messages = memcpy(arena_array(&a->turn_arena, n + 1 + reply->n_uses + 1,
					     sizeof(*a->messages)),
			a->messages, n * sizeof(*a->messages));
	a->messages[n++] = (struct chat_message){ .role = CHAT_ASSISTANT,
		.content = reply->content,
		.uses = reply->uses,
		.n_uses = reply->n_uses };
	for (size_t i = 0; i < reply->n_uses; i++)
		a->messages[n++] = (struct chat_message){
			.role = CHAT_TOOL, .content = complaint, .use_id = reply->uses[i].id
		};
	if (!reply->n_uses)
		a->messages[n++] = (struct chat_message){ .role = CHAT_USER, .content = complaint };
	agent_ask(a, n);
}

/* Asks the model again with a complaint, whose text is made from `template`. The template may use
 * the system prompt's fields, and the field named `field` with the value `value`. Without a model,
 * takes the next recorded reply instead. If the model was asked again ASK_AGAIN_MAX times already
 * for this action, ends the episode. */
static int agent_complain(struct agent *a, const struct template *template, const char *field,
		const char *value, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(MESSAGE_BYTES_MAX);
	struct fields fields = { .arena = &a->turn_arena };
	const struct chat_reply reply = a->reply;
	int r;

	if (a->asked_again++ == ASK_AGAIN_MAX) {
		/* Record the malformed reply with its tool calls, as MLGym does. */
		buf_add_str(&text, reply.content);
		for (size_t i = 0; i < reply.n_uses; i++)
			buf_printf(&text, "%s%s %s", text.len ? "\n" : "", reply.uses[i].name,
					reply.uses[i].arguments);
		agent_give_up(a, "exit_format", "None of the model's replies could be run.");
		a->reply.content = arena_strdup(&a->turn_arena, buf_str(&text));
		return 0;
	}
	if (!a->model)
		return agent_take_recorded(a, err);
	fields_add(&fields, &a->system_fields);
	fields_set(&fields, field, value);
	r = template_render(&text, template, &fields, err);
	if (r < 0)
		return r;
	agent_ask_again(a, arena_strdup(&a->turn_arena, buf_str(&text)));
	return 0;
}

static int agent_take_reply(struct agent *a, const struct chat_reply *reply, struct fh_error *err)
{
	const struct agent_config *c = a->config;
	struct arena *arena = &a->turn_arena;
	struct fh_error why;
	const char *name;

	/* copy the reply: the original is freed with the call to the model */
	a->reply = *reply;
	a->reply.content = arena_strdup(arena, reply->content);
	a->reply.uses = history_copy_uses(arena, reply->uses, reply->n_uses);
	if (output_parse(c->parser, &a->turn_arena, &a->reply, &c->commands, &a->parsed, &why) < 0)
		return agent_complain(a, &c->format_error, "why", why.message, err);
	if (strlen(a->parsed.action) > FH_ACTION_BYTES_MAX) {
		error_say(&why, E2BIG, "a command has at most %d bytes", FH_ACTION_BYTES_MAX);
		return agent_complain(a, &c->format_error, "why", why.message, err);
	}
	if (agent_config_blocks(c, a->parsed.action, &a->turn_arena, &name))
		return agent_complain(a, &c->blocked, "name", name, err);
	a->decided = true;
	return 0;
}

static int agent_take_recorded(struct agent *a, struct fh_error *err)
{
	struct model_turn turn;
	int r = model_next(a->recorded, a->step, &turn, err);

	if (r < 0)
		return r;
	if (!turn.action)
		return agent_take_reply(a, &(struct chat_reply){ .content = turn.response }, err);
	a->parsed = (struct parsed){ .thought = turn.thought, .action = turn.action };
	a->reply = (struct chat_reply){ .content = turn.response ? turn.response : "" };
	a->decided = true;
	return 0;
}

int agent_observe(struct agent *a, const struct fh_step *step, struct fh_error *err)
{
	arena_release(&a->turn_arena);
	a->decided = false;
	a->failure.code = 0;
	a->asked_again = 0;
	a->step = step;
	agent_set_state(a, step);
	if (a->fields.state == FIELDS_AWAIT_STATE)
		a->fields.state = FIELDS_HAVE_STATE;
	return agent_add_observation(a, err);
}

int agent_begin(struct agent *a, struct fh_error *err)
{
	if (!a->model)
		return agent_take_recorded(a, err);
	a->messages = history_shown(
			&a->history, a->config->processor, &a->config->args, &a->turn_arena);
	a->n_messages = a->history.n;
	agent_ask(a, a->n_messages);
	return 0;
}

bool agent_decided(const struct agent *a)
{
	return a->decided;
}

int agent_advance(struct agent *a, struct fh_error *err)
{
	struct chat_call *call = take_ptr(a->call);
	struct chat_reply reply;
	struct fh_error why;
	int r = 0;

	if (chat_end(call, &reply, &why) < 0)
		agent_take_failure(a, &why);
	else
		r = agent_take_reply(a, &reply, err);
	chat_call_free(call);
	return r;
}

const struct fh_error *agent_failure(const struct agent *a)
{
	return a->failure.code ? &a->failure : NULL;
}

int agent_take(struct agent *a, struct model_turn *out, struct fh_error *err)
{
	struct history_item said = {
		.message = { .role = CHAT_ASSISTANT,
				.content = a->reply.content,
				.uses = a->reply.uses,
				.n_uses = a->reply.n_uses },
		.thought = a->parsed.thought,
		.action = a->parsed.action,
	};

	*out = (struct model_turn){ .action = a->parsed.action,
		.response = a->reply.content,
		.thought = a->parsed.thought };
	return agent_add(a, &said, err);
}
