/* SPDX-License-Identifier: Apache-2.0 */
#include "env/names.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/scope.h"
#include "env/env.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#define NAMES_MS 1000

static const char script[] = "compgen -f -- \"$1\" | while IFS= read -r name; do\n"
			     "path=$name; [[ $path = '~/'* ]] && path=$HOME${path#'~'}\n"
			     "[ -d \"$path\" ] && name=$name/\n"
			     "printf '%s\\n' \"$name\"\n"
			     "done";

/* Until its end, or that of the time: whoever holds the pipe open is not waited for. */
static void read_names(int fd, struct buf *out)
{
	int64_t deadline_ns = clock_now_ns() + NAMES_MS * NS_PER_MS;
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

void env_names(struct fh_env *env, const char *start, struct buf *out)
{
	const char *const argv[] = { "/bin/bash", "--noprofile", "--norc", "-c", script, "names",
		start, NULL };
	auto_close int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	auto_close int from = -1, to = -1;
	uint32_t id;

	if (!env || env->work != WORK_NONE || env->episode != EPISODE_ON || nothing < 0 ||
			fd_pipe(&from, &to, 0) < 0)
		return;
	const int fds[] = { nothing, to, nothing };
	const struct run_request request = {
		.argv = argv,
		.cwd = env->working_dir,
		.user = USER_AGENT,
		.fds = fds,
		.n_fds = ARRAY_SIZE(fds),
	};

	if (sandbox_run(env->sb, &request, &id, NULL) < 0)
		return;
	close_fd(&to);
	read_names(from, out);
	sandbox_signal(env->sb, id, SIGKILL, NULL); /* if it is still there */
}
