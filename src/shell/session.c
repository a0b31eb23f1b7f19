/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/session.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "inside/places.h"
#include "proto/guest.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A command is over when the shell's status came (with the command's own random number, so that none
 * can be sent ahead of time), or when the shell ended. What the output's pipe holds at that moment is
 * the command's; what comes later, from background jobs, is the next one's. The shell brings it with
 * its status. A shell that ended can't: then the porter does. It also forwards the output of a command
 * that lasts, which would wait for ever if nobody emptied the pipe.
 *
 * A timeout is driven from here, a level of force at a time, until the status comes; what does not
 * answer to any is killed with its shell. Whatever the command left running is killed at last.
 */

/* After the timeout, milliseconds until the next level. */
static const struct {
	int wait_ms;
	enum interrupt_level level;
} force[] = {
	{ 0, INTERRUPT_ASK },
	{ 150, INTERRUPT_KILL },
	{ 250, INTERRUPT_KILL },
	{ 500, INTERRUPT_KILL },
	{ 500, INTERRUPT_KILL },
	{ 600, INTERRUPT_SHELL },
	{ 1000, INTERRUPT_ALL },
};
#define LAST_WAIT_MS 3000 /* for the end of a killed shell to be told, or for the porter */
#define PUMP_NS 2000000   /* a command that lasts longer has its output forwarded */
#define PUMP_AGAIN_NS (5 * NS_PER_S) /* and one that lasts so long is asked about again */
#define NONCES 32                    /* of 256 bytes, getrandom() gives all or nothing */

/* A process that sleeps takes as long to be woken as a quick command takes to run. Where that does not
 * come (other commands, one CPU for both), more and more of them go without. */
#define SPIN_NS 20000
#define LEAVE_OUT_MAX 127

enum state {
	IDLE,
	RUNNING,
	ENDING,   /* the shell can't be believed: PID 1 will say how it ended */
	SETTLING, /* the status is there; if it was interrupted, no signal may hit the next one */
	DRAINING, /* the shell has ended: the porter brings what it printed last */
};

struct session {
	struct sandbox *sb;
	enum state state;
	struct buf output;
	bool more_output; /* than the cap */
	uint32_t drain;   /* when DRAINING: what the porter was asked */

	uint64_t nonce;
	uint64_t nonces[NONCES]; /* the next ones */
	size_t n_nonces;
	int64_t began_ns, deadline_ns;
	int64_t pump_ns;              /* when the porter is told to forward its output, next */
	bool awaited;                 /* session_await_quick(), for this command */
	bool warm;                    /* the shell has run a command */
	unsigned leave_out, left_out; /* commands that go without, and have gone, since one */
	size_t next_force;            /* index in force[]; 0: not timed out */
	int interruptions;            /* that PID 1 has not dealt with yet */
	bool cancelled;

	struct shell_status status; /* when SETTLING */
	int64_t oom_kills;          /* when it was last looked at, with so much CPU time used */
	int64_t oom_cpu_ns;
	bool shell_ended; /* with this status */
	int shell_status;
	char cwd[GUEST_PATH_MAX + 1];
	char integrity[160];
	struct session_result result;
};

/* Of the porter's. What comes between two commands is the next one's. */
static void take_output(void *arg, int slot, const char *data, size_t n)
{
	struct session *s = arg;
	size_t room = s->output.cap - s->output.len;

	if (slot)
		return;
	buf_add(&s->output, data, n < room ? n : room);
	s->more_output = s->more_output || n > room;
}

struct session *session_new(struct sandbox *sb, size_t output_bytes)
{
	struct session *s = xcalloc(1, sizeof(*s));

	s->sb = sb;
	buf_init(&s->output, output_bytes);
	sandbox_on_output(sb, take_output, s);
	s->cwd[0] = '/';
	s->oom_kills = -1;
	return s;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	buf_release(&s->output);
	free(s);
}

const struct session_result *session_result(const struct session *s)
{
	return &s->result;
}

