/* SPDX-License-Identifier: Apache-2.0 */
#include "model/typed.h"

#include "base/exec.h"
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

/* Runs `bash -n` on the script in the descriptor `text`. bash writes its messages to
 * `complaint`. Returns its exit status, or -1 if it did not run or was killed. */
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
	r = posix_spawnp(&child, "bash", &actions, NULL, exec_list(argv), exec_list(env));
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

/* --- programs that need a terminal ------------------------------------------------------------ */

static const char *const typed_full_screens[] = { "btop", "cgdb", "emacs", "gdbtui", "htop", "joe",
	"less", "links", "lynx", "man", "mc", "micro", "more", "most", "mutt", "nano", "ncdu",
	"nnn", "nvim", "nvtop", "pico", "ranger", "rvim", "screen", "tig", "tmux", "top", "vi",
	"view", "vim", "vimdiff", "vimtutor", "w3m", "watch" };

/* Options with which a program fills the screen, or a full-screen program only prints. An option
 * may be cut short: "-b" is for `top -bn1` too. A name of NULL stands for all programs. */
static const struct {
	const char *name, *option;
	bool fills; /* false: the program only prints, whatever other options it has */
} typed_options[] = { { NULL, "--help", false }, { NULL, "--version", false },
	{ "emacs", "--batch", false }, { "gdb", "--interpreter tui", true },
	{ "gdb", "--interpreter=tui", true }, { "gdb", "--tui", true }, { "gdb", "-i tui", true },
	{ "gdb", "-i=tui", true }, { "gdb", "-interpreter tui", true },
	{ "gdb", "-interpreter=tui", true }, { "gdb", "-tui", true }, { "links", "-dump", false },
	{ "lynx", "-dump", false }, { "nvim", "--headless", false }, { "nvim", "-es", false },
	{ "perf", "--tui", true }, { "top", "-b", false }, { "vi", "-es", false },
	{ "view", "-es", false }, { "vim", "-Es", false }, { "vim", "-es", false },
	{ "w3m", "-dump", false } };

/* Returns true for a word that may stand before a program's name in a command. Examples are an
 * assignment, `sudo` and its options. */
static bool typed_is_prefix(const char *word)
{
	static const char *const others[] = { "builtin", "command", "env", "exec", "nice", "nohup",
		"setsid", "sudo", "time", "timeout", "do", "elif", "else", "if", "then", "until",
		"while" };

	if (*word == '-' || (*word >= '0' && *word <= '9') || (*word != '/' && strchr(word, '=')))
		return true;
	word = path_basename(word);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (str_eq(word, others[i]))
			return true;
	return false;
}

/*
 * Copies a word of a shell command without quotes and backslashes: bash runs vim for `\vim` and
 * `'vim'` too.
 */
static const char *typed_unquoted(struct arena *a, const char *word, size_t n)
{
	char *out = arena_strndup(a, word, n);
	size_t length = 0;

	for (size_t i = 0; i < n; i++)
		if (!strchr("\\'\"", word[i]))
			out[length++] = word[i];
	out[length] = '\0';
	return out;
}

/* Returns true if a word of the arguments `rest` begins with an option. */
static bool typed_has_option(const char *rest, const char *option)
{
	for (size_t n; *(rest += strspn(rest, " \t")); rest += n) {
		n = strcspn(rest, " \t");
		if (str_starts(rest, option))
			return true;
	}
	return false;
}

/* Returns true if a program draws on the whole screen when it gets the arguments `rest`. */
static bool typed_fills_screen(const char *word, const char *rest)
{
	bool fills = false;

	for (size_t i = 0; i < ARRAY_SIZE(typed_full_screens); i++)
		fills = fills || str_eq(word, typed_full_screens[i]);
	for (size_t i = 0; i < ARRAY_SIZE(typed_options); i++)
		if ((!typed_options[i].name || str_eq(word, typed_options[i].name)) &&
				typed_has_option(rest, typed_options[i].option)) {
			if (!typed_options[i].fills)
				return false;
			fills = true;
		}
	return fills;
}

/* Returns true if the arguments of a program name no file: it then reads its input. Options
 * such as `-i`, `-l`, `-q`, `-s` and `-u` don't change that, and neither does "-". */
static bool typed_names_no_file(const char *rest)
{
	for (rest += strspn(rest, " \t)}"); *rest == '-'; rest += strspn(rest, " \t)}"))
		rest += 1 + strspn(rest + 1, "ilqsu");
	return !*rest;
}

/* Returns true for programs that read commands from their input if they get no program to run.
 * Ignores the version at the end of a name: python3.11. */
static bool typed_is_interpreter(const char *word)
{
	static const char *const names[] = { "bash", "dash", "ipython", "julia", "node", "python",
		"sh", "zsh" };
	size_t n = strlen(word);

	while (n && strchr("0123456789.", word[n - 1]))
		n--;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == n && memcmp(names[i], word, n) == 0)
			return true;
	return false;
}

/* Returns the sentence about the program `word` with the arguments `rest`. NULL: it may run. */
static const char *typed_judge(struct arena *a, const char *word, const char *rest, bool redirects)
{
	if (typed_fills_screen(word, rest))
		return arena_printf(a,
				"%s needs a whole screen, and a command has none here: print "
				"with cat, head, ps or open; change files with edit, sed or cat "
				">FILE <<'EOF'.",
				word);
	if (redirects || !typed_names_no_file(rest))
		return NULL;
	if (str_eq(word, "cat"))
		return "cat would end at once, because a command has no typed input here: show a file "
		       "with cat FILE, or write one with cat >FILE <<'EOF'.";
	if (!typed_is_interpreter(word))
		return NULL;
	return arena_printf(a,
			"%s would end at once, because a command has no typed input here: run a script "
			"with %s FILE, or lines with %s <<'EOF'.",
			word, word, word);
}

/* Judges the first program of a pipeline. Others need no terminal: `less` at the end of a pipe just
 * prints, and `bash` there reads the pipe. */
static const char *typed_in_command(struct arena *a, const char *command, size_t n, bool redirects)
{
	const char *at = arena_strndup(a, command, n), *word;
	size_t length;

	do {
		at += strspn(at, " \t({!");
		length = strcspn(at, " \t|<>)}");
		if (!length)
			return NULL;
		word = typed_unquoted(a, at, length);
		at += length;
		/* the words are not a program to run: `command -v vim` only looks up its name */
		if (str_eq(word, "-v") || str_eq(word, "-V"))
			return NULL;
	} while (typed_is_prefix(word));
	return typed_judge(a, path_basename(word), at, redirects);
}

const char *typed_refusal(struct arena *a, const char *text)
{
	size_t first = strcspn(text, "\n");
	/* A loop that has a program in it may give it a pipe or a file as input. */
	bool redirects = strcspn(text, "|<") < first;

	/*
	 * Look only at the first line of the command: later lines may be text of a here-document.
	 */
	for (size_t at = 0; at < first;) {
		size_t n = strcspn(text + at, ";&\n");
		const char *found = typed_in_command(a, text + at, n, redirects);

		if (found)
			return found;
		at += n + 1;
	}
	return NULL;
}
