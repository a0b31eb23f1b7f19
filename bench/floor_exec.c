/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the least time that an agent's command takes: to fork, exec a program, and wait until it
 * has ended.
 *
 * Compared to Fumehood, it leaves out the sandbox, the shell that reads the command, and collecting
 * output.
 */
#include "floor.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static double one_exec(char **argv)
{
	double began = now_us();
	pid_t pid = must(fork(), "fork");

	if (pid == 0) {
		int null = must(open("/dev/null", O_RDWR), "/dev/null");

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execv(argv[0], argv);
		_exit(127);
	}
	must(waitpid(pid, NULL, 0), "waitpid");
	return now_us() - began;
}

int main(int argc, char **argv)
{
	int n = floor_begin(argc, argv);

	if (argc < 3)
		return 2;
	one_exec(argv + 2);
	for (int i = 0; i < n; i++)
		samples[i] = one_exec(argv + 2);
	floor_end(n);
	return 0;
}
