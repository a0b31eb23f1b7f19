/* SPDX-License-Identifier: Apache-2.0 */
/* Tries to open and misuse terminals: one that it makes, and the one on descriptor 0, if any.
 * Prints `NAME ERRNO` of each attempt. */
#include <errno.h>
#include <fcntl.h>
#include <linux/tiocl.h>
#include <linux/vt.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define HIGH (1L << 32)

static void show(const char *who, const char *what, long r)
{
	printf("%s:%s %s\n", who, what, r < 0 ? strerrorname_np(errno) : "done");
	fflush(stdout);
}

static void play(const char *who, int fd)
{
	static const char text[] = "x\n", select[] = { TIOCL_SETSEL, 0 };
	int discipline = 1;

	show(who, "sti", ioctl(fd, TIOCSTI, text));
	show(who, "sti-high", ioctl(fd, TIOCSTI | HIGH, text));
	show(who, "linux", ioctl(fd, TIOCLINUX, select));
	show(who, "discipline", ioctl(fd, TIOCSETD, &discipline));
	show(who, "console", ioctl(fd, TIOCCONS));
	show(who, "switch", ioctl(fd, VT_ACTIVATE, 1));
	show(who, "steal", ioctl(fd, TIOCSCTTY, 1));
}

int main(void)
{
	static const char *const paths[] = { "/dev/tty", "/dev/console", "/dev/tty0", "/dev/tty1",
		"/dev/ttyS0", "/dev/vcs", "/dev/pts/0" };
	int master, side;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		show("open", paths[i], open(paths[i], O_RDWR | O_NOCTTY));
	if (isatty(0))
		play("given", 0);
	if (openpty(&master, &side, NULL, NULL, NULL) < 0)
		return 1;
	play("own", side);
	return 0;
}
