/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "guest/requests.h"

#include "base/scope.h"
#include "inside/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Pipes of the agent's requests to Fumehood. The commands `validate`, `submit`, the editor and
 * calls (tools/aci/request.c) write a byte into a named pipe. The pipe holds one page, and the
 * first byte fills it. So a program waits until the pipe has room again. By then the porter, the
 * pipe's reader, has told the owner and has read the byte.
 *
 * A socket would let an agent send descriptors. Closing such a descriptor can take as long as the
 * agent likes.
 */
static const char *const paths[REQUEST_PIPES] = { GUEST_VALIDATE_PIPE, GUEST_SUBMIT_PIPE,
	GUEST_STATE_PIPE, GUEST_CALL_PIPE };

static int requests_open_pipe(const char *path)
{
	auto_close int fd = -1;

	if (mkfifo(path, 0600) < 0)
		return -errno;
	/*
	 * Open the request pipe for writing too. Otherwise poll() would report each time that a
	 * writer closes it.
	 */
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fcntl(fd, F_SETPIPE_SZ, 1) < 0 || fchmod(fd, 0622) < 0)
		return -errno;
	return take_fd(&fd);
}

int requests_open(int pipes[REQUEST_PIPES], struct fh_error *err)
{
	for (size_t i = 0; i < REQUEST_PIPES; i++) {
		pipes[i] = requests_open_pipe(paths[i]);
		if (pipes[i] < 0)
			return error_set(err, -pipes[i], "make '%s'", paths[i]);
	}
	return 0;
}

void requests_answer(int pipe)
{
	char bytes[4096];

	(void)!read(pipe, bytes, sizeof(bytes));
}
