/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/config.h"

/* The keys of an agent's configuration. */

#define FIELD(f) offsetof(struct state_command_config, f)
static const struct field state_command_fields[] = {
	{ "name", FIELD_TEXT, FIELD(name),
			"the command; it prints a JSON object whose texts, numbers and booleans become fields of prompts" },
	{ "code", FIELD_TEXT, FIELD(code), "bash code that defines the command" },
	{},
};
#undef FIELD

static const struct schema state_command_schema = {
	.name = "state_command",
	.help = "Reports the state of an agent's shell to prompts. Without it, the state is `open_file` and "
		"`working_dir`.",
	.size = sizeof(struct state_command_config),
	.fields = state_command_fields,
};

#define FIELD(f) offsetof(struct tools_config, f)
static const struct field tools_fields[] = {
	{ "native", FIELD_TEXTS, FIELD(native),
			"the commands of [tools.md](tools.md) that the prompt documents" },
	{ "command_files", FIELD_TEXTS, FIELD(command_files),
			"files of bash functions, or scripts, with `# @yaml` documentation" },
	{ "util_functions", FIELD_TEXTS, FIELD(util_functions),
			"accepted without effect: functions whose names begin with `_` are not documented" },
	{ "env_variables", FIELD_TEXT_MAP, FIELD(env_variables),
			"variables of the shell, as bash reads them, exported if there are `native` "
			"commands; fields of prompts, too" },
	{ "state_command", FIELD_STRUCT, FIELD(state_command), "see below",
			.schema = &state_command_schema },
	{ "parser", FIELD_CHOICE, FIELD(parser), "form of `{command_docs}`",
			.preset = "ParseCommandBash", .choices = command_docs_names },
	{ "submit_command", FIELD_TEXT, FIELD(submit_command), "an action that ends the episode",
			.preset = "submit" },
	{ "blocklist", FIELD_TEXTS, FIELD(blocklist), "commands that are not run",
			.preset = "[vim, vi, emacs, nano, nohup, git]" },
	{ "blocklist_standalone", FIELD_TEXTS, FIELD(blocklist_standalone),
			"commands that are not run without arguments",
			.preset = "[python, python3, ipython, bash, sh, exit, /bin/bash, /bin/sh, nohup, "
				  "vi, vim, emacs, nano, su]" },
	{ "blocklist_error_template", FIELD_TEXT, FIELD(blocklist_error_template),
			"message after a blocked command; it has the field `{name}`",
			.preset = "'{name}' was not run: commands that wait for a terminal, and those that "
				  "are blocked, can't be used here. Give another command." },
	{},
};
#undef FIELD

static const struct schema tools_schema = {
	.name = "tools",
	.help = "Tools that an agent has beside the shell.",
	.size = sizeof(struct tools_config),
	.fields = tools_fields,
};

#define FIELD(f) offsetof(struct history_args_config, f)
static const struct field history_args_fields[] = {
	{ "n", FIELD_INT, FIELD(n), "`LastNObservations`: how many", .min = 1, .max = 1000000 },
	{},
};
#undef FIELD

static const struct schema history_args_schema = {
	.name = "history_processor_args",
	.size = sizeof(struct history_args_config),
	.fields = history_args_fields,
};

#define FIELD(f) offsetof(struct agent_keys, f)
static const struct field agent_fields[] = {
	{ "system_template", FIELD_TEXT, FIELD(system_template), "the first message",
			.required = true },
	{ "task_template", FIELD_TEXT, FIELD(task_template), "the message that gives the task",
			.required = true },
	{ "strategy_template", FIELD_TEXT, FIELD(strategy_template),
			"follows the task, on a line of its own" },
	{ "next_step_template", FIELD_TEXT, FIELD(next_step_template),
			"the message after a step; by default `task_template`" },
	{ "next_step_no_output_template", FIELD_TEXT, FIELD(next_step_no_output_template),
			"the message after a step without output; by default `next_step_template`" },
	{ "demonstration_template", FIELD_TEXT, FIELD(demonstration_template),
			"a demonstration as one message; it has the field `{demonstration}`" },
	{ "demonstrations", FIELD_TEXTS, FIELD(demonstrations), "`.traj` files",
			.takes = "list of paths" },
	{ "put_demos_in_history", FIELD_BOOL, FIELD(put_demos_in_history),
			"demonstrations as messages of their own", .preset = "false" },
	{ "format_error_template", FIELD_TEXT, FIELD(format_error_template),
			"message after a malformed reply; it has the field `{why}`; by default the "
			"parser's own" },
	{ "output_parser", FIELD_TEXT, FIELD(output_parser), "how a reply is read",
			.preset = "ThoughtActionParser" },
	{ "history_processor", FIELD_TEXT, FIELD(history_processor),
			"how older messages are shortened", .preset = "DefaultHistoryProcessor" },
	{ "history_processor_args", FIELD_STRUCT, FIELD(history_processor_args), "see below",
			.schema = &history_args_schema },
	{ "tools", FIELD_STRUCT, FIELD(tools), "see below", .schema = &tools_schema },
	{},
};
#undef FIELD

const struct schema agent_schema = {
	.name = "agent",
	.help = "An agent's configuration: how a language model is led through an episode. Templates have "
		"fields, `{name}`: every key of the task, every variable of `tools.env_variables`, and "
		"`command_docs`. All but `system_template` also have `open_file`, `working_dir`, the "
		"members that `state_command` gives, `current_step`, `remaining_steps` and "
		"`observation`. Write a literal brace twice.",
	.size = sizeof(struct agent_keys),
	.fields = agent_fields,
};
