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
 * Time in nanoseconds in which a command can't fill a memory limit. If a command ran, or used CPU
 * time, for less, its slow counters are not read.
 */
#define SESSION_QUICK_NS 1000000

enum session_outcome {
	SESSION_OK,
	/* The command was interrupted. The shell is the same one as before unless `restarted` is
	 * set. */
	SESSION_TIMEOUT,
	SESSION_OUTPUT_LIMIT, /* output of the command over the limit was dropped */
	SESSION_RESTARTED,    /* the command ended the shell; a new one runs */
	SESSION_MEMORY_LIMIT, /* the kernel killed a process of the episode for its memory limit */
	/* The command has a syntax error: nothing was run, and the output is bash's message. */
	SESSION_SYNTAX,
	SESSION_GONE, /* the sandbox is gone: no further command is possible */
};

struct session_result {
	enum session_outcome outcome;
	int exit_code;      /* exit code of the command, 0 to 255; -1: none */
	bool restarted;     /* a new shell was started after the command */
	int shell_status;   /* wait status of the shell that ended, if restarted */
	const char *cwd;    /* working directory of the shell after the command; untrusted */
	struct buf *output; /* bytes that the command printed to stdout and stderr, capped */
	int64_t duration_ns;
	int requests; /* REQUEST_* bits of the requests that the agent made by commands */
	/* sentence on how the shell's answer was tampered with; NULL: it was not */
	const char *integrity;
};

/*
 * Opens the shell session of a sandbox, which must stay until session_free(). The first command
 * waits for SANDBOX_READY.
 */
struct session *session_new(struct sandbox *sb, size_t output_bytes);
void session_free(struct session *s); /* NULL is fine */

enum session_command_kind {
	SESSION_PLAIN,
	SESSION_CHECKED, /* check the command's syntax first; if it is wrong, run nothing */
	/* the command is the environment's, not the agent's: leave the shell's LAST_ACTION and $?
	 * unchanged */
	SESSION_ASIDE,
};

/* Starts a command; its text is copied. timeout_ms 0: no timeout. */
int session_begin(struct session *s, const char *command, int64_t timeout_ms, bool check_syntax,
		struct fh_error *err);
int session_begin_aside(
		struct session *s, const char *command, int64_t timeout_ms, struct fh_error *err);

void session_waits(const struct session *s, struct waits *w);
/* Goes on with a command as far as possible without waiting; true: the command has ended. */
bool session_advance(struct session *s);

/* Returns true if the shell claims that the command has ended, maybe falsely. Takes little time. */
bool session_answered(const struct session *s);
/*
 * Waits for the command to end, for 2 ms at most and only once for each command. Meant for a caller
 * that has nothing else to do. Returns session_answered(). An implementation need not wait.
 */
bool session_await_quick(struct session *s);
/*
 * Adds what session_waits() adds, for a caller that polls session_answered() as well. So an
 * implementation may leave out what only tells that the command has ended.
 */
void session_waits_awake(const struct session *s, struct waits *w);

/* Returns true if the command has made this request, a REQUEST_* bit, and clears the request. */
bool session_take_request(struct session *s, int request);

/*
 * Passes on output of programs that run beside the shell, within session_advance(). `take` NULL
 * ends that. session_take_hungry() returns true if a program has room for input (SANDBOX_HUNGRY),
 * and forgets that.
 */
void session_on_streams(struct session *s, sandbox_take_output *take, void *arg);
bool session_take_hungry(struct session *s);

/* Returns the result of the last ended command; valid until the next session_begin(). */
const struct session_result *session_result(const struct session *s);

/*
 * Returns the output of the running command so far. It has the command's raw bytes, and only grows.
 * It is empty in the command's first milliseconds.
 */
const struct buf *session_output(const struct session *s);

/* Ends the running command as a timeout would. */
void session_cancel(struct session *s);

int session_command(struct session *s, const char *command, int64_t timeout_ms, bool check_syntax,
		struct fh_error *err);

#endif
