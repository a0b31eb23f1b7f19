/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor of a step: a line to a plain bash's standard input, and its answer. The second argument
 * says where they run: `free` (the kernel chooses), `one` (both on one CPU) or `two` (on two CPUs).
 *
 * In its favour: no sandbox, no output to keep apart from the status, no limits, nothing counted, and
 * no thought of what the command might do to the shell.
 */
#include "floor.h"

#include <sched.h>
#include <spawn.h>
#include <unistd.h>

#define COMMAND "true; echo $?\n"
#define WARM_UP 20

/* The number of the nth CPU that this process may use. */
static int allowed_cpu(int nth)
{
	cpu_set_t set;

	must(sched_getaffinity(0, sizeof(set), &set), "sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && nth-- == 0)
			return cpu;
	errno = ENODEV;
	die("there are too few CPUs");
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

static void start_bash(int in, int out)
{
	const char *const argv[] = { "bash", "--norc", "--noprofile", NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	errno = posix_spawn(&pid, "/bin/bash", &actions, NULL, (char *const *)argv, environ);
	if (errno)
		die("/bin/bash");
	posix_spawn_file_actions_destroy(&actions);
}

static double one_step(int to, int from)
{
	double began = now_us();
	char answer[16];

	must(write(to, COMMAND, strlen(COMMAND)), "write");
	if (must(read(from, answer, sizeof(answer)), "read") != 2 || answer[0] != '0')
		die("bash gave another answer");
	return now_us() - began;
}

int main(int argc, char **argv)
{
	int n = floor_begin(argc, argv);
	const char *where = argc > 2 ? argv[2] : "free";
	int to[2], from[2];

	must(pipe(to), "pipe");
	must(pipe(from), "pipe");
	if (strcmp(where, "free") != 0) {
		int here = allowed_cpu(0);
		int there = strcmp(where, "two") == 0 ? allowed_cpu(1) : here;

		pin(there); /* bash inherits it */
		start_bash(to[0], from[1]);
		pin(here);
	} else {
		start_bash(to[0], from[1]);
	}
	for (int i = -WARM_UP; i < n; i++) {
		double took = one_step(to[1], from[0]);

		if (i >= 0)
			samples[i] = took;
	}
	floor_end(n);
	return 0;
}
