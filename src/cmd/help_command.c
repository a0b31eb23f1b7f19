/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cmd.h"
#include "cmd/term.h"

#include "base/str.h"

#include <stdio.h>
#include <unistd.h>

struct help_options {
	bool markdown;
};

static const struct cmd_option options[] = {
	{ "markdown", 0, OPTION_FLAG, offsetof(struct help_options, markdown),
			.help = "every command and option as one Markdown page" },
	{},
};

static int run_help(struct command_context *ctx)
{
	const struct help_options *o = ctx->options;
	auto_buf struct buf text = BUF_INIT(CMD_HELP_BYTES);

	if (o->markdown || ctx->json) {
		if (o->markdown)
			cmd_help_markdown(&text);
		else
			cmd_help_json(&text);
		fputs(buf_str(&text), stdout);
		return CMD_OK;
	}
	return cmd_help_of(ctx->args, ctx->n_args);
}

const struct command command_help = {
	.name = "help",
	.summary = "what a command does and takes",
	.arguments = "[COMMAND...]",
	.max_args = 4,
	.options = options,
	.options_size = sizeof(struct help_options),
	.examples = "fumehood help run\nfumehood help --json                   # every command and option\nfumehood help --markdown >docs/cli.md",
	.run = run_help,
};
