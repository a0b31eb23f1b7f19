/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bash side: the builtin that turns a bash into a nursery, and the loop that a shell runs.
 *
 * Nothing here that is live across an evaluation may need a cleanup: bash leaves by longjmp. The order
 * of headers is bash's: config.h first.
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
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fumehood-build.h"
#include "guest/guest.h"
#include "guest/look.h"

/* bash's own, not in its installed headers */
extern int read_but_dont_execute, wait_signal_received;
extern void set_signal_hard_ignored(int);

#define EVALUATE_FLAGS (0x004 | 0x010) /* SEVAL_NOHIST | SEVAL_RESETLINE */

/* Where the loop keeps its descriptors: far from what scripts use. */
enum {
	FD_DRAIN = 249,
	FD_EVENT = 250,
	FD_OUTPUT = 251,
	FD_NULL = 252,
	FD_LAST_PID = 253,
	FD_GO = 254
}; /* until it goes */

static const int kept_fds[] = { FD_DRAIN, FD_EVENT, FD_OUTPUT, FD_NULL };
#define KEPT (sizeof(kept_fds) / sizeof(kept_fds[0]))
static struct stat kept[KEPT]; /* what these descriptors are */
static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t in_command;
static bool left_by_jump = true; /* the first command finds nothing armed either */

/* --- interruption ---------------------------------------------------------------------------- */

static void do_nothing(int number)
{
	(void)number;
}

static void on_interrupt(int number)
{
	struct sigaction harmless = { .sa_handler = do_nothing }; /* SIG_IGN would be inherited */

	(void)number;
	interrupted = 1;
	if (in_command)
		interrupt_state = 1;
	if (in_command && this_shell_builtin == wait_builtin)
		wait_signal_received = SIGINT; /* `wait` looks at nothing else */
	sigaction(SIGINT, &harmless, NULL);    /* a handler of bash's would leave by its own way */
}

/*
 * The signal is hard-ignored to bash, so that no trap changes it; what an evaluation that was left by a
 * jump may have changed is the mask.
 */
static void arm(void)
{
	struct sigaction action = { .sa_handler = on_interrupt };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, INTERRUPT_SIGNAL);
	sigaction(INTERRUPT_SIGNAL, &action, NULL); /* no SA_RESTART: it ends a wait */
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	if (interrupted)
		set_sigint_handler(); /* the agent's trap, or bash's own, is back */
	interrupted = 0;
	left_by_jump = false;
}

/* --- commands -------------------------------------------------------------------------------- */

