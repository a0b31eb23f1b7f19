/* SPDX-License-Identifier: Apache-2.0 */
#include "native/shell.h"

#include "base/clock.h"
#include "base/mem.h"
#include "inside/places.h"
#include "native/control.h"
#include "native/inbox.h"
#include "native/mail.h"
#include "native/porter.h"
#include "native/start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>

/*
 * The owner's side of a shell. A command ends when the shell's status came, or when the shell
 * ended. The owner makes a random number for each command, which the status repeats. So the agent
 * can't send a status ahead of time.
 *
 * Output in the pipe when the command ends is the command's. Later output, of background jobs, is
 * the next command's. The shell sends the output with its status; if the shell ended, the porter
 * sends it. The porter also forwards the output of a long command, which would block on a full
 * pipe.
 *
 * After a timeout the owner interrupts the command with growing force until the status comes. At
 * the last level all processes of the sandbox are killed but PID 1 and the porter.
 */

/*
 * Levels of force to end a command that timed out or was cancelled. wait_ms: milliseconds from the
 * level before to this one; for the first level, from the timeout.
 */
static const struct {
	int wait_ms;
	enum interrupt_level level;
} shell_force[] = {
	{ 0, INTERRUPT_ASK },
	{ 150, INTERRUPT_KILL },
	{ 250, INTERRUPT_KILL },
	{ 500, INTERRUPT_KILL },
	{ 500, INTERRUPT_KILL },
	{ 600, INTERRUPT_SHELL },
	{ 1000, INTERRUPT_ALL },
};
/* Milliseconds to wait for PID 1's report of a killed shell's end, or for the last output. */
#define LAST_WAIT_MS 3000
/* nanoseconds after which the porter starts to forward a running command's output */
#define PUMP_NS 2000000
/* nanoseconds between two requests to the porter to forward output */
#define PUMP_AGAIN_NS (5 * NS_PER_S)
/* Random numbers to make by one call of getrandom(), which gives up to 256 bytes at once. */
#define NONCES 32

/* Waking a process takes as long as a quick command. So the owner first polls for the answer
 * without sleeping (a spin). If spins fail (slow commands, one CPU for owner and shell), it leaves
 * them out for more and more commands. */
#define SPIN_NS 20000
#define LEAVE_OUT_MAX 127

enum shell_state {
	SHELL_IDLE,
	SHELL_RUNNING,
	SHELL_ENDING, /* the shell was killed: wait until PID 1 reports the shell's end */
	/* the command's status came: wait until its output is read and PID 1 has sent all signals
	 * of interruptions */
	SHELL_SETTLING,
	SHELL_DRAINING, /* the shell ended: wait until the porter has sent its last output */
};

struct native_session {
	struct session base;
	enum shell_state state;
	bool more_output; /* output beyond the buffer's cap was dropped */
	/* id of the request to the porter for the ended shell's last output; 0: answered */
	uint32_t drain;

	uint64_t nonce;
	/* random numbers for the next commands; the first n_nonces are not used yet */
	uint64_t nonces[NONCES];
	size_t n_nonces;
	int64_t began_ns, deadline_ns;
	int64_t pump_ns; /* time at which to ask the porter to forward the command's output */
	bool awaited;    /* shell_await_quick() was called for this command */
	/* False until the first command, which is slow: its answer is not polled for. */
	bool warm;
	/* number of commands to run without polling for answers, and how many have run */
	unsigned leave_out, left_out;
	/* index of the next level of force in shell_force[]; 0: not interrupted yet */
	size_t next_force;
	bool cancelled;

	struct shell_status status; /* status of the ended command, in the state SHELL_SETTLING */
	/*
	 * the sandbox' counters when last read: number of processes killed for memory, CPU
	 * nanoseconds used
	 */
	int64_t oom_kills;
	int64_t oom_cpu_ns;
	char cwd[GUEST_PATH_MAX + 1];
	char integrity[160];
};

static struct native_session *shell_of(struct session *s)
{
	return (struct native_session *)s;
}

static struct native_sandbox *shell_sandbox(const struct native_session *s)
{
	return native_of(s->base.sb);
}

/* Stores output that the porter sent. Output between two commands counts as the next command's. */
static void shell_take_output(void *arg, int slot, const char *data, size_t n)
{
	struct native_session *s = arg;
	size_t room = s->base.output.cap - s->base.output.len;

	if (slot && s->base.take_stream)
		s->base.take_stream(s->base.stream_arg, slot, data, n);
	if (slot)
		return;
	buf_add(&s->base.output, data, n < room ? n : room);
	s->more_output = s->more_output || n > room;
}

