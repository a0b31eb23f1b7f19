/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_AGENT_H
#define FUMEHOOD_AGENT_H

#include <fumehood/env.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Agents without their model, for programs that call the language model themselves, as trainers do.
 * An agent is a configuration (docs/agents.md): prompts, commands, an output parser. A chat is the
 * conversation of an episode. It makes messages of steps, and actions of replies, exactly as
 * `fumehood run` does.
 *
 *   fh_agent_open(&FH_AGENT_OPTIONS(.config = "default"), &agent, &err);
 *   fh_agent_set_up(agent, env, &err);
 *   fh_env_reset(env, NULL, &step, &err);
 *   fh_chat_open(agent, &FH_CHAT_OPTIONS(.env = env), &chat, &err);
 *   while (!step.terminated && !step.truncated) {
 *           fh_chat_observe(chat, &step, &err);
 *           do {
 *                   text = ... send fh_chat_json(chat) to the model ...
 *                   fh_chat_reply(chat, &FH_REPLY(.content = text), &decision, &err);
 *           } while (decision.kind == FH_DECISION_ASK_AGAIN);
 *           fh_env_step(env, &FH_ACTION(.text = decision.action), &step, &err);
 *   }
 *   fh_chat_close(chat);
 *
 * An agent does not change, so that threads may share it. It outlives its chats. Only a single
 * thread may use a chat at a time.
 */
struct fh_agent;
struct fh_chat;
struct fh_recorder;

/* --- configurations --------------------------------------------------------------------------- */

struct fh_agent_options {
	size_t size; /* FH_AGENT_OPTIONS() sets it */
	/* Path of a configuration's file, or name of an installed one; NULL: "default". A name with
	 * a slash, or with the ending ".yaml", is a path. */
	const char *config;
	/* A checkout of MLGym, where relative paths start. Unknown keys are then warnings, not
	 * errors. NULL: none. */
	const char *mlgym_root;
	/* Path of a file of aliases that the agent's shells source first; NULL: none. */
	const char *aliases;
	bool original_tools; /* run MLGym's own commands, not Fumehood's equal programs */
};

#define FH_AGENT_OPTIONS(...) FH_SIZED(struct fh_agent_options, __VA_ARGS__)

/*
 * Loads a configuration with all files that it names. options may be NULL. -ENOENT: there is no
 * such configuration; the error lists the installed ones. -EINVAL: a file is malformed, with
 * "FILE:LINE:COLUMN: ...".
 */
FH_PUBLIC int fh_agent_open(const struct fh_agent_options *options, struct fh_agent **out,
		struct fh_error *err);
FH_PUBLIC void fh_agent_close(struct fh_agent *agent); /* NULL is fine */

struct fh_pair {
	const char *key, *value;
};

/*
 * A configuration, for programs that show it or use it in their own way. Strings live as long as
 * the agent. The library allocates this struct. Later versions may append members.
 */
struct fh_agent_info {
	const char *name; /* name of the file without ".yaml" */
	const char *path; /* absolute path of the file; NULL: an installed configuration */
	const char *hash; /* hash of the file and of all files that it names, hexadecimal */
	const char *const *warnings; /* sentences for the user, such as unknown keys */
	size_t n_warnings;

	/* Templates, with {fields}; NULL: the configuration has no such template. */
	const char *system_template, *task_template, *strategy_template;
	const char *next_step_template, *next_step_no_output_template;
	const char *format_error_template;
	const char *output_parser, *history_processor; /* names, listed in docs/agents.md */
	int history_n; /* number of observations that the history processor keeps; 0: none */
	const char *command_docs; /* text for the field {command_docs} */
	const char *submit_command;
	const char *state_command, *state_code; /* command and its bash code; NULL: none */
	const struct fh_pair *env_variables;    /* shell variables of the commands */
	size_t n_env_variables;
	const char *const *command_files; /* paths */
	size_t n_command_files;
	/* Tools to offer to the model, as a JSON array in OpenAI's form. NULL: actions are read
	 * from the text of replies. */
	const char *tools;
};

FH_PUBLIC const struct fh_agent_info *fh_agent_info(const struct fh_agent *agent);

/*
 * Gives the agent's commands to the environment's episodes, from the next reset on. They replace
 * those of an earlier call. agent may be NULL: no commands but Fumehood's own. The environment
 * copies all. -EBUSY: a reset or step is running. -EINVAL: the commands can't be set up.
 */
FH_PUBLIC int fh_agent_set_up(
		const struct fh_agent *agent, struct fh_env *env, struct fh_error *err);

/* --- messages --------------------------------------------------------------------------------- */

enum fh_role { FH_ROLE_SYSTEM, FH_ROLE_USER, FH_ROLE_ASSISTANT, FH_ROLE_TOOL };

/* Returns the role's name in JSON: "system", "user", "assistant", "tool"; else "unknown". */
FH_PUBLIC const char *fh_role_name(enum fh_role role);

struct fh_tool_call {
	const char *id, *name;
	const char *arguments; /* JSON as the model wrote it, maybe malformed */
};

struct fh_message {
	enum fh_role role;
	const char *content;              /* UTF-8; may be "" */
	const struct fh_tool_call *calls; /* tool calls of an assistant's message */
	size_t n_calls;
	const char *call_id; /* id of the tool call that a tool's message answers; NULL: none */
	const char *thought, *action; /* only in an assistant's message of fh_chat_history() */
	bool is_demo;                 /* part of a demonstration */
};

