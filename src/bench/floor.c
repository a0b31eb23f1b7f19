/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/places.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Running the bare programs of bench/, and reading what they print. */

#define OUTPUT_BYTES_MAX (4 << 20)
#define ARGS_MAX 8

static int spawn(const char *program, const char *const *argv, int out, pid_t *out_pid,
		struct fh_error *err)
{
	posix_spawn_file_actions_t actions;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	r = posix_spawn(out_pid, program, &actions, NULL, (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return r ? error_set(err, r, "run '%s'", program) : 0;
}

static int await(pid_t pid, const char *program, struct fh_error *err)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_set(err, errno, "wait for '%s'", program);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_say(err, EIO, "'%s' failed", program);
	return 0;
}

static int read_samples(const struct buf *text, struct samples *out, struct fh_error *err)
{
	auto_json json_t *report = NULL;
	json_t *list, *value;
	size_t i;
	int r = json_parse("the floor's report", buf_str(text), text->len, &report, err);

	if (r < 0)
		return r;
	r = json_get_array(report, "samples", JSON_REQUIRED, &list, err);
	if (r < 0)
		return r;
	json_array_foreach(list, i, value)
		samples_add(out, json_number_value(value));
	return 0;
}

int floor_run(const char *name, int n, const char *const *args, struct samples *out,
		struct fh_error *err)
{
	auto_free char *program = xasprintf("%s/floor_%s", places_get()->floors, name);
	auto_buf struct buf text = BUF_INIT(OUTPUT_BYTES_MAX);
	const char *argv[ARGS_MAX + 3];
	auto_close int from = -1;
	size_t n_args = 0;
	char count[16];
	int pair[2], r;
	pid_t pid;

	snprintf(count, sizeof(count), "%d", n);
	argv[n_args++] = program;
	argv[n_args++] = count;
	while (args && *args && n_args < ARGS_MAX)
		argv[n_args++] = *args++;
	argv[n_args] = NULL;
	if (pipe2(pair, O_CLOEXEC) < 0)
		return error_set(err, errno, "make a pipe");
	from = pair[0];
	r = spawn(program, argv, pair[1], &pid, err);
	close(pair[1]);
	if (r < 0)
		return r;
	fd_read_all(from, &text);
	close_fd(&from); /* or it would wait to be read, if it said too much */
	r = await(pid, program, err);
	return r < 0 ? r : read_samples(&text, out, err);
}