const struct buf *session_output(const struct session *s)
{
	return &s->output;
}

/* --- the end of a command -------------------------------------------------------------------- */

static bool was_quick(const struct session *s)
{
	int64_t cpu_ns;

	if (s->result.duration_ns < SESSION_QUICK_NS)
		return true;
	cpu_ns = sandbox_cpu_ns(s->sb);
	return cpu_ns >= 0 && cpu_ns - s->oom_cpu_ns < SESSION_QUICK_NS;
}

/* The counter is not looked at after what can't have filled its memory. */
static bool killed_for_memory(struct session *s, int exit_code)
{
	int64_t before = s->oom_kills;

	if (exit_code == 0 && was_quick(s))
		return false;
	s->oom_cpu_ns = sandbox_cpu_ns(s->sb);
	s->oom_kills = sandbox_oom_kills(s->sb);
	return s->oom_kills > (before > 0 ? before : 0);
}

static void finish(struct session *s, enum session_outcome outcome, int exit_code)
{
	struct session_result *r = &s->result;

	r->duration_ns = clock_now_ns() - s->began_ns;
	if (outcome != SESSION_GONE && killed_for_memory(s, exit_code))
		outcome = SESSION_MEMORY_LIMIT;
	if (s->next_force && !s->cancelled && outcome != SESSION_GONE)
		outcome = SESSION_TIMEOUT;
	if (s->more_output && outcome == SESSION_OK)
		outcome = SESSION_OUTPUT_LIMIT;
	r->outcome = outcome;
	r->exit_code = exit_code;
	r->cwd = s->cwd;
	r->output = &s->output;
	r->integrity = s->integrity[0] ? s->integrity : NULL;
	s->state = IDLE;
}

static void interrupt(struct session *s, enum interrupt_level level)
{
	if (sandbox_interrupt(s->sb, level, NULL) == 0)
		s->interruptions++;
}

/* The shell has ended; what it has printed comes first. */
static void drain(struct session *s)
{
	if (s->next_force)
		interrupt(s, INTERRUPT_KILL);
	s->shell_ended = false;
	s->state = DRAINING;
	s->deadline_ns = clock_now_ns() + LAST_WAIT_MS * NS_PER_MS;
	if (sandbox_drain_begin(s->sb, &s->drain, NULL) < 0)
		finish(s, SESSION_GONE, -1);
}

static void restart(struct session *s)
{
	struct fh_error err = FH_ERROR_INIT;
	int status = s->shell_status;
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

	s->result.restarted = true;
	s->result.shell_status = status;
	snprintf(s->cwd, sizeof(s->cwd), "%s", GUEST_WORKSPACE); /* where a new one begins */
	if (sandbox_restart_shell(s->sb, &err) < 0)
		finish(s, SESSION_GONE, -1);
	else
		finish(s, SESSION_RESTARTED, code);
}

static void take_status(struct session *s)
{
	s->state = SETTLING;
	if (s->next_force) {
		interrupt(s, INTERRUPT_KILL);
		s->deadline_ns = clock_now_ns() + LAST_WAIT_MS * NS_PER_MS;
	}
}

/* All that the porter has sent before the status is read, too. Without a porter some of it may be lost. */
static bool settled(const struct session *s)
{
	if (sandbox_has_event(s->sb) || sandbox_is_ending(s->sb))
		return false;
	return !s->next_force || s->interruptions <= 0 || clock_now_ns() >= s->deadline_ns;
}

/* With the command's status in hand. */
static void conclude(struct session *s)
{
	bool syntax = s->status.end == SHELL_SYNTAX, cut;

	sandbox_shell_output(s->sb, &s->status, &s->output, &cut);
	s->more_output = s->more_output || cut;
	finish(s, syntax ? SESSION_SYNTAX : SESSION_OK, (int)(s->status.status & 0xff));
}

/* A shell that can't be heard, or believed, is taken away. */
static void end_shell(struct session *s)
{
	interrupt(s, INTERRUPT_SHELL);
	s->state = ENDING;
	s->deadline_ns = clock_now_ns() + LAST_WAIT_MS * NS_PER_MS;
}

