/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bash side: the builtin that turns a bash into a nursery, and the loop that a shell runs.
 *
 * bash may leave the evaluation of a command by longjmp. So no variable that lives across it may
 * have a cleanup attribute. bash needs its config.h to be the first header.
 */
#include <config.h>

#include "loadables.h"

#include "builtins/builtext.h"
#include "builtins/common.h"
#include "execute_cmd.h"
#include "jobs.h"
#include "quit.h"
#include "sig.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fumehood-build.h"
#include "guest/look.h"

/* Variables and functions of bash that its installed headers lack. */
extern int read_but_dont_execute, wait_signal_received;
extern void set_signal_hard_ignored(int);

/* numbers of bash's flags SEVAL_NOHIST | SEVAL_RESETLINE, which its installed headers lack */
#define EVALUATE_FLAGS (0x004 | 0x010)

/*
 * Descriptors of the shell's command loop, with numbers that scripts do not use. FD_GO is closed
 * before the first command runs.
 */
enum {
	FD_DRAIN = 249,
	FD_EVENT = 250,
	FD_OUTPUT = 251,
	FD_NULL = 252,
	FD_LAST_PID = 253,
	FD_GO = 254
};

static const int kept_fds[] = { FD_DRAIN, FD_EVENT, FD_OUTPUT, FD_NULL };
#define KEPT (sizeof(kept_fds) / sizeof(kept_fds[0]))
/* results of fstat() of kept_fds at the shell's start, to detect that a command replaced one */
static struct stat kept[KEPT];
static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t in_command;
/*
 * True: bash left the last evaluation of a command by longjmp. It is true at first, so that the
 * first command calls glue_arm().
 */
static bool left_by_jump = true;

/* --- interruption of a command ---------------------------------------------------------------- */

static void glue_ignore(int number)
{
	(void)number;
}

static void glue_on_interrupt(int number)
{
	/* Ignore the signal by a handler. Child processes would inherit SIG_IGN. */
	struct sigaction harmless = { .sa_handler = glue_ignore };

	(void)number;
	interrupted = 1;
	if (in_command)
		interrupt_state = 1;
	if (in_command && this_shell_builtin == wait_builtin)
		/* the interrupted builtin `wait` returns only if this variable is set */
		wait_signal_received = SIGINT;
	/* Replace bash's SIGINT handler, which would jump out of the command. */
	sigaction(SIGINT, &harmless, NULL);
}

/*
 * Sets the handler of INTERRUPT_SIGNAL, and unblocks the signal. bash treats the signal as
 * hard-ignored, so that no trap of the agent changes it. But an evaluation that bash left by
 * longjmp may have left the signal blocked.
 */
static void glue_arm(void)
{
	struct sigaction action = { .sa_handler = glue_on_interrupt };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, INTERRUPT_SIGNAL);
	/* Set the handler without SA_RESTART, so that the signal ends a system call that waits. */
	sigaction(INTERRUPT_SIGNAL, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	if (interrupted)
		/* set the agent's trap for SIGINT again, or bash's own handler */
		set_sigint_handler();
	interrupted = 0;
	left_by_jump = false;
}

/* Waits for the owner's next command and returns its text, allocated by bash. */
static char *glue_receive(
		const struct shell_start *start, uint32_t *turn, struct shell_command *out)
{
	char *text;

	while (!shell_wait(start->mail, turn))
		interrupt_state = 0;
	interrupt_state = 0;
	*out = start->mail->command;
	if (out->length > SHELL_COMMAND_MAX)
		_exit(125);
	text = xmalloc(out->length + 1);
	memcpy(text, start->mail->text, out->length);
	text[out->length] = '\0';
	return text;
}

/* --- one command ----------------------------------------------------------------------------- */

/* Restores descriptors 0, 1 and 2 of the shell, which the last command may have changed. */
static void glue_restore_fds(void)
{
	if (dup2(FD_NULL, 0) < 0 || dup2(FD_OUTPUT, 1) < 0 || dup2(FD_OUTPUT, 2) < 0)
		_exit(125);
	clearerr(stdin);
	clearerr(stdout);
	clearerr(stderr);
}

/*
 * Stores the time and the newest pid when a command begins. From these PID 1 can tell which
 * processes the command started.
 */
