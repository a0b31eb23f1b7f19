/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHELL_SESSION_H
#define SHELL_SESSION_H

#include "base/buf.h"
#include "base/error.h"
#include "base/waits.h"
#include "sandbox/sandbox.h"

/*
 * The shell session of an episode: one long-lived bash in a sandbox that was started with
 * `options.shell`. A command is begun, advanced whenever its waits come, and is over when
 * session_advance() says so; session_command() does all of it and blocks.
 *
 * Whatever a command does, the session goes on: after a command that ended, replaced, killed or hung
 * the shell, a new one is started in the same files, and the result says so.
 */
struct session;

/* What is over sooner, or has had the CPU for less since they were looked at, can't have filled a memory of any
 * use: counters that take long to read are left alone after it. */
#define SESSION_QUICK_NS 1000000

enum session_outcome {
	SESSION_OK,
	SESSION_TIMEOUT,      /* interrupted; the shell is the same unless `restarted` */
	SESSION_OUTPUT_LIMIT, /* more output than the cap: the rest is dropped */
	SESSION_RESTARTED,    /* the command ended the shell; a new one runs */
	SESSION_MEMORY_LIMIT, /* the kernel ended a process of the episode for its memory limit */
	SESSION_SYNTAX,       /* it does not parse: nothing was run, the output is the complaint */
	SESSION_GONE,         /* the sandbox is gone: no further command is possible */
};

struct session_result {
	enum session_outcome outcome;
	int exit_code;      /* of the command, 0 to 255; -1 when there is none */
	bool restarted;     /* a new shell was started after it */
	int shell_status;   /* wait status of the shell that ended, if restarted */
	const char *cwd;    /* after the command; the agent's word */
	struct buf *output; /* stdout and stderr as bytes, capped */
	int64_t duration_ns;
	int requests;          /* REQUEST_* bits that the agent asked for */
	const char *integrity; /* a sentence when the shell's frames were tampered with, else NULL */
};

/* The sandbox must stay until session_free(). Its SANDBOX_READY is awaited by the first command. */
struct session *session_new(struct sandbox *sb, size_t output_bytes);
void session_free(struct session *s);

/* The command's text is copied. check_syntax: parse it first, run nothing if it does not parse. */
int session_begin(struct session *s, const char *command, int64_t timeout_ms, bool check_syntax,
		struct fh_error *err);

/* The same for a command that is none of the agent's: the shell's LAST_ACTION and $? are as before it. */
int session_begin_aside(
		struct session *s, const char *command, int64_t timeout_ms, struct fh_error *err);
void session_waits(const struct session *s, struct waits *w);
bool session_advance(struct session *s);

/* Whether the shell says that the command is over: the agent's word. */
bool session_answered(const struct session *s);
/* For who has nothing to do but to wait for this command, before it waits: 2 ms at most, once for each command. True:
 * session_answered(). The first microseconds it stays awake, where that was worth it lately. */
bool session_await_quick(struct session *s);
/* As session_waits(), for who looks at session_answered() all the time: the shell need wake nobody. */
void session_waits_awake(const struct session *s, struct waits *w);

/* Whether the command has asked for this (one of REQUEST_*), which is forgotten with it. */
bool session_take_request(struct session *s, int request);

/* Of the last command that is over; valid until the next session_begin(). */
const struct session_result *session_result(const struct session *s);

/* Output of the command so far, of one that lasts longer than some milliseconds; raw, and it only grows. */
const struct buf *session_output(const struct session *s);

/* Ends the command that runs as a timeout would. */
void session_cancel(struct session *s);

int session_command(struct session *s, const char *command, int64_t timeout_ms, bool check_syntax,
		struct fh_error *err);

#endif
