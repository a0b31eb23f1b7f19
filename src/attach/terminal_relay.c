/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/terminal_relay.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#define DRAIN_MS 5000 /* longest wait for the rest of the output */
/* Most pieces of output to copy after the program has ended. A pseudo-terminal holds less. */
#define DRAIN_PIECES 256

/* messages to the child that relays, a byte each; after RELAY_DRAIN the child ends */
enum { RELAY_RESIZE = 'r', RELAY_DRAIN = 'd' };

struct terminal_relay {
	int to;
	pid_t child;
	int control; /* our end of a socket pair with the child that relays */
	/* time to give up copying the rest of the output; 0: the program has not ended */
	int64_t drained_by_ns;
	bool raw;  /* our terminal is in raw mode */
	bool gone; /* the child that relays has ended */
	struct termios before;
};

/* --- the child ------------------------------------------------------------------------------- */

/* descriptors of the child that relays */
struct relay {
	int master, control, to;
	bool input;
};

/* Copies up to 4,096 bytes. Returns false at the end of `from`. Data that `to` does not take is
 * lost. */
static bool relay_pass(int from, int to)
{
	char chunk[4096];
	ssize_t n = read(from, chunk, sizeof(chunk));

	if (n > 0)
		fd_write_full(to, chunk, (size_t)n);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void relay_resize(const struct relay *relay)
{
	struct winsize size;

	if (ioctl(relay->to, TIOCGWINSZ, &size) == 0)
		ioctl(relay->master, TIOCSWINSZ, &size);
}

static void relay_drain(const struct relay *relay)
{
	struct pollfd p = { .fd = relay->master, .events = POLLIN };

	for (int i = 0; i < DRAIN_PIECES && poll(&p, 1, 0) == 1; i++)
		if (!relay_pass(relay->master, relay->to))
			return;
}

/* Obeys a message of the parent process. Returns false if this child has to end. */
static bool relay_obey(const struct relay *relay)
{
	char message;

	if (read(relay->control, &message, 1) != 1)
		return false;
	if (message == RELAY_DRAIN) {
		relay_drain(relay);
		return false;
	}
	relay_resize(relay);
	return true;
}

static void relay_loop(const struct relay *relay)
{
	struct pollfd fds[] = { { .fd = relay->control, .events = POLLIN },
		{ .fd = relay->master, .events = POLLIN },
		{ .fd = relay->input ? 0 : -1, .events = POLLIN } };

	for (;;) {
		poll(fds, ARRAY_SIZE(fds), -1);
		if (fds[1].revents && !relay_pass(relay->master, relay->to))
			/* stop polling: no process has the program's side of the pseudo-terminal
			 * open */
			fds[1].fd = -1;
		if (fds[2].revents && !relay_pass(0, relay->master))
			fds[2].fd = -1;
		if (fds[0].revents && !relay_obey(relay))
			return;
	}
}

/*
 * Runs as the child that relays. Closes what the child inherited, such as connections to the
 * sandbox. Makes only calls that are allowed after a fork of a process with threads
 * (signal-safety(7)).
 */
static _Noreturn void relay_main(const struct relay *relay, pid_t parent)
{
	unsigned low = (unsigned)(relay->master < relay->control ? relay->master : relay->control);
	unsigned high = (unsigned)(relay->master + relay->control) - low;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (low > 3)
		close_range(3, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0U, 0);
	if (getppid() == parent)
		relay_loop(relay);
	_exit(0);
}

/* --- opening --------------------------------------------------------------------------------- */

/* Gives the modes of our terminal to the program's pseudo-terminal. Only one of both processes
 * output: the pseudo-terminal, if our terminal is raw. */
static void terminal_relay_set_modes(struct terminal_relay *relay, int master, bool input)
{
	struct termios raw, other;

	tcgetattr(relay->to, &relay->before);
	raw = other = relay->before;
	if (!input)
		other.c_oflag &= ~(tcflag_t)OPOST;
	tcsetattr(master, TCSANOW, &other);
	if (!input)
		return;
	cfmakeraw(&raw);
	tcsetattr(0, TCSADRAIN, &raw);
	relay->raw = true;
}

/* Forks the child that relays. It gets `master`, our side of the pseudo-terminal. */
static int terminal_relay_fork(
		struct terminal_relay *relay, int master, bool input, struct fh_error *err)
{
	struct relay child = { .master = master, .to = relay->to, .input = input };
	pid_t parent = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return error_set(err, errno, "make a socket pair");
	child.control = ends[1];
	relay->control = ends[0];
	relay->child = fork();
	if (relay->child == 0)
		relay_main(&child, parent);
	close(ends[1]);
	return relay->child < 0 ? error_set(err, errno, "fork") : 0;
}

int terminal_relay_open(
		struct terminal_relay **out, int master, int to, bool input, struct fh_error *err)
{
	struct terminal_relay *relay = xcalloc(1, sizeof(*relay));

	*out = relay;
	relay->to = to;
	relay->control = -1;
	fcntl(master, F_SETFL, O_NONBLOCK);
	terminal_relay_set_modes(relay, master, input);
	relay_resize(&(struct relay){ .master = master, .to = to });
	return terminal_relay_fork(relay, master, input, err);
}

void terminal_relay_close(struct terminal_relay *relay)
{
	if (!relay)
		return;
	if (relay->child > 0 && !relay->gone)
		kill(relay->child, SIGKILL);
	close_fd(&relay->control);
	if (relay->raw)
		tcsetattr(0, TCSADRAIN, &relay->before);
	free(relay);
}

/* --- the parent ------------------------------------------------------------------------------ */

static void terminal_relay_tell(struct terminal_relay *relay, char message)
{
	if (send(relay->control, &message, 1, MSG_NOSIGNAL) != 1)
		relay->gone = true;
}

void terminal_relay_resize(struct terminal_relay *relay)
{
	if (relay && !relay->gone)
		terminal_relay_tell(relay, RELAY_RESIZE);
}

void terminal_relay_drain(struct terminal_relay *relay)
{
	if (!relay || relay->gone)
		return;
	relay->drained_by_ns = clock_now_ns() + DRAIN_MS * NS_PER_MS;
	terminal_relay_tell(relay, RELAY_DRAIN);
}

bool terminal_relay_pending(const struct terminal_relay *relay)
{
	return relay && !relay->gone && clock_now_ns() < relay->drained_by_ns;
}

void terminal_relay_waits(const struct terminal_relay *relay, struct waits *w)
{
	if (!relay || relay->gone)
		return;
	waits_add(w, relay->control, POLLIN);
	if (relay->drained_by_ns)
		waits_until(w, relay->drained_by_ns);
}

/*
 * Notes the end of the child that relays. The child sends nothing, so the socket becomes readable
 * when the child ends.
 */
void terminal_relay_advance(struct terminal_relay *relay)
{
	char byte;

	if (relay && !relay->gone && read(relay->control, &byte, 1) == 0)
		relay->gone = true;
}
