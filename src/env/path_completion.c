/* SPDX-License-Identifier: Apache-2.0 */
#include "env/path_completion.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#define COMPLETION_MS 1000

static const char script[] = "compgen -f -- \"$1\" | while IFS= read -r name; do\n"
			     "path=$name; [[ $path = '~/'* ]] && path=$HOME${path#'~'}\n"
			     "[ -d \"$path\" ] && name=$name/\n"
			     "printf '%s\\n' \"$name\"\n"
			     "done";

/* Reads until the pipe's end or the deadline: a background process may hold the pipe open. */
static void path_completion_read(int fd, struct buf *out)
{
	int64_t deadline_ns = clock_now_ns() + COMPLETION_MS * NS_PER_MS;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char chunk[4096];

	while (!out->truncated && poll(&p, 1, clock_ms_left(deadline_ns)) != 0) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n > 0)
			buf_add(out, chunk, (size_t)n);
		else if (n == 0 || (errno != EINTR && errno != EAGAIN))
			return;
	}
}

void path_completion_list(struct sandbox *sb, const char *cwd, const char *start, struct buf *out)
{
	const char *const argv[] = { "/bin/bash", "--noprofile", "--norc", "-c", script, "complete",
		start, NULL };
	auto_close int from = -1, to = -1;
	uint32_t id;

	if (fd_pipe(&from, &to) < 0)
		return;
	const int streams[] = { STREAM_NOTHING, to, STREAM_NOTHING };
	const struct program_request request = {
		.argv = argv,
		.cwd = cwd,
		.user = USER_AGENT,
		.streams = streams,
		.n_streams = ARRAY_SIZE(streams),
	};

	if (sandbox_run(sb, &request, &id, NULL) < 0)
		return;
	close_fd(&to);
	path_completion_read(from, out);
	sandbox_signal(sb, id, SIGKILL, NULL); /* kill the completing program if it still runs */
}
