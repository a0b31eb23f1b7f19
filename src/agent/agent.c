/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"

#include "agent/pytext.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An observation of 1 MiB is escaped to four times that at most; a prompt is put around it. */
#define MESSAGE_BYTES_MAX (16L * 1024 * 1024)
#define ASK_AGAIN_MAX 2 /* times in a turn */

struct agent {
	const struct agent_config *config;
	struct chat_model *model;
	struct fh_env *env;
	struct recorder *recorder;
	void *user;
	int max_steps;
	struct model *recorded;
	const struct fh_step *step; /* that the turn follows */

	struct arena arena; /* of the conversation */
	struct history history;
	struct fields system_fields, fields; /* of the system's prompt; of all others */
	struct chat_tool *tools;             /* n_tools; none if the parser wants none */
	size_t n_tools;

	/* the turn */
	struct arena turn_arena;
	struct chat_message *messages; /* shown to the model; room for two more */
	size_t n_messages;
	struct chat_call *call;
	int asked_again;
	bool decided;
	struct fh_error failure; /* why there was no model to ask; code 0: there was */
	struct parsed parsed;
	struct chat_reply reply; /* what was parsed, in the turn's arena */
};

/* --- messages ------------------------------------------------------------------------------------- */

static const char *const roles[] = { [CHAT_SYSTEM] = "system",
	[CHAT_USER] = "user",
	[CHAT_ASSISTANT] = "assistant",
	[CHAT_TOOL] = "tool" };

static int add(struct agent *a, const struct history_item *item, struct fh_error *err)
{
	struct recorder_message message = {
		.role = roles[item->message.role],
		.content = item->message.content,
		.thought = item->thought,
		.action = item->action,
		.is_demo = item->is_demo,
	};

	history_add(&a->history, item);
	return a->recorder ? recorder_message(a->recorder, &message, err) : 0;
}

static int add_text(struct agent *a, enum chat_role role, const char *text, struct fh_error *err)
{
	return add(a, &(struct history_item){ .message = { .role = role, .content = text } }, err);
}

static int add_system(struct agent *a, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(MESSAGE_BYTES_MAX);
	int r = template_render(&text, &a->config->system_message, &a->system_fields, err);

	return r < 0 ? r : add_text(a, CHAT_SYSTEM, buf_str(&text), err);
}

static int add_demonstrations(struct agent *a, struct fh_error *err)
{
	struct history demos = { .arena = &a->arena };
	int r = agent_add_demonstrations(a->config, a->model == NULL, &demos, err);

	for (size_t i = 0; i < demos.n && r == 0; i++)
		r = add(a, &demos.items[i], err);
	return r;
}

static void set_state(struct agent *a, const struct fh_step *step)
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

/* What comes before anything that a model said. */
static bool nothing_said(const struct agent *a)
{
	const struct history_item *last = &a->history.items[a->history.n - 1];

	return last->message.role == CHAT_SYSTEM || last->is_demo;
}

static int render_observation(struct agent *a, struct buf *out, struct fh_error *err)
{
	const char *observation = fields_get(&a->fields, "observation");
	const struct agent_config *c = a->config;
	int r;

	if (!nothing_said(a)) {
		bool blank = str_is_blank(observation);

		return template_render(out, blank ? &c->no_output : &c->next_step, &a->fields, err);
	}
	r = template_render(out, &c->task, &a->fields, err);
	if (r < 0 || !c->strategy.text)
		return r;
	buf_add_char(out, '\n');
	return template_render(out, &c->strategy, &a->fields, err);
}

/* Each use of a tool wants an answer of its own. */
static int add_answers(struct agent *a, const struct history_item *said, const char *text,
		struct fh_error *err)
{
	const struct chat_message *m = &said->message;
	int r = 0;

	for (size_t i = 0; i < m->n_uses && r == 0; i++)
		r = add(a,
				&(struct history_item){
						.message = { .role = CHAT_TOOL,
								.content = i ? "Not run: one at a time."
									     : text,
								.use_id = m->uses[i].id } },
				err);
	return r;
}

static int add_observation(struct agent *a, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(MESSAGE_BYTES_MAX);
	const struct history_item *last = &a->history.items[a->history.n - 1];
	int r = render_observation(a, &text, err);

	if (r < 0)
		return r;
	if (last->message.n_uses && !last->is_demo) {
		struct history_item said = *last;

		return add_answers(a, &said, buf_str(&text), err);
	}
	return add_text(a, CHAT_USER, buf_str(&text), err);
}

