/* SPDX-License-Identifier: Apache-2.0 */
#include "aci.h"
#include "editor.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Commands: open, goto, scroll_down, scroll_up, create. */

#define NUMBERED_BYTES_MAX 20000 /* limit of the file's size for `open FILE LINE` */
#define MANY_SCROLLS 3

static int open_show(struct editor *e, const struct lines_of *lines)
{
	e->center = editor_constrain(e->center, e->window, lines->n);
	editor_show(e->file, lines, e->center, e->window);
	editor_save(e);
	return 0;
}

/* Returns the center of a window in which a sixth of the lines is above `line`. */
static double open_center_for(long line, double window)
{
	return floor(fmax((double)line + window / 2 - floor(window / 6), 1));
}

static bool open_is_picture(const struct lines_of *lines)
{
	static const struct {
		const char *magic;
		size_t n;
	} kinds[] = {
		{ "\x89PNG", 4 },
		{ "\xff\xd8\xff", 3 },
		{ "GIF8", 4 },
		{ "BM", 2 },
		{ "II*\0", 4 },
		{ "MM\0*", 4 },
	};
	const struct buf *b = &lines->bytes;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (b->len >= kinds[i].n && memcmp(b->data, kinds[i].magic, kinds[i].n) == 0 &&
				memchr(b->data, '\0', b->len < 512 ? b->len : 512))
			return true;
	return false;
}

static int open_place_at(struct editor *e, const struct lines_of *lines, long line)
{
	long n = (long)lines->n;

	if (lines->bytes.len > NUMBERED_BYTES_MAX) {
		printf("The file has over %d bytes: `open` it without a line, then `goto`, or use `sed -n`.\n",
				NUMBERED_BYTES_MAX);
		return 1;
	}
	e->center = open_center_for(line, e->window);
	if (line > n || line < 1) {
		e->center = line < 1 ? 1 : (double)n;
		printf("There is no line %ld in it, which has %ld: the nearest is shown.\n", line,
				n);
	}
	return 0;
}

static int open_at(const char *path, const char *line_text)
{
	auto_lines_of struct lines_of lines = { 0 };
	struct editor e;
	long line = 0;

	editor_load(&e);
	if (!lines_read(path, &lines))
		return 1;
	if (open_is_picture(&lines)) {
		printf("%s is a picture, which can't be shown here.\n", path);
		return 1;
	}
	if (line_text && !editor_number(line_text, &line))
		return aci_usage(&aci_open, "The line must be a number.");
	if (line_text && open_place_at(&e, &lines, line) != 0)
		return 1;
	if (!line_text)
		e.center = e.window / 2;
	if (!realpath(path, e.file)) {
		printf("%s: %s\n", path, strerror(errno));
		return 1;
	}
	e.scrolls = 0;
	open_show(&e, &lines);
	lint_prepare(e.file);
	return 0;
}

static int open_run(int argc, char **argv)
{
	if (argc < 2 || argc > 3 || !*argv[1])
		return aci_usage(&aci_open, "Which file?");
	return open_at(argv[1], argc > 2 && *argv[2] ? argv[2] : NULL);
}

static int open_run_goto(int argc, char **argv)
{
	auto_lines_of struct lines_of lines = { 0 };
	struct editor e;
	long line;

	editor_load(&e);
	if (argc > 2)
		return aci_usage(&aci_goto, "One line at a time.");
	if (!editor_has_file(&e))
		return 1;
	if (!editor_number(argc > 1 ? argv[1] : NULL, &line))
		return aci_usage(&aci_goto, "The line must be a number.");
	if (!lines_read(e.file, &lines))
		return 1;
	if (line > (long)lines.n) {
		printf("There is no line %ld: the file has %zu.\n", line, lines.n);
		return 1;
	}
	e.center = open_center_for(line, e.window);
	e.scrolls = 0;
	return open_show(&e, &lines);
}

static int open_scroll(int direction)
{
	auto_lines_of struct lines_of lines = { 0 };
	struct editor e;
	int r;

	editor_load(&e);
	if (!editor_has_file(&e) || !lines_read(e.file, &lines))
		return 1;
	e.center += direction * (e.window - e.overlap);
	e.scrolls++;
	r = open_show(&e, &lines);
	if (e.scrolls >= MANY_SCROLLS)
		puts("\n(That was scrolled several times in a row: `goto <line>` and `search_file <term>` get "
		     "there at once.)\n");
	return r;
}

static int open_run_scroll_down(int argc, char **argv)
{
	return open_scroll(1);
}

static int open_run_scroll_up(int argc, char **argv)
{
	return open_scroll(-1);
}

static int open_run_create(int argc, char **argv)
{
	int fd;

	if (argc != 2 || !*argv[1])
		return aci_usage(&aci_create, "Which file?");
	fd = open(argv[1], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 && errno == EEXIST) {
		printf("%s is there already.\n", argv[1]);
		open_at(argv[1], NULL);
		return 1;
	}
	if (fd < 0 || write(fd, "\n", 1) != 1) {
		printf("%s could not be made: %s\n", argv[1], strerror(errno));
		return 1;
	}
	close(fd);
	return open_at(argv[1], NULL);
}

const struct aci_command aci_open = { "open", "open <path> [<line_number>]", open_run };
const struct aci_command aci_goto = { "goto", "goto <line_number>", open_run_goto };
const struct aci_command aci_scroll_down = { "scroll_down", "scroll_down", open_run_scroll_down };
const struct aci_command aci_scroll_up = { "scroll_up", "scroll_up", open_run_scroll_up };
const struct aci_command aci_create = { "create", "create <filename>", open_run_create };
