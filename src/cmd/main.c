/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"

#include "fumehood-build.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern const struct command command_config;
extern const struct command command_bench;
extern const struct command command_data;
extern const struct command command_env;
extern const struct command command_replay;
extern const struct command command_export, command_report;
extern const struct command command_help;
extern const struct command command_run, command_show;
extern const struct command command_serve;
extern const struct command command_task;
extern const struct command command_view;
extern const struct command command_doctor, command_sandbox;

static const struct command *const commands[] = {
	&command_run,
	&command_env,
	&command_serve,
	&command_show,
	&command_view,
	&command_replay,
	&command_export,
	&command_report,
	&command_task,
	&command_data,
	&command_config,
	&command_sandbox,
	&command_bench,
	&command_doctor,
	&command_help,
	NULL,
};

/* Option before a command's name, as in `fumehood --version`. The table is for help: cmd_main()
 * reads the option itself. */
static const struct cmd_option options[] = {
	{ "version", 'V', OPTION_FLAG, 0, .help = "print the version" },
	{},
};

static const struct cmd_status statuses[] = {
	{ "0", "success" },
	{ "1", "a failure at run time: an episode broke, a disk is full, data is missing, a check found a problem" },
	{ "2", "bad input: a wrong option, or a name or a file that is missing or invalid" },
	{ "128+N", "ended by signal N: 130 after Ctrl-C. `env` closes on a signal, with 0" },
	{ "124-127", "only of `sandbox exec` and `sandbox shell`: see there" },
	{},
};

const struct command cmd_root = {
	.name = "fumehood",
	.summary = "a gym for agents that do machine-learning research",
	.about = "Fumehood gives an agent a machine-learning task and a shell in a sandbox. It records "
		 "every step. It scores submissions outside the sandbox, where the agent can't change "
		 "the score.\n"
		 "Variables: FUMEHOOD_STATE is the folder for baselines and data. FUMEHOOD_LOG is the "
		 "log level of `run` and `env`. NO_COLOR turns colours off.",
	.examples = "fumehood run --task titanicSurvival:micro --model baseline   # play the task's baseline\n"
		    "fumehood task list                                   # what there is to play\n"
		    "fumehood doctor                                      # what this machine can do",
	.options = options,
	.statuses = statuses,
	.commands = commands,
};

const char *cmd_version(void)
{
	return FUMEHOOD_VERSION;
}

/* Opens /dev/null for closed standard descriptors. Otherwise the next opened file would get the
 * output. */
static void main_fill_fds(void)
{
	int fd = open("/dev/null", O_RDWR);

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = open("/dev/null", O_RDWR);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	int status;

	main_fill_fds();
	/* A parent may have left SIGCHLD ignored. Then no status of a child would be known. */
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	/* Make the width of characters known. Only LC_CTYPE is set, so that numbers keep their
	 * decimal point. */
	setlocale(LC_CTYPE, "C.UTF-8");
	status = cmd_main(argc, (const char *const *)argv);
	/* Fail if the output could not be written: the disk is full, or the pipe closed. */
	if ((fflush(stdout) || ferror(stdout)) && status == CMD_OK) {
		fprintf(stderr, "fumehood: can't write to standard output: %s\n", strerror(errno));
		return CMD_FAILED;
	}
	return status;
}