static struct session *shell_open(void)
{
	struct native_session *s = xcalloc(1, sizeof(*s));

	s->cwd[0] = '/';
	s->oom_kills = -1;
	return &s->base;
}

static void shell_close(struct session *base)
{
	free(shell_of(base));
}

/* --- the end of a command in the shell -------------------------------------------------------- */

static bool shell_was_quick(const struct native_session *s)
{
	int64_t cpu_ns;

	if (s->base.result.duration_ns < SESSION_QUICK_NS)
		return true;
	cpu_ns = sandbox_count(s->base.sb, SANDBOX_CPU_NS);
	return cpu_ns >= 0 && cpu_ns - s->oom_cpu_ns < SESSION_QUICK_NS;
}

/*
 * Returns true if the kernel killed a process of the command for its memory limit. Does not read
 * the slow counter after a quick command with status 0: it can't have filled its memory.
 */
static bool shell_killed_for_memory(struct native_session *s, int exit_code)
{
	int64_t before = s->oom_kills;

	if (exit_code == 0 && shell_was_quick(s))
		return false;
	s->oom_cpu_ns = sandbox_count(s->base.sb, SANDBOX_CPU_NS);
	s->oom_kills = sandbox_count(s->base.sb, SANDBOX_OOM_KILLS);
	return s->oom_kills > (before > 0 ? before : 0);
}

static void shell_finish(struct native_session *s, enum session_outcome outcome, int exit_code)
{
	struct session_result *r = &s->base.result;

	r->duration_ns = clock_now_ns() - s->began_ns;
	if (outcome != SESSION_GONE && shell_killed_for_memory(s, exit_code))
		outcome = SESSION_MEMORY_LIMIT;
	if (s->next_force && !s->cancelled && outcome != SESSION_GONE)
		outcome = SESSION_TIMEOUT;
	if ((s->more_output || s->base.output.truncated) && outcome == SESSION_OK)
		outcome = SESSION_OUTPUT_LIMIT;
	r->outcome = outcome;
	r->exit_code = exit_code;
	r->integrity = s->integrity[0] ? s->integrity : NULL;
	s->state = SHELL_IDLE;
}

/* Handles the end of the shell: asks the porter for the shell's last output. */
static void shell_drain(struct native_session *s)
{
	if (s->next_force)
		control_interrupt(shell_sandbox(s), INTERRUPT_KILL);
	shell_sandbox(s)->shell_ended = false;
	s->state = SHELL_DRAINING;
	s->deadline_ns = clock_now_ns() + LAST_WAIT_MS * NS_PER_MS;
	if (sandbox_drain_begin(s->base.sb, &s->drain, NULL) < 0)
		shell_finish(s, SESSION_GONE, -1);
}

static void shell_restart(struct native_session *s)
{
	int status = shell_sandbox(s)->shell_status;
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

	s->base.result.restarted = true;
	s->base.result.shell_status = status;
	/* The new shell begins in the workspace, so store this folder as its working directory. */
	snprintf(s->cwd, sizeof(s->cwd), "%s", GUEST_WORKSPACE);
	if (start_shell_again(shell_sandbox(s), NULL) < 0)
		shell_finish(s, SESSION_GONE, -1);
	else
		shell_finish(s, SESSION_RESTARTED, code);
}

/*
 * Returns true if a command whose status has come can end. Output that the porter sent before the
 * status must have been read. PID 1 must have sent all signals of interruptions, or the deadline
 * has passed. False if the porter has ended: output is then lost.
 */
static bool shell_settled(const struct native_session *s)
{
	const struct native_sandbox *sb = shell_sandbox(s);

	if (inbox_has_event(sb) || sb->porter_ended)
		return false;
	return !s->next_force || sb->interruptions <= 0 || clock_now_ns() >= s->deadline_ns;
}

/* Appends the output that came with a command's status, and ends the command. */
static void shell_conclude(struct native_session *s)
{
	bool syntax = s->status.end == SHELL_SYNTAX, cut;

	mail_output(shell_sandbox(s), &s->status, &s->base.output, &cut);
	s->more_output = s->more_output || cut;
	shell_finish(s, syntax ? SESSION_SYNTAX : SESSION_OK, (int)(s->status.status & 0xff));
}

