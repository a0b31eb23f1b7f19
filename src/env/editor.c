/* SPDX-License-Identifier: Apache-2.0 */
#include "env/env.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "proto/guest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Which file our own tools have open (tools/aci/editor.c): they note it in a file of the agent's, and ask PID 1
 * to tell that it has changed. It is the agent's word, and nothing but what is shown relies on it.
 */
#define STATE_BYTES_MAX 8192

static bool is_shown(const char *path)
{
	for (const char *s = path; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return path[0] == '/' && str_utf8_invalid(path, strlen(path)) < 0;
}

/* What follows the first line, which is where its window is, up to the newline that ends the text: a name may
 * have others, and is not shown then. */
static char *path_of(const char *text)
{
	const char *line = strchr(text, '\n');

	return line ? xstrndup(line + 1, strlen(line + 1) - str_ends(line + 1, "\n")) : NULL;
}

void editor_note_file(struct fh_env *env)
{
	auto_buf struct buf text = BUF_INIT(STATE_BYTES_MAX);
	auto_free char *path = NULL;
	auto_close int fd = -1;

	free(take_ptr(env->open_file));
	if (sandbox_get(env->sb, GUEST_HOME, GUEST_EDITOR_STATE, STATE_BYTES_MAX, &fd, NULL) < 0 ||
			lseek(fd, 0, SEEK_SET) < 0 || fd_read_all(fd, &text) < 0)
		return;
	path = path_of(buf_str(&text));
	if (path && is_shown(path))
		env->open_file = take_ptr(path);
}
