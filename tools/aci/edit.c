/* SPDX-License-Identifier: Apache-2.0 */
#include "aci.h"
#include "editor.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * edit, insert: replace a range of lines of the open file by standard input. insert replaces an
 * empty range. If flake8 finds new errors in a Python file, the file stays unchanged.
 */
struct change {
	struct editor editor;
	struct lines_of before, text, after;
	const char *ending; /* line ending that new lines get */
	/* number of lines before the new ones; index of the old line that follows the new ones */
	size_t keep, resume;
	/* Linter errors of the old text in the lines gone_first to gone_last are ignored. Errors in
	 * later lines of the old text move by `moved` lines. */
	long gone_first, gone_last, moved;
	double center; /* line in the middle of the window that is shown after the change */
	/* Windows to show after a refused change. new_center is the middle line of the new lines'
	 * window. old_center and old_window are middle line and height of the old lines' window. */
	double new_center, old_center, old_window;
};

/* --- text ------------------------------------------------------------------------------------- */

/* False if standard input is the shell's own /dev/null, which is open for reading and writing. For
 * an empty here-document, standard input is /dev/null, too, but open for reading only. */
static bool edit_has_text(void)
{
	int flags = fcntl(STDIN_FILENO, F_GETFL);
	struct stat st;

	return isatty(STDIN_FILENO) || (flags & O_ACCMODE) == O_RDONLY ||
			(fstat(STDIN_FILENO, &st) == 0 && !S_ISCHR(st.st_mode));
}

static bool edit_read_text(struct lines_of *out)
{
	int r;

	buf_init(&out->bytes, EDITOR_FILE_BYTES_MAX);
	if (!edit_has_text()) {
		puts("There is no text: it follows on lines of its own, up to one that ends it. Nothing is "
		     "changed.");
		return false;
	}
	r = fd_read_all(STDIN_FILENO, &out->bytes);
	if (r < 0 || out->bytes.truncated) {
		printf("The text can't be read: %s.\n", strerror(r < 0 ? -r : EFBIG));
		return false;
	}
	lines_split(out);
	return true;
}

/* Returns the commonest line ending of the file. */
static const char *edit_ending_of(const struct lines_of *lines)
{
	size_t n[3] = { 0 };

	for (size_t i = 0; i < lines->n; i++)
		n[lines_ending(lines, i)]++;
	return n[2] > n[1] ? "\r\n" : "\n";
}

/* Copies lines without changes, but adds an ending to a last line without one. */
static void edit_add_kept(struct change *c, size_t first, size_t end)
{
	const struct lines_of *from = &c->before;
	struct buf *out = &c->after.bytes;

	for (size_t i = first; i < end && i < from->n; i++) {
		size_t ending = lines_ending(from, i);

		buf_add(out, from->at[i], from->length[i] + ending);
		if (!ending)
			buf_add_str(out, c->ending);
	}
}

static bool edit_make_after(struct change *c)
{
	struct buf *out = &c->after.bytes;

	buf_init(out, EDITOR_FILE_BYTES_MAX);
	c->ending = edit_ending_of(&c->before);
	edit_add_kept(c, 0, c->keep);
	for (size_t i = 0; i < c->text.n; i++) {
		buf_add(out, c->text.at[i], c->text.length[i]);
		buf_add_str(out, c->ending);
	}
	edit_add_kept(c, c->resume, c->before.n);
	if (!out->len)
		buf_add_str(out, c->ending);
	if (out->truncated)
		puts("The file would be too large to be edited.");
	lines_split(&c->after);
	return !out->truncated;
}