/* Kills a shell that sent an answer which an unchanged shell never sends. `why` is for the user. */
static void shell_distrust(struct native_session *s, const char *why)
{
	snprintf(s->integrity, sizeof(s->integrity), "the shell's answer was tampered with: %s",
			why);
	control_interrupt(shell_sandbox(s), INTERRUPT_SHELL);
	s->state = SHELL_ENDING;
	s->deadline_ns = clock_now_ns() + LAST_WAIT_MS * NS_PER_MS;
}

/* --- reading --------------------------------------------------------------------------------- */

static void shell_read_answer(struct native_session *s)
{
	struct native_sandbox *sb = shell_sandbox(s);

	if (!mail_answered(sb))
		return;
	if (mail_status(sb, &s->status, s->cwd, sizeof(s->cwd)) < 0) {
		shell_distrust(s, "wrong size");
	} else if (s->status.nonce != s->nonce) {
		shell_distrust(s, "wrong number");
	} else if (strlen(s->cwd) != s->status.cwd_bytes) {
		shell_distrust(s, "wrong working directory");
	} else {
		s->state = SHELL_SETTLING;
		if (s->next_force) {
			control_interrupt(sb, INTERRUPT_KILL);
			s->deadline_ns = clock_now_ns() + LAST_WAIT_MS * NS_PER_MS;
		}
	}
}

/*
 * Handles the sandbox' events while a command runs. Returns false if the sandbox has failed or
 * ended, and the command with it.
 */
static bool shell_read_events(struct native_session *s)
{
	struct sandbox_event e;

	for (;;) {
		inbox_next_event(s->base.sb, &e);
		switch (e.kind) {
		case SANDBOX_NONE:
			return true;
		case SANDBOX_FAILED:
		case SANDBOX_GONE:
			s->integrity[0] = '\0';
			buf_add_str(&s->base.output, e.text);
			shell_finish(s, SESSION_GONE, -1);
			return false;
		case SANDBOX_REQUEST:
			s->base.result.requests |= e.status & REQUEST_ALL;
			break;
		case SANDBOX_DONE:
			if (s->state == SHELL_DRAINING && e.id == s->drain)
				s->drain = 0;
			break;
		case SANDBOX_READY:
		case SANDBOX_EXITED:
		case SANDBOX_HUNGRY:
			s->base.is_hungry = s->base.is_hungry || e.kind == SANDBOX_HUNGRY;
			break;
		}
	}
}

/* --- beginning ------------------------------------------------------------------------------- */

static int shell_take_nonce(struct native_session *s)
{
	if (s->n_nonces == 0) {
		if (getrandom(s->nonces, sizeof(s->nonces), 0) != sizeof(s->nonces))
			return -EIO;
		s->n_nonces = NONCES;
	}
	s->nonce = s->nonces[--s->n_nonces];
	return 0;
}

static int shell_begin(struct session *base, const char *command, int64_t timeout_ms,
		enum session_command_kind kind, struct fh_error *err)
{
	static const uint32_t flags[] = { [SESSION_PLAIN] = 0,
		[SESSION_CHECKED] = SHELL_CHECK_SYNTAX,
		[SESSION_ASIDE] = SHELL_ASIDE };
	struct native_session *s = shell_of(base);
	int r;

	if (s->state != SHELL_IDLE)
		return error_say(err, EBUSY, "a command is running");
	if (strlen(command) > SHELL_COMMAND_MAX)
		return error_say(err, E2BIG, "a command of more than %d bytes", SHELL_COMMAND_MAX);
	r = shell_take_nonce(s);
	if (r < 0)
		return error_set(err, -r, "get random numbers");
	sandbox_on_output(base->sb, shell_take_output, s);
	buf_clear(&base->output);
	s->more_output = s->cancelled = s->awaited = false;
	s->next_force = 0;
	s->integrity[0] = '\0';
	base->result = (struct session_result){ .output = &base->output, .cwd = s->cwd };
	s->began_ns = clock_now_ns();
	s->deadline_ns = timeout_ms > 0 ? s->began_ns + timeout_ms * NS_PER_MS : INT64_MAX;
	s->pump_ns = s->began_ns + PUMP_NS;
	s->state = SHELL_RUNNING;
	mail_send(shell_sandbox(s), s->nonce, flags[kind], command);
	return 0;
}

/*
 * Returns true if shell_advance() has work to do although no descriptor is readable:
 * inbox_answered() may have read the message already.
 */
static bool shell_is_due(const struct native_session *s)
{
	if (s->state == SHELL_SETTLING)
		return shell_settled(s);
	return s->state != SHELL_IDLE && shell_sandbox(s)->shell_ended;
}