/* --- opening ---------------------------------------------------------------------------------------- */

static void make_fields(struct agent *a, const struct task *task)
{
	const struct text_map *variables = &a->config->keys.tools.env_variables;

	a->system_fields.arena = a->fields.arena = &a->arena;
	agent_task_fields(&a->system_fields, task);
	for (size_t i = 0; i < variables->n; i++)
		fields_set(&a->system_fields, variables->pairs[i].key, variables->pairs[i].value);
	fields_set(&a->system_fields, "command_docs", a->config->command_docs);
	fields_add(&a->fields, &a->system_fields);
}

static int try_template(const struct template *t, const struct fields *fields, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(MESSAGE_BYTES_MAX);

	return template_render(&text, t, fields, err);
}

/* One that complains: complain() gives it this field. */
static int try_complaint(
		struct agent *a, const struct template *t, const char *field, struct fh_error *err)
{
	struct fields fields = { .arena = &a->arena };

	fields_add(&fields, &a->system_fields);
	fields_set(&fields, field, "");
	return try_template(t, &fields, err);
}

/* Before anything is asked for, and paid for. What a state gives shows when there is one. */
static int check_templates(struct agent *a, struct fh_error *err)
{
	const struct agent_config *c = a->config;
	const struct template *all[] = { &c->task, &c->strategy, &c->next_step, &c->no_output };
	int r = 0;

	set_state(a, &(struct fh_step){ .step = 0 });
	if (c->keys.tools.state_command.name)
		a->fields.state = FIELDS_AWAIT_STATE;
	for (size_t i = 0; i < ARRAY_SIZE(all) && r == 0; i++)
		r = try_template(all[i], &a->fields, err);
	if (r == 0)
		r = try_complaint(a, &c->format_error, "why", err);
	return r == 0 ? try_complaint(a, &c->blocked, "name", err) : r;
}

static int begin_conversation(struct agent *a, struct fh_error *err)
{
	int r = add_system(a, err);

	return r < 0 ? r : add_demonstrations(a, err);
}

static void scope_agent(struct agent **a)
{
	agent_close(*a);
}

int agent_open(const struct agent_request *request, struct agent **out, struct fh_error *err)
{
	__attribute__((cleanup(scope_agent))) struct agent *a = xcalloc(1, sizeof(*a));
	int r;

	a->config = request->config;
	a->model = request->model;
	a->env = request->env;
	a->recorder = request->recorder;
	a->user = request->user;
	a->max_steps = request->max_steps;
	a->recorded = request->recorded;
	a->history.arena = &a->arena;
	make_fields(a, request->task);
	if (a->env && a->model)
		env_hide(a->env, chat_model_key(a->model));
	if (a->config->parser->wants_tools)
		a->tools = command_tools(&a->arena, &a->config->commands, &a->n_tools);
	r = check_templates(a, err);
	if (r == 0 && request->past && request->past->n)
		agent_add_past(request->past, a->tools != NULL, &a->history);
	else if (r == 0)
		r = begin_conversation(a, err);
	if (r < 0)
		return r;
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

/* --- a turn ----------------------------------------------------------------------------------------- */

/* The turn is over without the model: for this reason the episode ends. */
static void give_up(struct agent *a, const char *action, const char *why)
{
	a->parsed = (struct parsed){ .thought = arena_strdup(&a->turn_arena, why),
		.action = action };
	a->reply = (struct chat_reply){ .content = a->parsed.thought };
	a->decided = true;
}

/* As MLGym records it: the reply is the last one, with what it would have used. */
static void give_up_asking(struct agent *a)
{
	const struct chat_reply *reply = &a->reply;
	auto_buf struct buf text = BUF_INIT(MESSAGE_BYTES_MAX);

	buf_add_str(&text, reply->content);
	for (size_t i = 0; i < reply->n_uses; i++)
		buf_printf(&text, "%s%s %s", text.len ? "\n" : "", reply->uses[i].name,
				reply->uses[i].arguments);
	give_up(a, "exit_format", "None of the model's replies could be run.");
	a->reply.content = arena_strdup(&a->turn_arena, buf_str(&text));
}

/* What the provider could not do, or what there is no money for. That all models together may cost no more is
 * nothing of this episode's: another time it would go on. */
static void take_failure(struct agent *a, const struct fh_error *why)
{
	const char *action = "exit_error";

	if (why->code == -E2BIG)
		action = "exit_context";
	else if (why->code == -EDQUOT || why->code == -ECANCELED)
		action = "exit_cost";
	else if (why->code == -EIO)
		action = "exit_api";
	give_up(a, action, why->message);
	if (why->code != -E2BIG && why->code != -EDQUOT)
		a->failure = *why;
}

static void ask(struct agent *a, size_t n_messages)
{
	struct chat_request request = {
		.messages = a->messages,
		.n_messages = n_messages,
		.tools = a->tools,
		.n_tools = a->n_tools,
	};
	struct fh_error why;

	if (chat_begin(a->model, &request, a->user, &a->call, &why) < 0)
		take_failure(a, &why);
}

static int take_recorded(struct agent *a, struct fh_error *err);

/* What is wrong is shown to the model after its reply, this once. */
static void ask_again(struct agent *a, const char *complaint)
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
	ask(a, n);
}

