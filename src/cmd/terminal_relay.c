/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/terminal_relay.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

struct terminal_relay {
	int master, to;
	bool raw;   /* our terminal is in raw mode */
	bool input; /* keys of our terminal go to the program */
	struct termios before;
};

static int terminal_relay_open_side(int master, int *out_side, struct fh_error *err)
{
	char name[64];
	int side;

	if (grantpt(master) < 0 || unlockpt(master) < 0 || ptsname_r(master, name, sizeof(name)))
		return error_set(err, errno, "make a pseudo-terminal");
	side = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (side < 0)
		return error_set(err, errno, "open '%s'", name);
	*out_side = side;
	return 0;
}

/* Gives the modes of our terminal to the program's. Only one of them processes output: the
 * program's, if ours is raw. */
static void terminal_relay_set_modes(struct terminal_relay *relay)
{
	struct termios raw, other;

	tcgetattr(relay->to, &relay->before);
	raw = other = relay->before;
	if (!relay->input)
		other.c_oflag &= ~(tcflag_t)OPOST;
	tcsetattr(relay->master, TCSANOW, &other);
	if (!relay->input)
		return;
	cfmakeraw(&raw);
	tcsetattr(0, TCSADRAIN, &raw);
	relay->raw = true;
}

int terminal_relay_open(struct terminal_relay **out, int to, bool input, int *out_side,
		struct fh_error *err)
{
	auto_close int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct terminal_relay *relay;
	int r;

	if (master < 0)
		return error_set(err, errno, "make a pseudo-terminal");
	r = terminal_relay_open_side(master, out_side, err);
	if (r < 0)
		return r;
	relay = xcalloc(1, sizeof(*relay));
	fcntl(master, F_SETFL, O_NONBLOCK);
	relay->master = take_fd(&master);
	relay->to = to;
	relay->input = input;
	terminal_relay_set_modes(relay);
	terminal_relay_resize(relay);
	*out = relay;
	return 0;
}

void terminal_relay_close(struct terminal_relay *relay)
{
	if (!relay)
		return;
	if (relay->raw)
		tcsetattr(0, TCSADRAIN, &relay->before);
	close(relay->master);
	free(relay);
}

void terminal_relay_resize(struct terminal_relay *relay)
{
	struct winsize size;

	if (relay && ioctl(relay->to, TIOCGWINSZ, &size) == 0)
		ioctl(relay->master, TIOCSWINSZ, &size);
}

void terminal_relay_waits(const struct terminal_relay *relay, struct waits *w)
{
	if (!relay)
		return;
	waits_add(w, relay->master, POLLIN);
	if (relay->input)
		waits_add(w, 0, POLLIN);
}

static bool terminal_relay_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static ssize_t terminal_relay_pass(int from, int to)
{
	char chunk[4096];
	ssize_t n = read(from, chunk, sizeof(chunk));

	if (n > 0)
		fd_write_full(to, chunk, (size_t)n);
	return n;
}

void terminal_relay_advance(struct terminal_relay *relay)
{
	if (!relay)
		return;
	if (terminal_relay_readable(relay->master))
		terminal_relay_pass(relay->master, relay->to);
	if (relay->input && terminal_relay_readable(0) &&
			terminal_relay_pass(0, relay->master) <= 0)
		relay->input = false;
}

void terminal_relay_drain(struct terminal_relay *relay)
{
	while (relay && terminal_relay_readable(relay->master) &&
			terminal_relay_pass(relay->master, relay->to) > 0)
		;
}
