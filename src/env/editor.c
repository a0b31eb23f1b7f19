/* SPDX-License-Identifier: Apache-2.0 */
#include "env/env.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "inside/tools.h"

#include <stdlib.h>
#include <string.h>

/*
 * Which file our own tools have open (tools/aci/editor.c): they note it in a file of the agent's, and ask the porter
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

int editor_begin(struct fh_env *env)
{
	return sandbox_get_begin(env->sb, GUEST_HOME, GUEST_EDITOR_STATE, STATE_BYTES_MAX,
			&env->asked, NULL);
}

bool editor_advance(struct fh_env *env)
{
	auto_buf struct buf text = BUF_INIT(STATE_BYTES_MAX);
	struct sandbox_answer answer = { .fd = -1 };
	auto_free char *path = NULL;

	if (!sandbox_answered(env->sb, env->asked))
		return false;
	free(take_ptr(env->open_file));
	if (sandbox_take(env->sb, &answer, NULL) == 0 && fd_read_all(answer.fd, &text) == 0)
		path = path_of(buf_str(&text));
	close_fd(&answer.fd);
	if (path && is_shown(path))
		env->open_file = take_ptr(path);
	return true;
}
