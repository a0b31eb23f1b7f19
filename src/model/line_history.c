/* SPDX-License-Identifier: Apache-2.0 */
#include "model/line_history.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Twice the size that is kept, so that few runs have to rewrite the file. */
#define FILE_BYTES_MAX (2L * LINE_HISTORY_MAX * LINE_HISTORY_BYTES_MAX)

/* The start of the last LINE_HISTORY_MAX lines. */
static char *line_history_last(char *text, size_t n)
{
	size_t lines = 0;

	for (char *at = text + n; at > text; at--)
		if (at[-1] == '\n' && ++lines > LINE_HISTORY_MAX)
			return at;
	return text;
}

void line_history_load(const char *path, void (*add)(void *user, const char *line), void *user)
{
	auto_buf struct buf text = BUF_INIT(FILE_BYTES_MAX);
	char *at, *end;

	if (fd_read_file(path, &text, NULL) < 0) {
		if (text.truncated)
			unlink(path);
		return;
	}
	at = line_history_last(text.data, text.len);
	if (at != text.data)
		(void)fd_write_file(path, at, (size_t)(text.data + text.len - at), 0600, NULL);
	for (; at && (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		add(user, at);
	}
}

void line_history_add(const char *path, const char *line, size_t n)
{
	auto_close int fd = -1;
	auto_free char *whole = NULL;

	if (n > LINE_HISTORY_BYTES_MAX || memchr(line, '\n', n))
		return;
	whole = xasprintf("%.*s\n", (int)n, line);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd >= 0)
		(void)fd_write_full(fd, whole, strlen(whole));
}
