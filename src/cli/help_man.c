/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help_man.h"

#include "cli/help.h"
#include "cli/options.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"

#include <ctype.h>
#include <string.h>

/* Writes manual pages in man(7): fumehood.1, fumehood-run.1, fumehood-task-list.1. */

/* Appends text that begins a line of man(7). Escapes a leading dot or apostrophe, which would begin
 * a request. */
static void man_add_text(struct buf *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		buf_add_str(out, "\\&");
	for (; *text; text++) {
		if (*text == '\\')
			buf_add_str(out, "\\e");
		else if (*text == '-')
			buf_add_str(out, "\\-");
		else
			buf_add_char(out, *text);
	}
}

static void man_add_line(struct buf *out, const char *text)
{
	man_add_text(out, text);
	buf_add_char(out, '\n');
}

static void man_add_heading(struct buf *out, const char *text)
{
	buf_add_str(out, ".SH \"");
	for (; *text; text++)
		buf_add_char(out, (char)toupper((unsigned char)*text));
	buf_add_str(out, "\"\n");
}

static void man_add_paragraphs(struct buf *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		auto_free char *line = xstrndup(text, n);

		man_add_line(out, line);
		text += n + (text[n] == '\n');
		if (*text)
			buf_add_str(out, ".PP\n");
	}
}

static void man_add_option(struct buf *out, const struct cmd_option *o)
{
	auto_buf struct buf value = BUF_INIT(1024);

	buf_add_str(out, ".TP\n");
	if (o->letter)
		buf_printf(out, "\\fB\\-%c\\fR, ", o->letter);
	buf_add_str(out, "\\fB\\-\\-");
	man_add_text(out, o->name);
	help_add_value(&value, o);
	buf_add_str(out, "\\fR");
	man_add_line(out, buf_str(&value));
	man_add_line(out, o->help);
	if (o->preset && *o->preset) {
		buf_add_str(out, "[default: ");
		man_add_text(out, o->preset);
		buf_add_str(out, "]\n");
	}
}

static void man_add_table(struct buf *out, const struct cmd_option *table, const char *title)
{
	for (const struct cmd_option *o = table; o && o->kind; o++) {
		if (!o->help)
			continue;
		if (o->heading || title)
			man_add_heading(out, o->heading ? o->heading : title);
		title = NULL;
		man_add_option(out, o);
	}
}

/* Makes "fumehood-task-list" from "task list". A heap string. */
static char *man_page_name(const char *path)
{
	char *name = xasprintf("fumehood%s%s", *path ? "-" : "", path);

	for (char *p = name; (p = strchr(p, ' '));)
		*p = '-';
	return name;
}

static void man_add_commands(struct buf *out, const struct command *group, const char *path)
{
	man_add_heading(out, "Commands");
	for (size_t i = 0; group->commands[i]; i++) {
		auto_free char *name = man_page_name(path);

		buf_add_str(out, ".TP\n\\fB");
		man_add_text(out, name);
		buf_add_str(out, "\\-");
		man_add_text(out, group->commands[i]->name);
		buf_add_str(out, "\\fR(1)\n");
		man_add_line(out, group->commands[i]->summary);
	}
}

static void man_add_statuses(struct buf *out, const struct cmd_status *statuses)
{
	man_add_heading(out, "Exit status");
	for (const struct cmd_status *s = statuses; s->status; s++) {
		buf_printf(out, ".TP\n\\fB%s\\fR\n", s->status);
		man_add_line(out, s->meaning);
	}
}

static void man_add_examples(struct buf *out, const char *examples)
{
	man_add_heading(out, "Examples");
	buf_add_str(out, ".nf\n");
	while (*examples) {
		size_t n = strcspn(examples, "\n");
		auto_free char *line = xstrndup(examples, n);

		man_add_line(out, line);
		examples += n + (examples[n] == '\n');
	}
	buf_add_str(out, ".fi\n");
}

static void man_add_page(
		struct buf *out, const struct command *c, const char *path, const char *name)
{
	auto_buf struct buf usage = BUF_INIT(1024);
	auto_buf struct buf about = BUF_INIT(HELP_ABOUT_BYTES_MAX);

	buf_add_str(out, ".TH \"");
	for (const char *p = name; *p; p++)
		buf_add_char(out, (char)toupper((unsigned char)*p));
	buf_printf(out, "\" 1 \"\" \"fumehood %s\"\n", cmd_version());
	man_add_heading(out, "Name");
	man_add_text(out, name);
	buf_add_str(out, " \\- ");
	man_add_line(out, c->summary);
	man_add_heading(out, "Synopsis");
	help_add_usage(&usage, c, path);
	man_add_line(out, buf_str(&usage));
	man_add_heading(out, "Description");
	help_add_about(&about, c);
	man_add_paragraphs(out, buf_str(&about));
	if (c->commands)
		man_add_commands(out, c, path);
	man_add_table(out, c->options, "Options");
	man_add_table(out, options_common(c), "After any command");
	if (c->statuses)
		man_add_statuses(out, c->statuses);
	if (c->examples)
		man_add_examples(out, c->examples);
}

static int man_write_page(
		const char *folder, const struct command *c, const char *path, struct fh_error *err)
{
	auto_buf struct buf page = BUF_INIT(CMD_HELP_BYTES);
	auto_free char *name = man_page_name(path);
	auto_free char *file = xasprintf("%s/%s.1", folder, name);
	int r;

	man_add_page(&page, c, path, name);
	r = fd_write_file(file, page.data, page.len, 0644, err);
	if (r < 0)
		return r;
	for (size_t i = 0; c->commands && c->commands[i]; i++) {
		auto_free char *next =
				xasprintf("%s%s%s", path, *path ? " " : "", c->commands[i]->name);

		r = man_write_page(folder, c->commands[i], next, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int cmd_help_man(const char *folder, struct fh_error *err)
{
	int r = path_mkdirs(folder, 0755, err);

	return r < 0 ? r : man_write_page(folder, &cmd_root, "", err);
}
