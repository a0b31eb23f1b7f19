/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/attach.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/scope.h"
#include "attach/pipe_relay.h"
#include "attach/terminal_relay.h"
#include "inside/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The loop of an attached program: waits for output, the program's end, signals, the timeout. */

#define KILL_AFTER_MS 1000 /* time from SIGTERM to SIGKILL after the timeout */
/* time to wait for the rest of the output, after a program that was told to end has ended */
#define LEAVE_AFTER_MS 1000
#define INSIST_AFTER_MS                                                                            \
	1000          /* a signal so long after the first one ends a program that ignores it */
#define TIMED_OUT 124 /* exit status after the timeout, as of timeout(1) */

struct attached {
	struct sandbox *sb;
	uint32_t id;
	int signals;
	/* relay of our terminal; NULL: neither stdout nor stderr is a terminal */
	struct terminal_relay *relay;
	struct pipe_relay *pipes;
	int64_t deadline_ns;
	int64_t told_ns;     /* time of the first signal that told the program to end; 0: none */
	bool timed_out;      /* the timeout told it to end */
	bool ended, drained; /* the program has ended, and its pipes are empty */
	/* end attach_run() now, without waiting for the rest of the program's output */
	bool leave;
	int status;
	uint32_t drain;
};

struct attach_ends {
	int streams[3];   /* the program's streams: see program_request */
	int to;           /* our terminal that the program's terminal is relayed to; 0: none */
	bool input;       /* relay keys to the program's terminal */
	int terminals[2]; /* socket pair, for the program's terminal from the sandbox */
};

static int attach_open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Passes signals on that ask the program to end. The program may ignore them, so a later one kills
 * the program. */
static void attach_pass_signals(struct attached *program)
{
	struct signalfd_siginfo info;

	while (read(program->signals, &info, sizeof(info)) == sizeof(info)) {
		int64_t now = clock_now_ns();
		bool insist;

		if (info.ssi_signo == SIGWINCH) {
			terminal_relay_resize(program->relay);
			continue;
		}
		if (!program->told_ns)
			program->told_ns = now;
		insist = now - program->told_ns >= INSIST_AFTER_MS * NS_PER_MS;
		sandbox_signal(program->sb, program->id, insist ? SIGKILL : (int)info.ssi_signo,
				NULL);
		program->leave = program->ended;
	}
}

static void attach_on_deadline(struct attached *program)
{
	sandbox_signal(program->sb, program->id, program->timed_out ? SIGKILL : SIGTERM, NULL);
	program->deadline_ns = clock_now_ns() + KILL_AFTER_MS * NS_PER_MS;
	program->timed_out = program->timed_out || !program->told_ns || !program->ended;
	program->leave = program->ended;
}

/* Notes the program's end. Asks for the rest of the output in its pipes, which comes before
 * SANDBOX_DONE. */
static void attach_on_end(struct attached *program, int status)
{
	program->ended = true;
	program->status = status;
	if (program->told_ns || program->timed_out)
		program->deadline_ns = clock_now_ns() + LEAVE_AFTER_MS * NS_PER_MS;
	program->drained = sandbox_drain_begin(program->sb, &program->drain, NULL) < 0;
	terminal_relay_drain(program->relay);
}

static void attach_take_events(struct attached *program)
{
	struct sandbox_event e = { .kind = SANDBOX_HUNGRY };

	while (e.kind != SANDBOX_NONE && !program->drained) {
		sandbox_next_event(program->sb, &e);
		if (e.kind == SANDBOX_EXITED && e.id == program->id)
			attach_on_end(program, e.status);
		else if (e.kind == SANDBOX_DONE && program->ended && e.id == program->drain)
			program->drained = true;
		else if (e.kind == SANDBOX_HUNGRY)
			pipe_relay_hungry(program->pipes);
		else if (e.kind == SANDBOX_GONE) {
			program->status = program->ended ? program->status : SIGKILL;
			program->ended = program->drained = true;
		}
	}
}

static bool attach_is_over(const struct attached *program)
{
	return program->leave ||
			(program->drained && !pipe_relay_pending(program->pipes) &&
					!terminal_relay_pending(program->relay));
}

static_assert(SANDBOX_FDS + 1 + TERMINAL_RELAY_FDS + PIPE_RELAY_FDS <= WAITS_MAX,
		"too much to wait for");

static void attach_wait(struct attached *program)
{
	while (attach_take_events(program), !attach_is_over(program)) {
		struct waits w = WAITS_INIT;

		if (!program->drained)
			sandbox_waits(program->sb, &w);
		waits_add(&w, program->signals, POLLIN);
		terminal_relay_waits(program->relay, &w);
		pipe_relay_waits(program->pipes, &w);
		waits_until(&w, program->deadline_ns);
		waits_poll(&w);
		attach_pass_signals(program);
		terminal_relay_advance(program->relay);
		pipe_relay_advance(program->pipes);
		if (clock_now_ns() >= program->deadline_ns)
			attach_on_deadline(program);
	}
}

/*
 * Passes our own descriptors on, but replaces terminals by a relay. The program gets typed input
 * only if its standard output is a terminal too. Otherwise others, such as `less`, may read the
 * keys.
 */
