/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inside/places.h"
#include "base/scope.h"
#include "guest/start.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Makes the nursery, which makes sandboxes, a fork of the test. In the program it is a bash with a
 * plugin. So the test's sanitizers check all code of the guest but that for bash. Shells run each
 * command by `bash -c`. A sanitizer's report in any process of the guest fails the test.
 *
 * The owner spawns its nursery with descriptor 3 as its socket. The linker replaces the calls for
 * both by functions of this file.
 */

#define NURSERY_FD 3

extern int __real_posix_spawn(pid_t *pid, const char *path,
		const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
		char *const *argv, char *const *env);
extern int __real_posix_spawn_file_actions_adddup2(
		posix_spawn_file_actions_t *actions, int fd, int new_fd);
int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attr, char *const *argv, char *const *env);
int __wrap_posix_spawn_file_actions_adddup2(
		posix_spawn_file_actions_t *actions, int fd, int new_fd);

/* --- what sanitizers report ------------------------------------------------------------------- */

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static int *reported; /* 1 after a sanitizer's report in any forked process */

static void on_report(void)
{
	*reported = 1;
}

__attribute__((constructor)) static void watch(void)
{
	reported = mmap(NULL, sizeof(*reported), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (reported == MAP_FAILED)
		_exit(1);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(on_report);
}

__attribute__((destructor)) static void judge(void)
{
	if (!*reported)
		return;
	fprintf(stderr, "a sanitizer reported something in the guest\n");
	_exit(1);
}

/* --- a shell ---------------------------------------------------------------------------------- */

/* Waits for the shell's next command, and returns its text. */
static char *receive(const struct shell_mail *mail, uint32_t *turn, struct shell_command *out)
{
	char *text;

	while (!shell_wait(mail, turn))
		;
	*out = mail->command;
	text = calloc(1, (size_t)out->length + 1);
	memcpy(text, mail->text, out->length);
	return text;
}

static int run(const char *text)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/bash", "bash", "-c", text, (char *)NULL);
		_exit(127);
	}
	if (pid < 0)
		return 126;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 126;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void take_places(const struct shell_start *start)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (const char *const *e = program_environment; *e; e++)
		putenv((char *)(uintptr_t)*e);
	for (const char *const *e = start->env; *e; e++)
		putenv((char *)(uintptr_t)*e);
	if (dup2(null, 0) < 0 || dup2(start->ends.output, 1) < 0 || dup2(start->ends.output, 2) < 0)
		_exit(1);
	fcntl(start->ends.event, F_SETFD, FD_CLOEXEC);
	fcntl(start->ends.drain, F_SETFD, FD_CLOEXEC);
	fcntl(start->ends.output, F_SETFD, FD_CLOEXEC);
	if (chdir(GUEST_WORKSPACE) < 0 && chdir("/") < 0)
		_exit(1);
}

_Noreturn static void shell_loop(const struct shell_start *start)
{
	uint32_t turn = 0;

	take_places(start);
	shell_await(start);
	for (;;) {
		struct shell_command command;
		auto_free char *text = receive(start->mail, &turn, &command);
		struct shell_status status = { .nonce = command.nonce };
		struct timespec now;

		clock_gettime(CLOCK_BOOTTIME, &now);
		start->mail->mark.began_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
		status.status = (uint32_t)run(text);
		shell_answer(start, turn, &status, "");
	}
}

/* --- the nursery ------------------------------------------------------------------------------ */

static int nursery_socket = -1;

int __wrap_posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int fd, int new_fd)
{
	if (new_fd == NURSERY_FD)
		nursery_socket = fd;
	return __real_posix_spawn_file_actions_adddup2(actions, fd, new_fd);
}

int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attr, char *const *argv, char *const *env)
{
	static const struct guest_hooks hooks = { .shell = shell_loop };
	int socket = nursery_socket;

	nursery_socket = -1;
	if (socket < 0)
		return __real_posix_spawn(pid, path, actions, attr, argv, env);
	*pid = fork();
	if (*pid < 0)
		return errno;
	if (*pid > 0)
		return 0;
	setsid();
	clearenv();
	if (chdir("/") < 0 || dup2(socket, NURSERY_FD) < 0)
		_exit(1);
	close_range(NURSERY_FD + 1, ~0U, 0);
	nursery_main(NURSERY_FD, &hooks);
}