struct fh_chat_options {
	size_t size; /* FH_CHAT_OPTIONS() sets it */
	/* Environment whose task the prompts describe. It is used only in this call. */
	const struct fh_env *env;
	/* Recorder of the episode, which outlives the chat (fumehood/record.h). It gets each
	 * message, so that the record has the conversation. NULL: none. */
	struct fh_recorder *recorder;
};

#define FH_CHAT_OPTIONS(...) FH_SIZED(struct fh_chat_options, __VA_ARGS__)

/*
 * Opens the conversation of an episode, with the system message and demonstrations. -EINVAL: a
 * template has an unknown field, or a demonstration is unreadable. -EPERM: this process is a fork
 * of the one that opened the environment's gym.
 */
FH_PUBLIC int fh_chat_open(const struct fh_agent *agent, const struct fh_chat_options *options,
		struct fh_chat **out, struct fh_error *err);
FH_PUBLIC void fh_chat_close(struct fh_chat *chat); /* NULL is fine */

/*
 * Adds the result of a reset or step as a message, and begins a turn. In tool-calling
 * configurations it is the result of the last reply's call. -EPROTO: the turn before has no action
 * yet. -EINVAL: a template has a field that the tools' state lacks.
 */
FH_PUBLIC int fh_chat_observe(
		struct fh_chat *chat, const struct fh_step *step, struct fh_error *err);

/*
 * Return the messages to send to the model now, as the history processor shortens them. While the
 * model is asked again, its last reply and the complaint follow. The JSON is an array in OpenAI's
 * form, with role, content, tool_calls, tool_call_id. Results live until the chat's next observe,
 * reply, act or close.
 */
FH_PUBLIC const struct fh_message *fh_chat_messages(struct fh_chat *chat, size_t *out_n);
FH_PUBLIC const char *fh_chat_json(struct fh_chat *chat);

/* Return all messages so far in full, without complaints and replies that could not be run. The
 * JSON also has `thought` and `action` of replies, and `is_demo`. */
FH_PUBLIC const struct fh_message *fh_chat_history(struct fh_chat *chat, size_t *out_n);
FH_PUBLIC const char *fh_chat_history_json(struct fh_chat *chat);

/* --- replies ---------------------------------------------------------------------------------- */

struct fh_reply {
	size_t size;         /* FH_REPLY() sets it */
	const char *content; /* text of the reply, a format fault if it is not UTF-8; NULL: "" */
	const struct fh_tool_call *calls; /* n_calls tool calls */
	size_t n_calls;
};

#define FH_REPLY(...) FH_SIZED(struct fh_reply, __VA_ARGS__)

enum fh_decision_kind {
	FH_DECISION_ACTION,    /* `action` is for fh_env_step() */
	FH_DECISION_ASK_AGAIN, /* send fh_chat_messages() again: they end with the complaint */
	/* The third reply in a row could not be run. `action` is exit_format, with which
	 * fh_env_step() ends the episode. */
	FH_DECISION_GIVE_UP,
};

enum fh_fault {
	FH_FAULT_NONE,
	FH_FAULT_FORMAT,  /* the output parser found no action in the reply */
	FH_FAULT_BLOCKED, /* the configuration's blocklist forbids the command */
};

struct fh_decision {
	enum fh_decision_kind kind;
	enum fh_fault fault;
	const char *action;    /* NULL: ask again */
	const char *thought;   /* rest of the reply's text; NULL: none */
	const char *response;  /* the reply as it is recorded; NULL: ask again */
	const char *complaint; /* message to the model; NULL: no fault */
	/* bytes of thought and response in a record, for fh_action.beside_bytes */
	int64_t beside_bytes;
};

/*
 * Takes the model's reply. Unless the model is asked again, the reply becomes a message, and the
 * turn ends. Then step with the action, and call fh_chat_observe(). Strings live until then.
 * -EPROTO: no turn waits for a reply. -EINVAL: the reply is not UTF-8.
 */
FH_PUBLIC int fh_chat_reply(struct fh_chat *chat, const struct fh_reply *reply,
		struct fh_decision *out, struct fh_error *err);

/* Takes the model's reply as fh_chat_reply() does, but as JSON in OpenAI's form. This is an object
 * with `content` and maybe `tool_calls`. -EINVAL: `json` is not such an object. */
FH_PUBLIC int fh_chat_reply_json(struct fh_chat *chat, const char *json, size_t n,
		struct fh_decision *out, struct fh_error *err);

/*
 * Ends the turn with an action of the caller's choice. An example is exit_context, if the messages
 * exceed the model's context. Another is exit_api, if the model can't be reached. `text` is
 * recorded as the reply; NULL: "".
 */
FH_PUBLIC int fh_chat_act(struct fh_chat *chat, const char *action, const char *text,
		struct fh_decision *out, struct fh_error *err);

/* --- parsers ---------------------------------------------------------------------------------- */

/* A reply as an output parser splits it. Release it with fh_parsed_release(). */
struct fh_parsed {
	char *thought, *action;
};

/*
 * Reads a reply with the output parser of this name, without a configuration. So ActionParser and
 * ToolCallParser know no commands but `bash`. -EINVAL: the reply is malformed, with the reason; or
 * there is no such parser.
 */
FH_PUBLIC int fh_reply_parse(const char *parser, const struct fh_reply *reply,
		struct fh_parsed *out, struct fh_error *err);
FH_PUBLIC void fh_parsed_release(struct fh_parsed *parsed);

#ifdef __cplusplus
}
#endif

#endif