/* An answer that no honest loop gives. */
static void distrust(struct session *s, const char *what)
{
	snprintf(s->integrity, sizeof(s->integrity), "the shell's answer was tampered with: %s",
			what);
	end_shell(s);
}

/* --- reading --------------------------------------------------------------------------------- */

static void read_shell(struct session *s)
{
	if (!sandbox_shell_answered(s->sb))
		return;
	if (sandbox_shell_status(s->sb, &s->status, s->cwd, sizeof(s->cwd)) < 0)
		distrust(s, "wrong size");
	else if (s->status.nonce != s->nonce)
		distrust(s, "wrong number");
	else if (strlen(s->cwd) != s->status.cwd_bytes)
		distrust(s, "wrong working directory");
	else
		take_status(s);
}

/* False when the sandbox is gone. */
static bool read_events(struct session *s)
{
	struct sandbox_event e;

	for (;;) {
		sandbox_next_event(s->sb, &e);
		switch (e.kind) {
		case SANDBOX_NONE:
			return true;
		case SANDBOX_FAILED:
		case SANDBOX_GONE:
			snprintf(s->integrity, sizeof(s->integrity), "%s", "");
			buf_add_str(&s->output, e.text);
			finish(s, SESSION_GONE, -1);
			return false;
		case SANDBOX_SHELL:
			s->shell_ended = true;
			s->shell_status = e.status;
			break;
		case SANDBOX_INTERRUPTED:
			s->interruptions--;
			break;
		case SANDBOX_REQUEST:
			s->result.requests |= e.status & REQUEST_ALL;
			break;
		case SANDBOX_DONE:
			if (s->state == DRAINING && e.id == s->drain)
				s->drain = 0;
			break;
		case SANDBOX_READY:
		case SANDBOX_EXITED:
		case SANDBOX_HUNGRY:
			break;
		}
	}
}

bool session_take_request(struct session *s, int request)
{
	bool asked = s->result.requests & request;

	s->result.requests &= ~request;
	return asked;
}

/* --- beginning ------------------------------------------------------------------------------- */

static int take_nonce(struct session *s)
{
	if (s->n_nonces == 0) {
		if (getrandom(s->nonces, sizeof(s->nonces), 0) != sizeof(s->nonces))
			return -EIO;
		s->n_nonces = NONCES;
	}
	s->nonce = s->nonces[--s->n_nonces];
	return 0;
}

static int begin(struct session *s, const char *command, int64_t timeout_ms, uint32_t flags,
		struct fh_error *err)
{
	int r;

	if (s->state != IDLE)
		return error_say(err, EBUSY, "a command is running");
	if (strlen(command) > SHELL_COMMAND_MAX)
		return error_say(err, E2BIG, "a command of more than %d bytes", SHELL_COMMAND_MAX);
	r = take_nonce(s);
	if (r < 0)
		return error_set(err, -r, "get random numbers");
	buf_clear(&s->output);
	s->more_output = s->cancelled = s->awaited = false;
	s->next_force = 0;
	s->integrity[0] = '\0';
	s->result = (struct session_result){ .output = &s->output, .cwd = s->cwd };
	s->began_ns = clock_now_ns();
	s->deadline_ns = timeout_ms > 0 ? s->began_ns + timeout_ms * NS_PER_MS : INT64_MAX;
	s->pump_ns = s->began_ns + PUMP_NS;
	s->state = RUNNING;
	sandbox_tell_shell(s->sb, s->nonce, flags, command);
	return 0;
}

int session_begin(struct session *s, const char *command, int64_t timeout_ms, bool check_syntax,
		struct fh_error *err)
{
	return begin(s, command, timeout_ms, check_syntax ? SHELL_CHECK_SYNTAX : 0, err);
}

int session_begin_aside(
		struct session *s, const char *command, int64_t timeout_ms, struct fh_error *err)
{
	return begin(s, command, timeout_ms, SHELL_ASIDE, err);
}

