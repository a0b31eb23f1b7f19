/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_CONFIG_H
#define AGENT_CONFIG_H

#include "agent/command.h"
#include "agent/history.h"
#include "agent/parser.h"
#include "agent/template.h"
#include "base/sha256.h"
#include "config/schema.h"

/*
 * An agent's configuration: agents/<name>.yaml, with the keys that MLGym's have. Loaded whole into an
 * arena, with all files that it names; nothing in it changes afterwards.
 */
struct state_command_config {
	const char *name, *code;
};

struct tools_config {
	struct texts native; /* names of our own commands */
	struct texts command_files, util_functions;
	struct text_map env_variables;
	struct state_command_config state_command;
	int parser; /* enum command_docs */
	const char *submit_command;
	struct texts blocklist, blocklist_standalone;
	const char *blocklist_error_template;
};

struct history_args_config {
	int64_t n;
};

struct agent_keys {
	const char *system_template, *task_template, *next_step_template;
	const char *next_step_no_output_template, *strategy_template;
	const char *demonstration_template, *format_error_template;
	struct texts demonstrations;
	bool put_demos_in_history;
	const char *output_parser, *history_processor;
	struct history_args_config history_processor_args;
	struct tools_config tools;
};

extern const struct schema agent_schema;

struct agent_config {
	char *path, *stem; /* stem: what folders of runs are called after */
	char *place; /* the path, from anywhere; NULL for one that is installed: its stem finds it */
	char hash[SHA256_HEX_BYTES]; /* of what is in its file, and in those that it names */
	struct agent_keys keys;
	struct template system_message, task, next_step, no_output, strategy, demonstration,
			format_error, blocked;
	const struct output_parser *parser;
	const struct history_processor *processor;
	struct history_args args;
	struct command_file *files; /* of the commands; n_files */
	size_t n_files;
	struct commands commands;
	bool original_tools; /* MLGym's own run, where ours are equal to them */
	const char *command_docs;
	struct arena arena;
};

struct agent_config_options {
	const char *spec; /* a path, or the name of one that is there: "default"; NULL: default */
	const char *root; /* of an MLGym checkout: paths begin there, unknown keys are warnings; NULL */
	struct warnings *warnings; /* NULL: unknown keys are errors */
	bool original_tools;
	/* A record chose it, which may be a stranger's: the files that it names lie beneath its own folder (if not
	 * everyone may write there), beside those
	 * that are installed, or beneath a checkout that this user chose (own_root; NULL: there is none). */
	bool recorded;
	const char *own_root;
};

/* Whether a spec is a path: it has a slash, or ends as files do. */
bool agent_config_is_path(const char *spec);

/* -ENOENT (it lists what there is), -EINVAL with "FILE:LINE:COLUMN: ...". */
int agent_config_load(const struct agent_config_options *options, struct agent_config **out,
		struct fh_error *err);
void agent_config_free(struct agent_config *c); /* NULL is fine */

/* True for an action that the configuration does not allow; *out_name lives in the arena. */
bool agent_config_blocks(const struct agent_config *c, const char *action, struct arena *a,
		const char **out_name);

/* Whether it has commands of ours that ask the web. */
bool agent_config_needs_web(const struct agent_config *c);

/* Names of the configurations that are installed, with commas between them. Heap. */
char *agent_config_list(void);

/* --- native.c ------------------------------------------------------------------------------------ */
/* Our own commands of those names, in that order. */
int native_commands(struct arena *a, const struct texts *names, struct commands *out,
		struct fh_error *err);

/* The names of all of them, and the words of an episode that stand beside them. */
const char *const *native_words(size_t *out_n);

/* The tools of a model that calls them: `bash`, and these commands. */
struct chat_tool *command_tools(struct arena *a, const struct commands *all, size_t *out_n);

/* The one tool that is no command: its argument is an action. */
extern const struct agent_command tool_shell;

/* The tool of that name, NULL if there is none. */
const struct agent_command *tool_find(const struct commands *all, const char *name);

/* --- parser_tool.c ------------------------------------------------------------------------------- */
/* What JSON Schema calls its type, as Python does or not; "string" where a command file has a name of its own. */
const char *command_argument_type(const struct command_argument *argument);

#endif