static void shell_waits_awake(const struct session *base, struct waits *w)
{
	const struct native_session *s = (const struct native_session *)base;

	inbox_waits(base->sb, w);
	waits_until(w, shell_is_due(s) ? 0 : s->deadline_ns);
	if (s->state == SHELL_RUNNING)
		waits_until(w, s->pump_ns);
}

static void shell_waits(const struct session *base, struct waits *w)
{
	const struct native_session *s = (const struct native_session *)base;

	shell_waits_awake(base, w);
	if (s->state == SHELL_RUNNING && !mail_listen(shell_sandbox(s)))
		waits_until(w, 0);
}

/* --- advancing ------------------------------------------------------------------------------- */

/* Interrupts the command with the next level of force. Ends the sandbox after the last level. */
static void shell_on_timeout(struct native_session *s)
{
	size_t n = sizeof(shell_force) / sizeof(shell_force[0]);

	if (s->next_force == n) { /* PID 1 has not reported the end of the killed shell in time */
		shell_finish(s, SESSION_GONE, -1);
		return;
	}
	control_interrupt(shell_sandbox(s), shell_force[s->next_force].level);
	s->next_force++;
	s->deadline_ns = clock_now_ns() +
			(s->next_force < n ? shell_force[s->next_force].wait_ms : LAST_WAIT_MS) *
					NS_PER_MS;
}

static void shell_check_time(struct native_session *s)
{
	int64_t now = clock_now_ns();

	if (s->state == SHELL_RUNNING && now >= s->pump_ns)
		s->pump_ns = now + (porter_pump(shell_sandbox(s)) ? PUMP_AGAIN_NS : PUMP_NS);
	if (now < s->deadline_ns)
		return;
	if (s->state == SHELL_DRAINING) /* the ended shell's last output did not come in time */
		shell_finish(s, SESSION_GONE, -1);
	else
		shell_on_timeout(s);
}

static bool shell_advance(struct session *base)
{
	struct native_session *s = shell_of(base);

	if (s->state == SHELL_IDLE)
		return true;
	if (s->state == SHELL_RUNNING)
		shell_read_answer(s);
	/* Read events first: the command made its requests before it ended. */
	if (!shell_read_events(s))
		return true;
	if (s->state == SHELL_SETTLING && shell_settled(s))
		shell_conclude(s);
	else if (s->state == SHELL_DRAINING && !s->drain)
		shell_restart(s);
	else if (shell_sandbox(s)->shell_ended && s->state != SHELL_SETTLING)
		shell_drain(s);
	else
		shell_check_time(s);
	return s->state == SHELL_IDLE;
}

static void shell_cancel(struct session *base)
{
	struct native_session *s = shell_of(base);

	if (s->state == SHELL_IDLE || s->state == SHELL_DRAINING || s->next_force)
		return;
	s->cancelled = true;
	s->deadline_ns = clock_now_ns();
}

static bool shell_answered(const struct session *base)
{
	const struct native_session *s = (const struct native_session *)base;

	return s->state == SHELL_RUNNING && mail_answered(shell_sandbox(s));
}

static void shell_spin(struct native_session *s)
{
	int64_t end_ns = clock_now_ns() + SPIN_NS;

	while (!mail_answered(shell_sandbox(s)))
		if (clock_now_ns() >= end_ns) {
			s->leave_out = s->leave_out < LEAVE_OUT_MAX ? 2 * s->leave_out + 1
								    : LEAVE_OUT_MAX;
			return;
		}
	s->leave_out /= 2;
}

static bool shell_await_quick(struct session *base)
{
	struct native_session *s = shell_of(base);

	if (s->state != SHELL_RUNNING || s->awaited)
		return false;
	/* Wait only once per command: an untrusted shell may claim to have answered. */
	s->awaited = true;
	if (mail_answered(shell_sandbox(s)))
		return true;
	/* Don't poll: the first command takes longer, and the shell may need this CPU. */
	if (!s->warm) {
		s->warm = true;
	} else if (s->left_out < s->leave_out) {
		s->left_out++;
	} else {
		s->left_out = 0;
		shell_spin(s);
	}
	/* Don't wait until pump_ns, which may be seconds away. An interrupt does not end this
	 * wait. */
	return mail_await(shell_sandbox(s), s->began_ns + PUMP_NS - clock_now_ns());
}

const struct shell_ops shell_native = {
	.open = shell_open,
	.close = shell_close,
	.begin = shell_begin,
	.waits = shell_waits,
	.waits_awake = shell_waits_awake,
	.advance = shell_advance,
	.answered = shell_answered,
	.await_quick = shell_await_quick,
	.cancel = shell_cancel,
};