void session_waits_awake(const struct session *s, struct waits *w)
{
	sandbox_waits(s->sb, w);
	waits_until(w, s->deadline_ns);
	if (s->state == RUNNING)
		waits_until(w, s->pump_ns);
}

void session_waits(const struct session *s, struct waits *w)
{
	session_waits_awake(s, w);
	if (s->state == RUNNING && !sandbox_shell_listen(s->sb))
		waits_until(w, 0);
}

/* --- advancing ------------------------------------------------------------------------------- */

/* The next level of force, when its time has come. */
static void on_time(struct session *s)
{
	size_t n = sizeof(force) / sizeof(force[0]);

	if (s->next_force == n) { /* killed, and no word of its end */
		finish(s, SESSION_GONE, -1);
		return;
	}
	interrupt(s, force[s->next_force].level);
	s->next_force++;
	s->deadline_ns = clock_now_ns() +
			(s->next_force < n ? force[s->next_force].wait_ms : LAST_WAIT_MS) *
					NS_PER_MS;
}

/* What is to be done once its time has come. */
static void check_time(struct session *s)
{
	int64_t now = clock_now_ns();

	if (s->state == RUNNING && now >= s->pump_ns) {
		s->pump_ns = now + PUMP_AGAIN_NS;
		(void)sandbox_pump_shell(s->sb, NULL); /* one that is gone tells so */
	}
	if (now >= s->deadline_ns && s->state == DRAINING)
		finish(s, SESSION_GONE, -1); /* the porter hangs */
	else if (now >= s->deadline_ns)
		on_time(s);
}

bool session_advance(struct session *s)
{
	if (s->state == IDLE)
		return true;
	if (s->state == RUNNING)
		read_shell(s);
	if (!read_events(s)) /* requests of a command came before its status */
		return true;
	if (s->state == SETTLING && settled(s))
		conclude(s);
	else if (s->state == DRAINING && !s->drain)
		restart(s);
	else if (s->shell_ended && s->state != SETTLING)
		drain(s);
	else
		check_time(s);
	return s->state == IDLE;
}

void session_cancel(struct session *s)
{
	if (s->state == IDLE || s->state == DRAINING || s->next_force)
		return;
	s->cancelled = true;
	s->deadline_ns = clock_now_ns();
}

bool session_answered(const struct session *s)
{
	return s->state == RUNNING && sandbox_shell_answered(s->sb);
}

static void spin(struct session *s)
{
	int64_t end_ns = clock_now_ns() + SPIN_NS;

	while (!sandbox_shell_answered(s->sb))
		if (clock_now_ns() >= end_ns) {
			s->leave_out = s->leave_out < LEAVE_OUT_MAX ? 2 * s->leave_out + 1
								    : LEAVE_OUT_MAX;
			return;
		}
	s->leave_out /= 2;
}

bool session_await_quick(struct session *s)
{
	int64_t until_ns = s->pump_ns < s->deadline_ns ? s->pump_ns : s->deadline_ns;

	if (s->state != RUNNING || s->awaited)
		return false;
	s->awaited = true;                 /* an agent that says so may not have answered */
	if (sandbox_shell_answered(s->sb)) /* it has run in our place */
		return true;
	if (!s->warm) { /* the first takes longer, and the shell may be on this CPU */
		s->warm = true;
	} else if (s->left_out < s->leave_out) {
		s->left_out++;
	} else {
		s->left_out = 0;
		spin(s);
	}
	return sandbox_shell_await(s->sb, until_ns - clock_now_ns());
}

int session_command(struct session *s, const char *command, int64_t timeout_ms, bool check_syntax,
		struct fh_error *err)
{
	int r = session_begin(s, command, timeout_ms, check_syntax, err);

	while (r == 0 && !session_advance(s)) {
		struct waits w = WAITS_INIT;

		if (session_await_quick(s))
			continue;
		session_waits(s, &w);
		waits_poll(&w);
	}
	return r;
}
