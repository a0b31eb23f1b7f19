/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pytext.h"
#include "base/exec.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"
#include "run/trial_inside.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Looks for hidden files from inside of an episode. The static checks compare paths only. A copy of
 * a hidden file has another path, so that files are compared by size and hash here.
 */

#define HIDDEN_MAX 500 /* most hidden files of a task to look for */
/* files with fewer bytes are not searched: they may be equal by chance */
#define HIDDEN_BYTES_MIN 16

struct hidden_file {
	char *path;
	int64_t size;
};

struct trial_hidden {
	struct hidden_file items[HIDDEN_MAX];
	size_t n;
};

/* Returns true if the task itself shows the agent this file. If that is a mistake, task_check()
 * reports it. */
static bool hidden_is_shown(const struct task *task, const char *path)
{
	for (size_t i = 0; i < task->n_starter; i++)
		if (path_is_within(path, task->starter[i].source))
			return true;
	for (size_t i = 0; i < task->n_data; i++)
		if (path_is_within(path, task->data[i].source))
			return true;
	return false;
}

/* Adds a file, or all files of a folder, to the list of hidden files. Skips those that the task
 * shows the agent. */
static void hidden_add(struct trial_hidden *s, const struct task *task, const char *path)
{
	const char *const paths[] = { path, NULL };
	FTS *fts = path ? fts_open(exec_list(paths), FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR,
					  NULL)
			: NULL;
	FTSENT *entry;

	while (fts && s->n < HIDDEN_MAX && (entry = fts_read(fts)))
		if (entry->fts_info == FTS_F && !hidden_is_shown(task, entry->fts_path))
			s->items[s->n++] = (struct hidden_file){ .path = xstrdup(entry->fts_path),
				.size = entry->fts_statp->st_size };
	if (fts)
		fts_close(fts);
}

static void hidden_add_files(struct trial_hidden *s, const struct task *task,
		const struct task_file *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hidden_add(s, task, files[i].source);
}

static void hidden_find(struct trial_hidden *s, const struct task *task)
{
	hidden_add(s, task, task->grader.answers);
	hidden_add(s, task, task->grader.program);
	hidden_add(s, task, task->grader.player);
	hidden_add(s, task, task->demo);
	hidden_add_files(s, task, task->hidden, task->n_hidden);
	hidden_add_files(s, task, task->solution, task->n_solution);
	hidden_add_files(s, task, task->baseline_files, task->n_baseline_files);
}

void trial_hidden_free(struct trial_hidden *hidden)
{
	if (!hidden)
		return;
	for (size_t i = 0; i < hidden->n; i++)
		free(hidden->items[i].path);
	free(hidden);
}

/* Makes the shell command that searches for hidden files. It prints "HASH  PATH" for files with the
 * size of a hidden file. It also prints the paths of hidden files that exist. */
static void hidden_add_command(const struct trial_hidden *s, struct buf *out)
{
	buf_add_str(out,
			"{ find / \\( -path /proc -o -path /sys -o -path /dev \\) -prune -o "
			"-type f \\( -size -0");
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].size >= HIDDEN_BYTES_MIN)
			buf_printf(out, " -o -size %lldc", (long long)s->items[i].size);
	buf_add_str(out, " \\) -exec sha256sum {} + ; ls -d --");
	for (size_t i = 0; i < s->n; i++) {
		buf_add_char(out, ' ');
		pytext_add_quoted(out, s->items[i].path);
	}
	buf_add_str(out, "; } 2>/dev/null; true");
}

/*
 * Compares a hidden file with the lines that the search command printed. -EPERM: the agent sees the
 * file or a copy.
 */
static int hidden_compare(const struct hidden_file *file, char *const *lines, struct fh_error *err)
{
	char hex[SHA256_HEX_BYTES];
	int r = sha256_file(file->path, hex, err);

	if (r < 0)
		return r;
	for (; *lines; lines++) {
		if (str_eq(*lines, file->path))
			return error_say(err, EPERM, "the agent sees %s", file->path);
		if (file->size >= HIDDEN_BYTES_MIN && str_starts(*lines, hex))
			return error_say(err, EPERM, "the agent sees a copy of %s: %s", file->path,
					*lines + strlen(hex) + strspn(*lines + strlen(hex), " "));
	}
	return 0;
}

/* Splits a text at newlines, in place. Returns a heap array of the lines, ended by NULL. */
static char **hidden_lines(char *text)
{
	size_t n = 0;
	char **lines;

	for (const char *at = text; *at; at++)
		n += *at == '\n';
	lines = xcalloc(n + 2, sizeof(*lines));
	for (n = 0; text && *text; n++)
		lines[n] = strsep(&text, "\n");
	return lines;
}

struct trial_hidden *trial_hidden_new(const struct task *task, struct buf *command)
{
	struct trial_hidden *hidden = xcalloc(1, sizeof(*hidden));

	hidden_find(hidden, task);
	hidden_add_command(hidden, command);
	return hidden;
}

int trial_hidden_compare(
		const struct trial_hidden *hidden, const char *output, struct fh_error *err)
{
	auto_free char *text = xstrdup(output);
	auto_free char **lines = hidden_lines(text);

	for (size_t i = 0; i < hidden->n; i++) {
		int r = hidden_compare(&hidden->items[i], lines, err);

		if (r < 0)
			return r;
	}
	return 0;
}
