/* SPDX-License-Identifier: Apache-2.0 */
#include "env/editor.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "inside/tools.h"

#include <string.h>

#define STATE_BYTES_MAX 8192

int editor_begin(struct sandbox *sb, uint32_t *out_id, struct fh_error *err)
{
	return sandbox_get_begin(sb, GUEST_HOME, GUEST_EDITOR_STATE, STATE_BYTES_MAX, out_id, err);
}

static bool editor_can_show(const char *path)
{
	for (const char *s = path; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return path[0] == '/' && str_utf8_invalid(path, strlen(path)) < 0;
}

char *editor_take(struct sandbox *sb)
{
	auto_buf struct buf text = BUF_INIT(STATE_BYTES_MAX);
	struct sandbox_answer answer = { .fd = -1 };
	auto_free char *path = NULL;
	const char *line;

	if (sandbox_take(sb, &answer, NULL) == 0 && fd_read_all(answer.fd, &text) == 0) {
		/*
		 * In the editor's note, the first line has the window's position and the number of
		 * scrolls. The path follows, up to the last newline.
		 */
		line = strchr(buf_str(&text), '\n');
		if (line)
			path = xstrndup(line + 1, strlen(line + 1) - str_ends(line + 1, "\n"));
	}
	close_fd(&answer.fd);
	return path && editor_can_show(path) ? take_ptr(path) : NULL;
}
