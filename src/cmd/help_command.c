/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/complete.h"

#include "cli/help.h"
#include "cli/help_man.h"

#include <stdio.h>

struct help_options {
	bool markdown, complete;
	const char *man;
	int completion;
};

#define FIELD(f) offsetof(struct help_options, f)
static const struct cmd_option options[] = {
	{ "markdown", 0, OPTION_FLAG, FIELD(markdown),
			.help = "print every command and option as one Markdown page" },
	{ "man", 0, OPTION_PATH, FIELD(man), "DIR",
			"write fumehood.1 and a manual page of each command into this folder" },
	{ "completion", 0, OPTION_CHOICE, FIELD(completion), .choices = completion_shells,
			.help = "print the completion script of this shell" },
	{ "complete", 0, OPTION_FLAG, FIELD(complete),
			.help = "complete the last word after --, for shells" },
	{},
};

static int help_command_main(struct command_context *ctx)
{
	const struct help_options *o = ctx->options;
	auto_buf struct buf text = BUF_INIT(CMD_HELP_BYTES);
	struct fh_error err;

	if (o->man)
		return cmd_help_man(o->man, &err) < 0 ? cmd_refuse(&err) : CMD_OK;
	if (o->complete)
		cmd_complete(&text, ctx->args, ctx->n_args);
	else if (cmd_given(ctx, "completion"))
		buf_add_str(&text, completion_scripts[o->completion]);
	else if (o->markdown)
		cmd_help_markdown(&text);
	else
		return cmd_help_of(ctx->args, ctx->n_args, ctx->json);
	fputs(buf_str(&text), stdout);
	return CMD_OK;
}

const struct command command_help = {
	.name = "help",
	.summary = "explain a command",
	.arguments = "[COMMAND...]",
	.max_args = 4096,
	.options = options,
	.options_size = sizeof(struct help_options),
	.examples = "fumehood help run\n"
		    "fumehood help --json                   # every command and option\n"
		    "fumehood help --markdown >docs/cli.md\n"
		    "source <(fumehood help --completion bash)",
	.run = help_command_main,
};