/* The text, from malloc of bash. */
static char *receive_command(
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

/* What is left running may change this at any time. */
static void let_output_block(void)
{
	int flags = fcntl(FD_OUTPUT, F_GETFL);

	if (flags >= 0 && flags & O_NONBLOCK)
		fcntl(FD_OUTPUT, F_SETFL, flags & ~O_NONBLOCK);
}

/* 0, 1 and 2 are what they were, whatever the last command did to them. */
static void put_fds_right(void)
{
	if (dup2(FD_NULL, 0) < 0 || dup2(FD_OUTPUT, 1) < 0 || dup2(FD_OUTPUT, 2) < 0)
		_exit(125);
	clearerr(stdin);
	clearerr(stdout);
	clearerr(stderr);
}

static bool same_file(int fd, const struct stat *st)
{
	struct stat now;

	return fstat(fd, &now) == 0 && now.st_dev == st->st_dev && now.st_ino == st->st_ino;
}

/* A command that took them away ends the shell itself, not the next command. */
static void check_fds(void)
{
	for (size_t i = 0; i < KEPT; i++)
		if (!same_file(kept_fds[i], &kept[i]))
			_exit(125);
}

static int32_t newest_pid(void)
{
	char text[16];
	ssize_t n = pread(FD_LAST_PID, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (int32_t)strtol(text, NULL, 10) : 0;
}

/* For the owner, if it has to end what this step began. */
static void mark_step(struct shell_mark *mark)
{
	static pid_t seen = -2; /* none is, not even none */
	struct timespec now;

	if (last_made_pid !=
			seen) { /* else no job of an earlier step is so young as to be confused */
		mark->last_pid = newest_pid();
		seen = last_made_pid;
	}
	clock_gettime(CLOCK_BOOTTIME, &now);
	mark->began_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * Runs a text and returns how the evaluator was left: 0, or the code of its jump. bash jumps to
 * top_level for errors, `exit` and interruptions; a subshell that jumps here must not go on as the loop.
 */
static int evaluate(const char *text, int *out_status)
{
	procenv_t saved;
	volatile int status = 0;
	int code;

	reset_parser(); /* else an unclosed $( makes the next text write before its line */
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

/* bash leaves this in last_command_exit_value when what it was given does not parse. */
#define BAD_SYNTAX 257 /* EX_BADSYNTAX of shell.h */

static void show_complaints(bool shown)
{
	if (dup2(shown ? FD_OUTPUT : FD_NULL, 2) < 0)
		_exit(125);
}

/*
 * Several lines are parsed first, and not executed, so that none is run if a later one is wrong. It is
 * done without a word, since what is right would be warned about twice.
 */
static bool parses(const char *text)
{
	int before = last_command_exit_value;
	int status, code;

	show_complaints(false);
	read_but_dont_execute = 1;
	code = evaluate(text, &status);
	read_but_dont_execute = 0;
	show_complaints(true);
	last_command_exit_value = before; /* $? is the last command's */
	return code == 0 && status == 0;
}

/* Runs nothing: it is there for what bash has to say. */
static enum shell_end complain(const char *text, int *out_status)
{
	read_but_dont_execute = 1;
	evaluate(text, out_status);
	read_but_dont_execute = 0;
	return interrupted ? SHELL_INTERRUPTED : SHELL_SYNTAX;
}

/* It leaves 2 for an unclosed quote, as many programs do for other reasons. */
static bool was_bad_syntax(const char *text)
{
	return last_command_exit_value == BAD_SYNTAX ||
			(last_command_exit_value == 2 && !strchr(text, '\n') && !parses(text));
}

/* One line can't be half run: bash parses it whole. */
static enum shell_end run(const char *text, int *out_status)
{
	int code = evaluate(text, out_status);

	if (interrupted)
		return SHELL_INTERRUPTED;
	if (code == EXITPROG || code == EXITBLTIN || code == ERREXIT)
		exit_shell(*out_status); /* with its EXIT trap; PID 1 tells the owner */
	return code == 0 && was_bad_syntax(text) ? SHELL_SYNTAX : SHELL_RAN;
}

static void after_command(void)
{
	in_command = 0;
	interrupt_state = 0;
	read_but_dont_execute = 0;
	wait_signal_received = 0;
	if (interrupted) /* what a builtin had not written is not this step's output */
		__fpurge(stdout);
	fflush(stdout);
	reap_dead_jobs();
	check_fds();
}

static void one_command(const struct shell_start *start)
{
	struct shell_command command;
	struct shell_status status = { 0 };
	int value = 0;
	static uint32_t turn;
	char *text = receive_command(start, &turn, &command);
	int before = last_command_exit_value;

	let_output_block();
	mark_step(&start->mail->mark);
	if (left_by_jump || interrupted)
		arm();
	in_command = 1;
	if (command.flags & SHELL_CHECK_SYNTAX && strchr(text, '\n') && !parses(text))
		status.end = complain(text, &value);
	else
		status.end = run(text, &value);
	if (status.end == SHELL_SYNTAX)
		last_command_exit_value = value;
	after_command();
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

static void place_fds(struct shell_start *start)
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

_Noreturn static void shell_main(const struct shell_start *given)
{
	static struct shell_start own;
	const struct shell_start *start = &own;

	own = *given;
	place_fds(&own);
	look_new(start);
	clear_unwind_protect_list(0);
	parse_and_execute_level = indirection_level = 0;
	startup_state = 0;
	shell_await(start);
	for (;;) {
		put_fds_right(); /* before the next command comes, when nobody waits for it */
		one_command(start);
	}
}

/* --- the builtin ----------------------------------------------------------------------------- */

/* Keeps this object in memory: `enable -d` would unload running code. */
static bool stay_loaded(void)
{
	Dl_info info;
	void *self = NULL;

	if (dladdr((void *)stay_loaded, &info))
		self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
	return self != NULL;
}

static int fumehood_builtin(WORD_LIST *list)
{
	static const struct guest_hooks hooks = { .shell = shell_main };
	static bool begun;
	int socket = list ? (int)strtol(list->word->word, NULL, 10) : -1;
	int null;

	if (begun) /* an agent that found the plugin in memory */
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
	if (!stay_loaded()) {
		builtin_error("can't stay in memory: %s", dlerror());
		return EXECUTION_FAILURE;
	}
	begun = true;
	look_command_line();
	set_signal_hard_ignored(INTERRUPT_SIGNAL);
	shell_name = "bash";
	dollar_vars[0] = savestring("bash");
	fcntl(socket, F_SETFD, FD_CLOEXEC);
	close_range((unsigned)socket + 1, ~0U, 0); /* the plugin's */
	look_plain();
	look_hide_builtin();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, 2); /* it told the owner of a plugin that can't be loaded */
	nursery_main(socket, &hooks);
}

static char *fumehood_doc[] = { "Makes this shell a nursery of sandboxes.", NULL };

__attribute__((visibility("default"))) struct builtin fumehood_struct = { "fumehood",
	fumehood_builtin, BUILTIN_ENABLED, fumehood_doc, "fumehood FD", 0 };
