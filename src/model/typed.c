/* SPDX-License-Identifier: Apache-2.0 */
#include "model/typed.h"

#include "base/fd.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMPLAINT_BYTES_MAX 65536

/* --- unfinished ------------------------------------------------------------------------------ */

/* The exit status of `bash -n` with this text as its input; -1 if it could not be run. */
static int typed_parse(int text, int complaint)
{
	static const char *const argv[] = { "bash", "--norc", "-n", NULL };
	static const char *const env[] = { "LC_ALL=C", "PATH=/usr/bin:/bin", NULL };
	posix_spawn_file_actions_t actions;
	pid_t child;
	int r, status;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, text, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, complaint, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, complaint, STDERR_FILENO);
	r = posix_spawnp(&child, "bash", &actions, NULL, (char *const *)(uintptr_t)argv,
			(char *const *)(uintptr_t)env);
	posix_spawn_file_actions_destroy(&actions);
	if (r != 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static bool typed_ends_in_backslash(const char *text)
{
	size_t n = strlen(text), slashes = 0;

	while (n && text[n - 1] == '\n')
		n--;
	while (slashes < n && text[n - 1 - slashes] == '\\')
		slashes++;
	return slashes % 2 == 1;
}

bool typed_is_unfinished(const char *text)
{
	auto_buf struct buf said = BUF_INIT(COMPLAINT_BYTES_MAX);
	auto_close int in = memfd_create("typed", MFD_CLOEXEC);
	auto_close int out = memfd_create("complaint", MFD_CLOEXEC);
	int status;

	if (typed_ends_in_backslash(text))
		return true;
	if (in < 0 || out < 0 || fd_write_full(in, text, strlen(text)) < 0 ||
			lseek(in, 0, SEEK_SET) < 0)
		return false;
	status = typed_parse(in, out);
	if (status < 0 || lseek(out, 0, SEEK_SET) < 0 || fd_read_all(out, &said) < 0)
		return false;
	if (status == 0)
		return strstr(buf_str(&said), "delimited by end-of-file") != NULL;
	return strstr(buf_str(&said), "unexpected end of file") ||
			strstr(buf_str(&said), "unexpected EOF");
}

/* --- the whole screen ------------------------------------------------------------------------ */

static const char *const full_screen[] = { "btop", "emacs", "htop", "less", "man", "mc", "more",
	"most", "nano", "nvim", "nvtop", "pico", "screen", "tmux", "top", "vi", "view", "vim",
	"watch" };

/* Words before the program's name: variables, and commands that run others. */
static bool typed_is_prefix(const char *word)
{
	static const char *const others[] = { "command", "env", "exec", "sudo", "time", "then",
		"do" };

	if (*word != '/' && strchr(word, '='))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (str_eq(word, others[i]))
			return true;
	return false;
}

/* `top -b`, `emacs --batch`, `vim -es` and `less --help` print, and end. */
static bool typed_prints(const char *rest)
{
	static const char *const options[] = { " -b", " --batch", " -e", " -Es", " --help",
		" --version" };

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (strstr(rest, options[i]))
			return true;
	return false;
}

static bool typed_takes_screen(const char *word, const char *rest)
{
	for (size_t i = 0; i < ARRAY_SIZE(full_screen); i++)
		if (str_eq(path_basename(word), full_screen[i]))
			return !typed_prints(rest);
	return false;
}

/* Of one command, without what follows a `;` or `&`. What a pipe feeds to `less` is printed. */
static const char *typed_in_command(struct arena *a, const char *command, size_t n)
{
	const char *at = arena_strndup(a, command, n);

	for (;;) {
		const char *word;
		size_t length;

		at += strspn(at, " \t({!");
		length = strcspn(at, " \t|<>)}");
		if (!length)
			return NULL;
		word = arena_strndup(a, at, length);
		at += length;
		if (!typed_is_prefix(word))
			return typed_takes_screen(word, at) ? path_basename(word) : NULL;
	}
}

const char *typed_full_screen(struct arena *a, const char *text)
{
	size_t first = strcspn(text, "\n");

	/* Further lines may be the text of a here-document. */
	for (size_t at = 0; at < first;) {
		size_t n = strcspn(text + at, ";&\n");
		const char *found = typed_in_command(a, text + at, n);

		if (found)
			return found;
		at += n + 1;
	}
	return NULL;
}
