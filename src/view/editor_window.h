/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_EDITOR_WINDOW_H
#define VIEW_EDITOR_WINDOW_H

#include "base/arena.h"
#include "view/record_parts.h"

/* Reads what the editor's commands say and show: open, goto, scroll_*, create, edit and insert. */

/* A line without its newline. */
struct rebuilt_line {
	const char *text; /* NULL: no step showed this line */
	uint32_t n;
	bool fresh; /* the text does not live in the arena yet */
};

/* Lines of a file. */
struct window {
	const char *path;
	size_t total; /* lines of the file */
	size_t first; /* index of the first line that is shown */
	const struct rebuilt_line *lines;
	size_t n;
};

struct window_edit {
	bool is_edit;   /* edit or insert */
	bool is_create; /* create */
	/* lines that stay at the beginning, and index of the first line that stays behind */
	size_t keep, resume;
	struct run_text text; /* new lines between them */
};

/* False: the action begins with another command. */
bool window_is_editor(struct run_text action, struct window_edit *out);

/* Reads the first "[File: PATH (N lines total)]" and the numbered lines after it. False: there is
 * none. *out_first: the observation begins with it. Path and lines live in the arena and in the
 * observation. */
bool window_read(struct arena *a, struct run_text observation, struct window *out, bool *out_first);

#endif
