/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_CONFIG_H
#define AGENT_CONFIG_H

#include "agent/command_file.h"
#include "agent/history.h"
#include "agent/parser.h"
#include "agent/template.h"
#include "base/sha256.h"
#include "config/schema.h"

/* An agent's configuration: the keys of its YAML file, and all that is loaded of it. */

struct state_command_config {
	const char *name, *code;
};

struct tools_config {
	struct texts native; /* names of Fumehood's own commands */
	struct texts command_files, util_functions;
	struct text_map env_variables;
	struct state_command_config state_command;
	int parser; /* enum command_docs: style in which prompts document the commands */
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

/*
 * An agent's configuration: agents/<name>.yaml, with MLGym's keys. It is loaded into an arena with
 * all files that it names, and does not change afterwards.
 */
struct agent_config {
	char *path, *stem; /* stem: name of the file without ".yaml", for names of run folders */
	/* absolute path of the file; NULL: an installed configuration, whose name is `stem` */
	char *place;
	/* hash of the configuration's file and all files that it names */
	char hash[SHA256_HEX_BYTES];
	struct agent_keys keys;
	struct template system_message, task, next_step, no_output, strategy, demonstration,
			format_error, blocked;
	const struct output_parser *parser;
	const struct history_processor *processor;
	struct history_args args;
	struct command_file *files; /* n_files command files */
	size_t n_files;
	struct commands commands;
	bool original_tools; /* run MLGym's own tools in place of Fumehood's equal programs */
	const char *command_docs;
	struct arena arena;
};

struct agent_config_options {
	/* path of a configuration, or name of an installed one; NULL: "default" */
	const char *spec;
	const char *root;          /* MLGym checkout that relative paths start from; NULL: none */
	struct warnings *warnings; /* collects unknown keys; NULL: an unknown key is an error */
	bool original_tools;
	/* A record chose the configuration, and may be untrusted. Files that the configuration
	 * names must lie in its folder, the folder of installed ones, or own_root. A folder that
	 * everyone may write to is not allowed. */
	bool recorded;
	const char *own_root; /* MLGym checkout that the user chose; NULL: none */
};

/* True if a user gave the path of an agent's file, not its name. A path has a slash, or ends in
 * ".yaml". */
bool agent_config_is_path(const char *spec);

/* Loads a configuration. -ENOENT: no such configuration; the error lists the installed
 * ones. -EINVAL with "FILE:LINE:COLUMN: ...". */
int agent_config_load(const struct agent_config_options *options, struct agent_config **out,
		struct fh_error *err);
void agent_config_free(struct agent_config *c); /* NULL is fine */

/* True if the configuration's blocklist forbids the action. *out_name is the forbidden command, in
 * the arena. */
bool agent_config_blocks(const struct agent_config *c, const char *action, struct arena *a,
		const char **out_name);

/* True if the configuration names commands of Fumehood's that use the web. */
bool agent_config_needs_web(const struct agent_config *c);

/* Names of installed configurations, separated by commas. A heap string. */
char *agent_config_list(void);

#endif