static void change_free(struct change *c)
{
	lines_free(&c->before);
	lines_free(&c->text);
	lines_free(&c->after);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Writes into the existing file. Reserves the space first, so that a full disk leaves the file
 * unchanged. */
static int edit_write_in_place(const char *path, const struct buf *b)
{
	auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : -posix_fallocate(fd, 0, (off_t)b->len);

	if (r < 0)
		return r;
	r = fd_write_full(fd, buf_str(b), b->len);
	if (r < 0)
		return r;
	return ftruncate(fd, (off_t)b->len) < 0 ? -errno : 0;
}

/* Replaces the file by rename(2). Writes in place if the file has several names, or if the agent
 * may not write to its folder. */
static int edit_write_file(const char *path, const struct buf *b)
{
	struct stat st;
	mode_t mode;
	int r;

	if (stat(path, &st) < 0)
		return -errno;
	mode = st.st_mode & 07777;
	if (st.st_nlink > 1)
		return edit_write_in_place(path, b);
	r = fd_write_file(path, buf_str(b), b->len, mode, NULL);
	if (r == -EACCES || r == -EPERM || r == -EROFS)
		return edit_write_in_place(path, b);
	if (r < 0)
		return r;
	return chmod(path, mode) < 0 ? -errno : 0;
}

/* --- errors ----------------------------------------------------------------------------------- */

/* largest line number accepted from the linter, so that adding `moved` to it can't overflow */
#define EDIT_LINES_MAX (1L << 30)

struct lint_error {
	long line, column;
	const char *problem;
	size_t n;
};

struct lint_errors {
	struct lint_error *items;
	size_t n;
};

static struct lint_errors edit_read_errors(const struct buf *text)
{
	struct lint_errors errors = { 0 };
	size_t size = 1;

	for (const char *s = buf_str(text); (s = strchr(s, '\n')); s++)
		size++;
	errors.items = xcalloc(size, sizeof(*errors.items));
	for (const char *at = buf_str(text); *at; at += strcspn(at, "\n") + 1) {
		struct lint_error *e = &errors.items[errors.n];
		char *end;

		e->line = strtol(at, &end, 10);
		e->column = *end == ':' ? strtol(end + 1, &end, 10) : 0;
		if (!str_starts(end, ": ") || e->line < 0 || e->line > EDIT_LINES_MAX)
			break;
		e->problem = end + 2;
		e->n = strcspn(e->problem, "\n");
		errors.n++;
	}
	return errors;
}

static bool edit_was_there(const struct change *c, const struct lint_errors *before,
		const struct lint_error *e)
{
	for (size_t i = 0; i < before->n; i++) {
		const struct lint_error *old = &before->items[i];
		long line = old->line;

		if (line >= c->gone_first && line <= c->gone_last)
			continue;
		if (line > c->gone_last)
			line += c->moved;
		if (line == e->line && old->column == e->column && old->n == e->n &&
				memcmp(old->problem, e->problem, e->n) == 0)
			return true;
	}
	return false;
}

/* Appends errors that only the new text has, as in "- F821 undefined name 'x'". Appends nothing if
 * there are none. */
static void edit_find_new_errors(const struct change *c, struct buf *out)
{
	auto_buf struct buf before_text = BUF_INIT(EDITOR_FILE_BYTES_MAX);
	auto_buf struct buf after_text = BUF_INIT(EDITOR_FILE_BYTES_MAX);
	struct lint_errors before, after;

	if (!str_ends(c->editor.file, ".py") ||
			!lint_texts(&c->before.bytes, &c->after.bytes, &before_text, &after_text))
		return;
	before = edit_read_errors(&before_text);
	after = edit_read_errors(&after_text);
	for (size_t i = 0; i < after.n; i++)
		if (!edit_was_there(c, &before, &after.items[i]))
			buf_printf(out, "- %.*s\n", (int)after.items[i].n, after.items[i].problem);
	free(before.items);
	free(after.items);
}

/* --- applying --------------------------------------------------------------------------------- */

#define RULE "-------------------------------------------------"

static void edit_show_part(const char *title, const char *path, const struct lines_of *lines,
		double center, double window)
{
	window = fmax(window, 0);
	printf("%s\n" RULE "\n", title);
	editor_show(path, lines, editor_constrain(center, window, lines->n), window);
	puts(RULE "\n");
}

static int edit_show_refusal(const struct change *c, const struct buf *errors)
{
	printf("The file was not changed, since it would have new errors:\n\nERRORS:\n%s\n",
			buf_str(errors));
	edit_show_part("This is what it would be:", c->editor.file, &c->after, c->new_center,
			(double)c->text.n + 10);
	edit_show_part("This is what it is:", c->editor.file, &c->before, c->old_center,
			c->old_window);
	puts("Correct the line numbers or the text, and give the command again. The same command gives the "
	     "same errors.");
	return 1;
}

static int edit_apply(struct change *c)
{
	auto_buf struct buf errors = BUF_INIT(EDITOR_FILE_BYTES_MAX);
	int r;

	if (access(c->editor.file, W_OK) < 0) {
		printf("%s can't be written: %s.\n", c->editor.file, strerror(errno));
		return 1;
	}
	if (!edit_make_after(c))
		return 1;
	edit_find_new_errors(c, &errors);
	if (errors.len)
		return edit_show_refusal(c, &errors);
	r = edit_write_file(c->editor.file, &c->after.bytes);
	if (r < 0) {
		printf("%s could not be written: %s.\n", c->editor.file, strerror(-r));
		return 1;
	}
	c->editor.scrolls = 0;
	c->editor.center = editor_constrain(c->center, c->editor.window, c->after.n);
	editor_show(c->editor.file, &c->after, c->editor.center, c->editor.window);
	editor_save(&c->editor);
	puts("The file is changed. Look at the lines above: is the indentation right, is nothing there twice?");
	return 0;
}

/* --- the commands ------------------------------------------------------------------------- */

/* Loads the open file, and checks that there is at most one argument. False after printing the
 * reason. */
static bool edit_begin(struct change *c, const struct aci_command *command, int argc)
{
	editor_load(&c->editor);
	if (!editor_has_file(&c->editor))
		return false;
	if (argc > 2)
		aci_usage(command,
				command == &aci_edit
						? "One range at a time, and the text on the lines below."
						: "One line at a time, and the text on the lines below.");
	return argc <= 2;
}

static bool edit_read_range(const char *text, long *out_start, long *out_end)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	auto_free char *start = colon ? xasprintf("%.*s", (int)(colon - text), text) : NULL;

	return colon && editor_number(start, out_start) && editor_number(colon + 1, out_end) &&
			*out_start >= 1;
}

