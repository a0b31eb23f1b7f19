/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHELL_SESSION_H
#define SHELL_SESSION_H

#include "base/buf.h"
#include "base/error.h"
#include "base/waits.h"
#include "sandbox/sandbox.h"

/*
 * The shell session of an episode: one long-lived bash in a sandbox that was started with
 * `options.shell`. session_begin() starts a command. The caller calls session_advance() whenever a
 * wait of the session is ready, until it returns true. session_command() does all of that and
 * blocks.
 *
 * The session outlives every command. If a command ends, replaces, kills or hangs the shell, a new
 * one starts in the same files. The result says so.
 */
struct session;

/*
 * Skip slow counters for a command that ran, or used CPU time, for less than this. It can't have
 * filled a memory of any use.
 */
#define SESSION_QUICK_NS 1000000

enum session_outcome {
	SESSION_OK,
	/* The command was interrupted; the shell is the same unless `restarted`. */
	SESSION_TIMEOUT,
	SESSION_OUTPUT_LIMIT, /* output over the limit was dropped */
	SESSION_RESTARTED,    /* the command ended the shell; a new one runs */
	SESSION_MEMORY_LIMIT, /* the kernel killed a process of the episode for its memory limit */
	/* The command does not parse: nothing was run, and the output is bash's message. */
	SESSION_SYNTAX,
	SESSION_GONE, /* the sandbox is gone: no further command is possible */
};

struct session_result {
	enum session_outcome outcome;
	int exit_code;      /* exit code of the command, 0 to 255; -1: none */
	bool restarted;     /* a new shell was started after the command */
	int shell_status;   /* wait status of the shell that ended, if restarted */
	const char *cwd;    /* working directory after the command; untrusted */
	struct buf *output; /* stdout and stderr as bytes, capped */
	int64_t duration_ns;
	int requests; /* REQUEST_* bits that the agent asked for */
	/* A sentence if the shell's answer was tampered with; NULL: it was not. */
	const char *integrity;
};

/*
 * Opens the session of a sandbox, which must stay until session_free(). The first command waits for
 * SANDBOX_READY.
 */
struct session *session_new(struct sandbox *sb, size_t output_bytes);
void session_free(struct session *s); /* NULL is fine */

enum session_command_kind {
	SESSION_PLAIN,
	SESSION_CHECKED, /* parse the command first; if that fails, run nothing */
	SESSION_ASIDE,   /* not a command of the agent: leave LAST_ACTION and $? unchanged */
};

/* Starts a command; its text is copied. timeout_ms 0: no timeout. */
int session_begin(struct session *s, const char *command, int64_t timeout_ms, bool check_syntax,
		struct fh_error *err);
int session_begin_aside(
		struct session *s, const char *command, int64_t timeout_ms, struct fh_error *err);

void session_waits(const struct session *s, struct waits *w);
bool session_advance(struct session *s); /* does the session's work; true: the command has ended */

/* Whether the shell claims that the command has ended. Cheap; untrusted. */
bool session_answered(const struct session *s);
/*
 * Waits 2 ms at most for the command to end, once for each command. For a caller that has nothing
 * else to do. True: session_answered(). Spins for the first microseconds if that paid off lately.
 */
bool session_await_quick(struct session *s);
/*
 * As session_waits(), for a caller that polls session_answered(): the shell need not wake the
 * caller.
 */
void session_waits_awake(const struct session *s, struct waits *w);

/* Whether the command has asked for this REQUEST_*. Clears the request. */
bool session_take_request(struct session *s, int request);

/* Returns the result of the last ended command; valid until the next session_begin(). */
const struct session_result *session_result(const struct session *s);

/*
 * Returns output of the running command so far, after its first milliseconds. It is raw, and it
 * only grows.
 */
const struct buf *session_output(const struct session *s);

/* Ends the running command as a timeout would. */
void session_cancel(struct session *s);

int session_command(struct session *s, const char *command, int64_t timeout_ms, bool check_syntax,
		struct fh_error *err);

#endif
