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

/* Tells the user and the client why the environment can't be opened. Returns the exit status. */
static int env_refuse(struct env_server *server, const struct fh_error *err)
{
	int status = cmd_refuse(err);
	struct fh_error unwritten;

	/* stderr has the reason already: a client that has gone misses nothing */
	env_server_refuse(server, err->message, &unwritten);
	return status;
}

static int env_main(struct command_context *ctx)
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
		return env_refuse(&server, &err);
	if (env_server_serve(&server, &err) < 0)
		return cmd_fail(&err);
	return server.unrecorded ? CMD_FAILED : CMD_OK;
}

#define FIELD(f) offsetof(struct env_command, f)

static const struct cmd_option options[] = {
	{ "task", 0, OPTION_TEXT, FIELD(server.task), "T[:V]", "task", .heading = "Episode" },
	EPISODE_OPTIONS(FIELD(server.episode)),
	{ "gpus", 0, OPTION_LIST, FIELD(server.gpus), "N,...",
			"NVIDIA GPUs of the episodes, 2 for /dev/nvidia2, which no other run has "
			"meanwhile" },
	{ "out", 0, OPTION_PATH, FIELD(server.out), "DIR",
			"record each episode in a folder beneath DIR", .heading = "Record" },
	{ "suffix", 0, OPTION_TEXT, FIELD(server.suffix), "TEXT", "end of the folders' names",
			.needs = "out" },
	LOG_OPTIONS(FIELD(log)),
	{},
};

const struct command command_env = {
	.name = "env",
	.summary = "serve an environment over standard input and output, in JSON lines",
	.about = "Reads one JSON object per line and answers each with one, in order:\n"
		 "{\"op\":\"reset\",\"seed\":0} gives observation and info;\n"
		 "{\"op\":\"step\",\"action\":\"ls\",\"timeout_s\":25} gives observation, reward, "
		 "terminated, truncated and info;\n"
		 "{\"op\":\"close\"} gives {\"closed\":true} and ends the program.\n"
		 "The end of input closes too, and so do the signals INT, TERM, HUP and QUIT. The exit "
		 "status is then 0, and an unfinished record ends with early_exit.\n"
		 "An invalid request gives {\"error\":{\"code\":...,\"message\":...}}, and the episode goes "
		 "on. Codes: bad_json, too_long, unknown_op, bad_argument, not_reset, episode_over, "
		 "failed. If the environment can't be opened, the code not_opened comes without a "
		 "request, and the exit status is not 0. Standard output has only answers.\n"
		 "The first reset without a seed gets --seed, and each later one the number after the last.",
	.options = options,
	.options_size = sizeof(struct env_command),
	.examples = "fumehood env --task battleOfSexes --max-steps 20\n"
		    "fumehood env --task titanicSurvival --variant micro --reward improvement --out runs",
	.run = env_main,
};