static void glue_mark_step(struct shell_mark *mark)
{
	static pid_t seen = -2; /* -2: a value that last_made_pid, bash's newest child, never has */
	struct timespec now;

	/*
	 * Skip reading the newest pid if bash has started no process since the last read. Then no
	 * process of an earlier command can be newer than the stored pid.
	 */
	if (last_made_pid != seen) {
		char text[16];
		ssize_t n = pread(FD_LAST_PID, text, sizeof(text) - 1, 0);

		text[n > 0 ? n : 0] = '\0';
		mark->last_pid = (int32_t)strtol(text, NULL, 10);
		seen = last_made_pid;
	}
	clock_gettime(CLOCK_BOOTTIME, &now);
	mark->began_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * Has bash evaluate a text. bash leaves the evaluation by longjmp to top_level for errors, `exit`
 * and interruptions. Returns the code of that jump, or 0 without one. A subshell that jumps here
 * exits: it must not go on as the command loop.
 */
static int glue_evaluate(const char *text, int *out_status)
{
	procenv_t saved;
	volatile int status = 0;
	int code;

	/*
	 * Reset bash's parser after a text. After an unclosed $( it would otherwise write to memory
	 * before the buffer of the next text's line.
	 */
	reset_parser();
	COPY_PROCENV(top_level, saved);
	code = setjmp_nosigs(top_level);
	if (code == 0)
		status = parse_and_execute(savestring(text), "bash", EVALUATE_FLAGS);
	else
		status = last_command_exit_value;
	if (code)
		left_by_jump = true;
	if (getpid() != dollar_dollar_pid)
		_exit(status);
	COPY_PROCENV(saved, top_level);
	*out_status = status;
	return code;
}

/*
 * Value of bash's last_command_exit_value after a text with a syntax error: EX_BADSYNTAX of its
 * shell.h.
 */
#define BAD_SYNTAX 257

static void glue_show_errors(bool shown)
{
	if (dup2(shown ? FD_OUTPUT : FD_NULL, 2) < 0)
		_exit(125);
}

/*
 * Parses a text without running it. So no line runs if a later line has a syntax error. Prints no
 * messages: they would come again when the text runs.
 */
static bool glue_parses(const char *text)
{
	int before = last_command_exit_value;
	int status, code;

	glue_show_errors(false);
	read_but_dont_execute = 1;
	code = glue_evaluate(text, &status);
	read_but_dont_execute = 0;
	glue_show_errors(true);
	last_command_exit_value = before; /* restore $?, the status of the last command */
	return code == 0 && status == 0;
}

/* Has bash print the syntax error of a text. Runs nothing. */
static enum shell_end glue_complain(const char *text, int *out_status)
{
	read_but_dont_execute = 1;
	glue_evaluate(text, out_status);
	read_but_dont_execute = 0;
	return interrupted ? SHELL_INTERRUPTED : SHELL_SYNTAX;
}

/*
 * Runs a command's text. bash parses a whole line before it runs it, so a line with a syntax error
 * never runs in part.
 */
static enum shell_end glue_run(const char *text, int *out_status)
{
	int code = glue_evaluate(text, out_status);

	if (interrupted)
		return SHELL_INTERRUPTED;
	if (code == EXITPROG || code == EXITBLTIN || code == ERREXIT)
		/* ends the shell after its EXIT trap; PID 1 reports the shell's end to the owner */
		exit_shell(*out_status);
	/*
	 * bash reports an unclosed quote by status 2, which many programs return for other reasons.
	 * So parse the text again to tell them apart.
	 */
	if (code == 0 && last_command_exit_value == 2 && !strchr(text, '\n') && !glue_parses(text))
		return SHELL_SYNTAX;
	return code == 0 && last_command_exit_value == BAD_SYNTAX ? SHELL_SYNTAX : SHELL_RAN;
}

static void glue_after_command(void)
{
	struct stat now;

	in_command = 0;
	interrupt_state = 0;
	read_but_dont_execute = 0;
	wait_signal_received = 0;
	if (interrupted) /* drop output that an interrupted builtin has not written yet */
		__fpurge(stdout);
	fflush(stdout);
	/* Have bash print now which background jobs a signal has ended. Else it would do so after
	 * the next program that it runs, perhaps in a later step. */
	notify_and_cleanup();
	reap_dead_jobs();
	/* End the shell now if the command closed or replaced a descriptor of this loop. Else the
	 * next command would get the blame. */
	for (size_t i = 0; i < KEPT; i++)
		if (fstat(kept_fds[i], &now) < 0 || now.st_dev != kept[i].st_dev ||
				now.st_ino != kept[i].st_ino)
			_exit(125);
}

static void glue_do_command(const struct shell_start *start)
{
	struct shell_command command;
	struct shell_status status = { 0 };
	int value = 0;
	static uint32_t turn;
	char *text = glue_receive(start, &turn, &command);
	int before = last_command_exit_value;
	int flags = fcntl(FD_OUTPUT, F_GETFL);

	/* Make the pipe blocking again: a background job may have made it non-blocking. */
	if (flags >= 0 && flags & O_NONBLOCK)
		fcntl(FD_OUTPUT, F_SETFL, flags & ~O_NONBLOCK);
	glue_mark_step(&start->mail->mark);
	if (left_by_jump || interrupted)
		glue_arm();
	in_command = 1;
	if (command.flags & SHELL_CHECK_SYNTAX && strchr(text, '\n') && !glue_parses(text))
		status.end = glue_complain(text, &value);
	else
		status.end = glue_run(text, &value);
	if (status.end == SHELL_SYNTAX)
		last_command_exit_value = value;
	glue_after_command();
	if (command.flags & SHELL_ASIDE)
		last_command_exit_value = before;
	else
		look_last_action(text);
	free(text);
	status.nonce = command.nonce;
	status.status = (uint32_t)value & 0xff;
	shell_answer(start, turn, &status,
			the_current_working_directory ? the_current_working_directory : "");
}

/* --- the loop -------------------------------------------------------------------------------- */

static void glue_place_fds(struct shell_start *start)
{
	int null = open("/dev/null", O_RDWR);
	int last_pid = open("/proc/sys/kernel/ns_last_pid", O_RDONLY);

	if (null < 0 || dup3(start->ends.drain, FD_DRAIN, O_CLOEXEC) < 0 ||
			dup3(start->ends.event, FD_EVENT, O_CLOEXEC) < 0 ||
			dup3(start->ends.output, FD_OUTPUT, O_CLOEXEC) < 0 ||
			dup3(null, FD_NULL, O_CLOEXEC) < 0 ||
			dup3(start->ends.go, FD_GO, O_CLOEXEC) < 0)
		_exit(125);
	start->ends.go = FD_GO;
	start->ends.drain = FD_DRAIN;
	start->ends.event = FD_EVENT;
	start->ends.output = FD_OUTPUT;
	for (size_t i = 0; i < KEPT; i++)
		if (fstat(kept_fds[i], &kept[i]) < 0)
			_exit(125);
	if (last_pid >= 0)
		dup3(last_pid, FD_LAST_PID, O_CLOEXEC);
	else
		close(FD_LAST_PID);
	close_range(3, FD_DRAIN - 1, 0);
	close_range(FD_GO + 1, ~0U, 0);
}

_Noreturn static void glue_main(const struct shell_start *given)
{
	static struct shell_start own;
	const struct shell_start *start = &own;

	own = *given;
	glue_place_fds(&own);
	look_new(start);
	clear_unwind_protect_list(0);
	parse_and_execute_level = indirection_level = 0;
	startup_state = 0;
	shell_await(start);
	for (;;) {
		/* Restore the descriptors before waiting for a command, so that the command's
		 * measured time does not contain this. */
		glue_restore_fds();
		glue_do_command(start);
	}
}

/* --- the builtin ----------------------------------------------------------------------------- */

/* Keeps bash from unloading this plugin: `enable -d` would remove code that is running. */
static bool glue_stay_loaded(void)
{
	Dl_info info;
	void *self = NULL;

	if (dladdr((void *)glue_stay_loaded, &info))
		self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
	return self != NULL;
}

static int glue_builtin(WORD_LIST *list)
{
	static const struct guest_hooks hooks = { .shell = glue_main };
	static bool begun;
	int socket = list ? (int)strtol(list->word->word, NULL, 10) : -1;
	int null;

	if (begun) /* an agent has found the plugin's builtin in memory and calls it: refuse */
		return EXECUTION_FAILURE;
	if (socket < 0) {
		builtin_usage();
		return EX_USAGE;
	}
	if (strcmp(get_string_value("BASH_VERSION"), FUMEHOOD_BASH_VERSION) != 0) {
		builtin_error("this bash is %s, the plugin was built for " FUMEHOOD_BASH_VERSION,
				get_string_value("BASH_VERSION"));
		return EXECUTION_FAILURE;
	}
	if (!glue_stay_loaded()) {
		builtin_error("can't stay in memory: %s", dlerror());
		return EXECUTION_FAILURE;
	}
	begun = true;
	look_command_line();
	set_signal_hard_ignored(INTERRUPT_SIGNAL);
	shell_name = "bash";
	dollar_vars[0] = savestring("bash");
	fcntl(socket, F_SETFD, FD_CLOEXEC);
	/* close all descriptors above the socket, for example the memory file that holds
	 * the plugin */
	close_range((unsigned)socket + 1, ~0U, 0);
	look_plain();
	look_hide_builtin();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, 2); /* replace stderr: until now the owner read errors from it */
	nursery_main(socket, &hooks);
}

static char *fumehood_doc[] = { "Makes this shell a nursery of sandboxes.", NULL };

__attribute__((visibility("default"))) struct builtin fumehood_struct = { "fumehood", glue_builtin,
	BUILTIN_ENABLED, fumehood_doc, "fumehood FD", 0 };