static int edit_run(int argc, char **argv)
{
	__attribute__((cleanup(change_free))) struct change c = { 0 };
	long start, end, n, middle;

	if (argc == 2 && str_eq(argv[1], GUEST_EDIT_READY)) {
		lint_ready();
		return 0;
	}
	if (!edit_begin(&c, &aci_edit, argc))
		return 1;
	if (!edit_read_range(argc > 1 ? argv[1] : NULL, &start, &end))
		return aci_usage(&aci_edit,
				"The first and the last line must be numbers from 1 on.");
	if (!lines_read(c.editor.file, &c.before) || !edit_read_text(&c.text))
		return 1;
	n = end - start + 1;
	c.keep = (size_t)start - 1;
	c.resume = (size_t)end;
	c.gone_first = start;
	c.gone_last = end;
	c.moved = (long)c.text.n - n;
	c.center = (double)start - 1;
	c.new_center = (double)(start - 1 + (long)(c.text.n / 2));
	middle = start - 1 + (n + 1) / 2;
	c.old_center = (double)middle;
	c.old_window = (double)n + 10;
	return edit_apply(&c);
}

static int edit_run_insert(int argc, char **argv)
{
	__attribute__((cleanup(change_free))) struct change c = { 0 };
	long line;

	if (!edit_begin(&c, &aci_insert, argc))
		return 1;
	if (!editor_number(argc > 1 ? argv[1] : NULL, &line))
		return aci_usage(&aci_insert, "The line must be a number.");
	if (!lines_read(c.editor.file, &c.before) || !edit_read_text(&c.text))
		return 1;
	c.keep = c.resume = (size_t)line;
	/* Ignore errors of old lines that had the numbers of the new lines, and leave `moved` at 0.
	 * So errors of the new lines and of all later lines count as new. */
	c.gone_first = line + 1;
	c.gone_last = line + (long)c.text.n;
	c.center = (double)line + 1;
	c.new_center = (double)(line + (long)(c.text.n / 2));
	c.old_center = (double)line;
	c.old_window = 10;
	return edit_apply(&c);
}

const struct aci_command aci_edit = { "edit",
	"edit <start_line>:<end_line>\n<replacement_text>\nend_of_edit", edit_run };
const struct aci_command aci_insert = { "insert",
	"insert <line_number>\n<text_to_add>\nend_of_insert", edit_run_insert };
