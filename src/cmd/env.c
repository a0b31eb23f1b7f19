/* SPDX-License-Identifier: Apache-2.0 */
#include "run/env_server.h"

#include "cli/interrupt.h"
#include "cmd/episode_options.h"
#include "cmd/log_options.h"

#include <unistd.h>

/* fumehood env: serves an environment over standard input and output (run/env_server.h). */

struct env_command {
	struct env_server_options server;
	struct log_choice log;
};

static int run_env(struct command_context *ctx)
{
	struct env_command *c = ctx->options;
	__attribute__((cleanup(env_server_close))) struct env_server server;
	struct log_options log;
	struct fh_error err;

	env_server_init(&server, &c->server);
	if (!c->server.task)
		return cmd_misuse(
				ctx, "--task is missing; `fumehood task list` shows what there is");
	if (log_options_read(ctx, &c->log, LOG_WARN, &log, &err) < 0)
		return cmd_refuse(&err);
	log_setup(&log);
	if (interrupt_setup(&err) < 0)
		return cmd_fail(&err);
	c->server.in_fd = STDIN_FILENO;
	c->server.out_fd = STDOUT_FILENO;
	c->server.stop_fd = interrupt_fd();
	c->server.warner = &cmd_warner;
	if (env_server_open(&server, &err) < 0)
		return cmd_refuse(&err);
	if (env_server_serve(&server, &err) < 0)
		return cmd_fail(&err);
	return server.unrecorded ? CMD_FAILED : CMD_OK;
}

#define FIELD(f) offsetof(struct env_command, f)

static const struct cmd_option options[] = {
	{ "task", 0, OPTION_TEXT, FIELD(server.task), "T[:V]", "which task", .heading = "Episode" },
	EPISODE_OPTIONS(FIELD(server.episode)),
	{ "gpus", 0, OPTION_LIST, FIELD(server.gpus), "N,...",
			"NVIDIA's GPUs that its episodes have, 2 for /dev/nvidia2, and no other run "
			"meanwhile" },
	{ "out", 0, OPTION_TEXT, FIELD(server.out), "DIR",
			"record each episode in a folder beneath DIR", .heading = "Record" },
	{ "suffix", 0, OPTION_TEXT, FIELD(server.suffix), "TEXT", "end of those folders' names" },
	LOG_OPTIONS(FIELD(log)),
	{},
};

const struct command command_env = {
	.name = "env",
	.summary = "one environment over standard input and output, in JSON lines",
	.about = "Reads one JSON object per line and answers each with one, in order:\n"
		 "{\"op\":\"reset\",\"seed\":0} gives observation and info;\n"
		 "{\"op\":\"step\",\"action\":\"ls\",\"timeout_s\":25} gives observation, reward, "
		 "terminated, truncated and info;\n"
		 "{\"op\":\"close\"} gives {\"closed\":true} and ends, as the end of input does, and INT, TERM, "
		 "HUP and QUIT, with exit status 0: a record that goes on is ended with early_exit.\n"
		 "What is wrong gives {\"error\":{\"code\":...,\"message\":...}}, with a code of bad_json, "
		 "too_long, unknown_op, bad_argument, not_reset, episode_over or failed, and the "
		 "episode goes on. Nothing else is printed on standard output.\n"
		 "A reset without a seed gets --seed the first time, and then the number after the last.",
	.options = options,
	.options_size = sizeof(struct env_command),
	.examples = "fumehood env --task battleOfSexes --max-steps 20\n"
		    "fumehood env --task titanic --variant micro --reward improvement --out runs",
	.run = run_env,
};
