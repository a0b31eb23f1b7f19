/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pager.h"

#include "base/exec.h"
#include "base/fd.h"
#include "cli/term.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signals that this process ignores while the pager runs, but the pager does not. SIGINT is for the
 * pager alone. SIGPIPE comes if the pager ends early. */
static const sigset_t *pager_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGPIPE);
	return set;
}

/* Starts the pager, which reads the text from `input`. False if it can't be started. */
static bool pager_start(int input, pid_t *out)
{
	const char *pager = getenv("PAGER");
	const char *const argv[] = { "sh", "-c", pager ? pager : "less", NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t usual;
	bool started;

	if (pager && !*pager)
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, pager_signals(&usual));
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	started = posix_spawn(out, "/bin/sh", &actions, &attributes, exec_list(argv), environ) == 0;
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return started;
}

/* Shows a text in the pager. False if the pager did not run: the shell that starts it then ends
 * with 127. */
static bool pager_show(const struct buf *text)
{
	int ends[2], status;
	pid_t child;

	/* options of less: quit if the text fits one screen, raw colours, no clearing */
	setenv("LESS", "FRX", 0);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	if (!pager_start(ends[0], &child))
		child = -1;
	close(ends[0]);
	if (child >= 0)
		(void)fd_write_full(ends[1], buf_str(text), text->len);
	close(ends[1]);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return false;
	return !WIFEXITED(status) || WEXITSTATUS(status) != 127;
}

void pager_print(const struct buf *text)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, pipe_before, int_before;
	bool shown;

	fflush(stdout);
	sigaction(SIGPIPE, &ignore, &pipe_before);
	sigaction(SIGINT, &ignore, &int_before);
	shown = term_redraws(STDOUT_FILENO) && isatty(STDIN_FILENO) && pager_show(text);
	sigaction(SIGPIPE, &pipe_before, NULL);
	sigaction(SIGINT, &int_before, NULL);
	if (!shown)
		fwrite(buf_str(text), 1, text->len, stdout);
}
