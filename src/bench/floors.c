/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/floors.h"

#include "base/exec.h"
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

/* Runs the bare programs of bench/, and reads the samples that they print. */

#define OUTPUT_BYTES_MAX (4 << 20)
#define FLOORS_ARGS_MAX 8

int floor_spawn(const char *const *argv, int *out_fd, pid_t *out_pid, struct fh_error *err)
{
	posix_spawn_file_actions_t actions;
	int pair[2], r;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return error_set(err, errno, "make a pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pair[1], 1);
	r = posix_spawn(out_pid, *argv, &actions, NULL, exec_list(argv), environ);
	posix_spawn_file_actions_destroy(&actions);
	close(pair[1]);
	*out_fd = pair[0];
	return r ? error_set(err, r, "run '%s'", *argv) : 0;
}

static int floor_wait(pid_t pid, const char *program, struct fh_error *err)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_set(err, errno, "wait for '%s'", program);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_say(err, EIO, "'%s' failed", program);
	return 0;
}

int floor_run(const char *name, int n, const char *const *args, struct samples *out,
		struct fh_error *err)
{
	auto_free char *program = xasprintf("%s/%s", places_get()->floors, name);
	auto_free char *count = xasprintf("%d", n);
	auto_buf struct buf text = BUF_INIT(OUTPUT_BYTES_MAX);
	const char *argv[FLOORS_ARGS_MAX + 1] = { program, count };
	auto_json json_t *report = NULL;
	auto_close int from = -1;
	json_t *list, *value;
	pid_t pid;
	size_t i;
	int r;

	for (size_t k = 2; args && *args && k < FLOORS_ARGS_MAX; k++)
		argv[k] = *args++;
	r = floor_spawn(argv, &from, &pid, err);
	if (r < 0)
		return r;
	fd_read_all(from, &text);
	close_fd(&from); /* close the pipe first, so that a program that still prints ends */
	r = floor_wait(pid, program, err);
	if (r < 0)
		return r;
	r = json_parse("the floor's report", buf_str(&text), text.len, &report, err);
	if (r < 0)
		return r;
	r = json_get_array(report, "samples", JSON_REQUIRED, &list, err);
	if (r < 0)
		return r;
	json_array_foreach(list, i, value)
		samples_add(out, json_number_value(value));
	return 0;
}