/* The template has this field beside those of the system's. */
static int complain(struct agent *a, const struct template *template, const char *field,
		const char *value, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(MESSAGE_BYTES_MAX);
	struct fields fields = { .arena = &a->turn_arena };
	int r;

	if (a->asked_again++ == ASK_AGAIN_MAX) {
		give_up_asking(a);
		return 0;
	}
	if (!a->model)
		return take_recorded(a, err);
	fields_add(&fields, &a->system_fields);
	fields_set(&fields, field, value);
	r = template_render(&text, template, &fields, err);
	if (r == 0)
		ask_again(a, arena_strdup(&a->turn_arena, buf_str(&text)));
	return r;
}

/* The reply lives as long as its call: what is needed of it is kept. */
static void keep_reply(struct agent *a, const struct chat_reply *reply)
{
	struct arena *arena = &a->turn_arena;
	struct chat_use *uses = arena_array(arena, reply->n_uses + 1, sizeof(*uses));

	a->reply = *reply;
	a->reply.content = arena_strdup(arena, reply->content);
	a->reply.thinking = reply->thinking ? arena_strdup(arena, reply->thinking) : NULL;
	for (size_t i = 0; i < reply->n_uses; i++)
		uses[i] = (struct chat_use){ .id = arena_strdup(arena, reply->uses[i].id),
			.name = arena_strdup(arena, reply->uses[i].name),
			.arguments = arena_strdup(arena, reply->uses[i].arguments) };
	a->reply.uses = uses;
}

static int take_reply(struct agent *a, const struct chat_reply *reply, struct fh_error *err)
{
	const struct agent_config *c = a->config;
	struct fh_error why;
	const char *name;
	int r;

	keep_reply(a, reply);
	r = output_parse(c->parser, &a->turn_arena, &a->reply, &c->commands, &a->parsed, &why);
	/* What is longer is no action: an environment would refuse it. */
	if (r == 0 && strlen(a->parsed.action) > FH_ACTION_BYTES_MAX)
		r = error_say(&why, E2BIG, "a command has at most %d bytes", FH_ACTION_BYTES_MAX);
	if (r < 0)
		return complain(a, &c->format_error, "why", why.message, err);
	if (agent_config_blocks(c, a->parsed.action, &a->turn_arena, &name))
		return complain(a, &c->blocked, "name", name, err);
	a->decided = true;
	return 0;
}

static int take_recorded(struct agent *a, struct fh_error *err)
{
	struct model_turn turn;
	int r = model_next(a->recorded, a->step, &turn, err);

	if (r < 0)
		return r;
	if (!turn.action)
		return take_reply(a, &(struct chat_reply){ .content = turn.response }, err);
	a->parsed = (struct parsed){ .thought = turn.thought, .action = turn.action };
	a->reply = (struct chat_reply){ .content = turn.response ? turn.response : "" };
	a->decided = true;
	return 0;
}

int agent_begin(struct agent *a, const struct fh_step *step, struct fh_error *err)
{
	int r;

	arena_release(&a->turn_arena);
	a->decided = false;
	a->failure.code = 0;
	a->asked_again = 0;
	a->step = step;
	set_state(a, step);
	if (a->fields.state == FIELDS_AWAIT_STATE)
		a->fields.state = FIELDS_HAVE_STATE;
	r = add_observation(a, err);
	if (r < 0)
		return r;
	if (!a->model)
		return take_recorded(a, err);
	a->messages = history_shown(
			&a->history, a->config->processor, &a->config->args, &a->turn_arena);
	a->n_messages = a->history.n;
	ask(a, a->n_messages);
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
		take_failure(a, &why);
	else
		r = take_reply(a, &reply, err);
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
	return add(a, &said, err);
}
