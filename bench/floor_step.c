/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the least time of a step: write a command to a plain bash's standard input, and read its
 * answer. The second argument tells where this program and the shells run. With `free` the kernel
 * chooses. With `one` all run on one CPU, with `two` the shells on another CPU than this program.
 * The third argument is the number of shells, which are asked in turn.
 *
 * Compared to Fumehood, it leaves out the sandbox, limits and counters. It does not keep output
 * apart from the status, or protect against commands that break the shell.
 */
#include "floor.h"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <unistd.h>

#define COMMAND "true; echo $?\n"
#define WARM_UP 5 /* first steps of each shell, which are not timed */
#define SHELLS_MAX 10000

struct shell {
	int to, from;
};

/* Returns the number of the nth CPU on which this process may run. n counts from 0. */
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

static struct shell start_bash(void)
{
	char name[] = "bash", norc[] = "--norc", noprofile[] = "--noprofile";
	char *const argv[] = { name, norc, noprofile, NULL };
	posix_spawn_file_actions_t actions;
	int in[2], out[2];
	pid_t pid;

	must(pipe2(in, O_CLOEXEC), "pipe");
	must(pipe2(out, O_CLOEXEC), "pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	errno = posix_spawn(&pid, "/bin/bash", &actions, NULL, argv, environ);
	if (errno)
		die("/bin/bash");
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	return (struct shell){ .to = in[1], .from = out[0] };
}

static void start_shells(struct shell *shells, int n)
{
	for (int i = 0; i < n; i++)
		shells[i] = start_bash();
}

static double one_step(const struct shell *shell)
{
	double began = now_us();
	char answer[16];

	must(write(shell->to, COMMAND, strlen(COMMAND)), "write");
	if (must(read(shell->from, answer, sizeof(answer)), "read") != 2 || answer[0] != '0')
		die("bash gave another answer");
	return now_us() - began;
}

int main(int argc, char **argv)
{
	static struct shell shells[SHELLS_MAX];
	int n = floor_begin(argc, argv);
	const char *where = argc > 2 ? argv[2] : "free";
	int n_shells = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 1;

	if (n_shells < 1 || n_shells > SHELLS_MAX)
		n_shells = 1;
	if (strcmp(where, "free") != 0) {
		int here = allowed_cpu(0);

		pin(strcmp(where, "two") == 0 ? allowed_cpu(1) : here); /* shells inherit the CPU */
		start_shells(shells, n_shells);
		pin(here);
	} else {
		start_shells(shells, n_shells);
	}
	for (int i = -WARM_UP * n_shells; i < n; i++) {
		double took = one_step(&shells[(i + WARM_UP * n_shells) % n_shells]);

		if (i >= 0)
			samples[i] = took;
	}
	floor_end(n);
	return 0;
}
