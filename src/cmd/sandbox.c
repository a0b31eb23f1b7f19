/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "cli/cmd.h"
#include "cmd/sandbox_exec.h"
#include "cmd/sandbox_ps.h"
#include "native/leftovers.h"
#include "sandbox/sandbox.h"

#include <stdio.h>

static int sandbox_gc_main(struct command_context *ctx)
{
	/* end sandboxes without an owner first: only then can their control groups be removed */
	size_t left, ended = leftovers_end(&left);
	int count = owner_collect();

	auto_json json_t *told = json_pack("{s:I, s:I, s:i}", "ended", (json_int_t)ended, "left",
			(json_int_t)left, "removed", count);

	if (ctx->json)
		cmd_print_json(told);
	else
		printf("ended %zu sandbox%s without an owner, removed %d left behind by processes that "
		       "were killed\n",
				ended, ended == 1 ? "" : "es", count);
	if (left)
		fprintf(stderr,
				"fumehood: %zu sandbox%s can't be ended. Another sandbox holds the lock of a "
				"pipe or socket that both have: end those with the same binds or the host's "
				"network (`fumehood sandbox ps` lists them)\n",
				left, left == 1 ? "" : "es");
	return left ? CMD_FAILED : CMD_OK;
}

static const struct command command_gc = {
	.name = "gc",
	.summary = "end and remove sandboxes of killed processes",
	.about = "A sandbox ends with its owner. If it does not, this command ends it: your own sandboxes, "
		 "or as root all. It also removes empty control groups and folders, as each start of "
		 "fumehood does.",
	.run = sandbox_gc_main,
};

static const struct command *const commands[] = { &command_sandbox_shell, &command_sandbox_exec,
	&command_sandbox_ps, &command_gc, NULL };

const struct command command_sandbox = {
	.name = "sandbox",
	.summary = "use sandboxes without tasks: shell, exec, ps, gc",
	.commands = commands,
};