static int attach_open_ends(struct attach_ends *ends, struct fh_error *err)
{
	bool out = isatty(1), said = isatty(2), typed = isatty(0);
	/* Relay no keys in the background: the kernel stops a background process that reads or sets
	 * its terminal. */
	pid_t group = tcgetpgrp(0);
	bool input = typed && out && (group < 0 || group == getpgrp());

	ends->to = out ? 1 : said ? 2 : 0;
	ends->input = input;
	if (ends->to && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends->terminals) < 0)
		return error_set(err, errno, "make a socket pair");
	ends->streams[0] = input ? STREAM_TERMINAL : typed ? STREAM_NOTHING : 0;
	ends->streams[1] = out ? STREAM_TERMINAL : 1;
	ends->streams[2] = said ? STREAM_TERMINAL : 2;
	return 0;
}

/* Closes our copies of files that the program has open, because a copy keeps the flock
 * of a file. Keeps standard error, for our own messages. */
static void attach_forget_files(const struct attach_ends *ends)
{
	auto_close int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 2; i++) {
		struct stat st;

		if (ends->streams[i] == i && fstat(i, &st) == 0 && S_ISREG(st.st_mode))
			dup2(nothing, i);
	}
}

/* Takes the master of the program's terminal from the sandbox, and relays it. */
static int attach_relay(
		struct attached *program, const struct attach_ends *ends, struct fh_error *err)
{
	auto_close int master = -1;
	char byte;
	size_t n = 0;

	if (fd_recv_message(ends->terminals[0], &byte, 1, &master, 1, &n, 0) != 1 || !n)
		return error_say(err, EIO, "the sandbox can't make a terminal");
	return terminal_relay_open(&program->relay, master, ends->to, ends->input, err);
}

/* Starts the program. It begins to run once our copies of its descriptors are closed. */
static int attach_begin(struct attached *program, struct program_request *request,
		struct attach_ends *ends, struct fh_error *err)
{
	int r = sandbox_run(program->sb, request, &program->id, err);

	close_fd(&ends->terminals[1]);
	if (r < 0)
		return r;
	r = ends->to ? attach_relay(program, ends, err) : 0;
	close_fd(&ends->terminals[0]);
	if (r < 0)
		return r;
	pipe_relay_begin(program->pipes, program->id);
	attach_forget_files(ends);
	return sandbox_go(program->sb, program->id, err);
}

/* Sets a variable "K=V" in a list of n, in place of one of the same name. Returns the new n. */
static size_t attach_set_variable(const char **env, size_t n, const char *variable)
{
	size_t name = strcspn(variable, "=") + 1, i = 0;

	while (i < n && strncmp(env[i], variable, name) != 0)
		i++;
	env[i] = variable;
	return i < n ? n : n + 1;
}

/* Makes the program's environment. NULL: the usual one, without variables of the caller. */
static const char *const *attach_env(
		struct arena *a, const struct attach_request *wanted, bool terminal)
{
	static const char *const usual[] = { AGENT_ENVIRONMENT };
	const char *term = getenv("TERM");
	size_t n = ARRAY_SIZE(usual);
	const char **env;

	if (!terminal && !wanted->n_env)
		return NULL;
	env = arena_array(a, n + wanted->n_env + 2, sizeof(*env));
	memcpy(env, usual, sizeof(usual));
	if (terminal)
		env[n++] = arena_printf(a, "TERM=%s", term && *term ? term : "dumb");
	for (size_t i = 0; i < wanted->n_env; i++)
		n = attach_set_variable(env, n, wanted->env[i]);
	return env;
}

/* Starts the program and waits for its end. The caller releases the program. */
static int attach_play(
		struct attached *program, const struct attach_request *wanted, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct attach_ends ends = { .terminals = { -1, -1 } };
	struct program_request request = { .argv = wanted->argv,
		.cwd = wanted->cwd,
		.user = USER_AGENT,
		.streams = ends.streams,
		.n_streams = 3,
		.held = true };
	int r = attach_open_ends(&ends, err);

	if (r < 0)
		return r;
	program->pipes = pipe_relay_new(program->sb, ends.streams);
	request.env = attach_env(&arena, wanted, ends.to != 0);
	request.terminal = ends.terminals[1];
	program->signals = attach_open_signals();
	r = attach_begin(program, &request, &ends, err);
	if (r < 0)
		return r;
	if (wanted->timeout_s > 0)
		program->deadline_ns = clock_now_ns() + (int64_t)(wanted->timeout_s * 1e9);
	attach_wait(program);
	return 0;
}

int attach_run(struct sandbox *sb, const struct attach_request *wanted, struct attach_end *out_end,
		struct fh_error *err)
{
	struct attached program = { .sb = sb, .deadline_ns = INT64_MAX, .signals = -1 };
	int r = attach_play(&program, wanted, err);

	terminal_relay_close(program.relay);
	pipe_relay_free(program.pipes);
	close_fd(&program.signals);
	if (r < 0)
		return r;
	out_end->timed_out = program.timed_out;
	out_end->status = program.timed_out         ? TIMED_OUT
			: WIFEXITED(program.status) ? WEXITSTATUS(program.status)
						    : 128 + WTERMSIG(program.status);
	return 0;
}
