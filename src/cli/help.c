/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"
#include "cli/options.h"
#include "cli/term.h"

#include "base/scope.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* Prints the tables of commands as help on a terminal, and as Markdown. */

#define HELP_COLUMN 30 /* column of a page where explanations begin */

struct help_page {
	struct buf *out;
	bool colours;
	int width;
};

static void help_add_heading(const struct help_page *p, const char *text)
{
	buf_printf(p->out, "\n%s%s%s\n", term_style(p->colours, TERM_BOLD), text,
			term_style(p->colours, TERM_RESET));
}

const struct command *cmd_find(const struct command *group, const char *name)
{
	for (size_t i = 0; group->commands[i]; i++) {
		if (str_eq(group->commands[i]->name, name))
			return group->commands[i];
	}
	return NULL;
}

void help_add_value(struct buf *out, const struct cmd_option *o)
{
	if (o->kind == OPTION_FLAG)
		return;
	if (o->kind != OPTION_CHOICE)
		buf_printf(out, " %s", o->value ? o->value : "VALUE");
	for (int i = 0; o->kind == OPTION_CHOICE && o->choices[i]; i++)
		buf_printf(out, "%s%s", i ? "|" : " ", o->choices[i]);
}

/* Appends "  name   explanation". A long explanation is wrapped within its column. */
static void help_add_pair(const struct help_page *p, const char *left, const char *right)
{
	int used = term_columns(left);

	buf_add_str(p->out, left);
	if (used + 2 > HELP_COLUMN) {
		buf_add_char(p->out, '\n');
		used = 0;
	}
	term_add_pad(p->out, used, HELP_COLUMN);
	term_add_wrapped(p->out, right, HELP_COLUMN, p->width);
	buf_add_char(p->out, '\n');
}

static void help_add_option(const struct help_page *p, const struct cmd_option *o)
{
	auto_buf struct buf left = BUF_INIT(1024);
	auto_buf struct buf right = BUF_INIT(4096);

	if (o->letter)
		buf_printf(&left, "  -%c, --%s", o->letter, o->name);
	else
		buf_printf(&left, "      --%s", o->name);
	help_add_value(&left, o);
	buf_add_str(&right, o->help);
	if (o->preset && *o->preset)
		buf_printf(&right, " [%s]", o->preset);
	help_add_pair(p, buf_str(&left), buf_str(&right));
}

static void help_add_table(
		const struct help_page *p, const struct cmd_option *table, const char *title)
{
	for (const struct cmd_option *o = table; o && o->kind; o++) {
		if (!o->help)
			continue;
		if (o->heading || title)
			help_add_heading(p, o->heading ? o->heading : title);
		title = NULL;
		help_add_option(p, o);
	}
}

static void help_add_commands(const struct help_page *p, const struct command *group)
{
	help_add_heading(p, "Commands");
	for (size_t i = 0; group->commands[i]; i++) {
		auto_buf struct buf left = BUF_INIT(1024);

		buf_printf(&left, "  %s", group->commands[i]->name);
		help_add_pair(p, buf_str(&left), group->commands[i]->summary);
	}
}

/* Appends a text, with each of its lines wrapped to the page's width. */
static void help_add_paragraphs(const struct help_page *p, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		auto_free char *line = strndup(text, n);

		if (line)
			term_add_wrapped(p->out, line, 0, p->width);
		buf_add_char(p->out, '\n');
		text += n + (text[n] == '\n');
	}
}

static void help_add_examples(const struct help_page *p, const char *examples)
{
	help_add_heading(p, "Examples");
	while (*examples) {
		size_t n = strcspn(examples, "\n");

		buf_printf(p->out, "  %.*s\n", (int)n, examples);
		examples += n + (examples[n] == '\n');
	}
}

static void help_add_statuses(const struct help_page *p, const struct cmd_status *statuses)
{
	help_add_heading(p, "Exit status");
	for (const struct cmd_status *s = statuses; s->status; s++) {
		auto_buf struct buf left = BUF_INIT(1024);

		buf_printf(&left, "  %s", s->status);
		help_add_pair(p, buf_str(&left), s->meaning);
	}
}

void help_add_usage(struct buf *out, const struct command *c, const char *path)
{
	buf_printf(out, "fumehood%s%s", *path ? " " : "", path);
	if (c->commands)
		buf_add_str(out, " COMMAND");
	buf_add_str(out, " [OPTIONS]");
	if (c->arguments)
		buf_printf(out, " %s", c->arguments);
}

void help_add_about(struct buf *out, const struct command *c)
{
	buf_add_char(out, (char)toupper((unsigned char)*c->summary));
	buf_printf(out, "%s.", c->summary + 1);
	if (c->about)
		buf_printf(out, "\n%s", c->about);
}

void cmd_help(struct buf *out, const struct command *c, const char *path, bool colours, int width)
{
	struct help_page p = { .out = out, .colours = colours, .width = width };
	auto_buf struct buf usage = BUF_INIT(1024);
	auto_buf struct buf about = BUF_INIT(HELP_ABOUT_BYTES_MAX);

	help_add_usage(&usage, c, path);
	buf_printf(out, "%sUsage:%s %s\n\n", term_style(colours, TERM_BOLD),
			term_style(colours, TERM_RESET), buf_str(&usage));
	help_add_about(&about, c);
	help_add_paragraphs(&p, buf_str(&about));
	if (c->commands)
		help_add_commands(&p, c);
	help_add_table(&p, c->options, "Options");
	help_add_table(&p, options_common(c), "After any command");
	if (c->statuses)
		help_add_statuses(&p, c->statuses);
	if (c->examples)
		help_add_examples(&p, c->examples);
	if (c->commands)
		buf_printf(out, "\nMore about one of them: fumehood%s%s COMMAND --help\n",
				*path ? " " : "", path);
}

/* --- Markdown --------------------------------------------------------------------------------- */

/* Appends a text as Markdown. Escapes "|" and "<", and makes each line a paragraph. */
static void help_add_plain(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			buf_add_str(out, "&lt;");
		else if (*text == '\n')
			buf_add_str(out, "\n\n");
		else
			buf_printf(out, "%s%c", *text == '|' ? "\\" : "", *text);
	}
}

static void help_markdown_option(struct buf *out, const struct cmd_option *o)
{
	auto_buf struct buf value = BUF_INIT(1024);

	buf_add_str(out, "| ");
	if (o->letter)
		buf_printf(out, "`-%c`, ", o->letter);
	help_add_value(&value, o);
	buf_printf(out, "`--%s", o->name);
	help_add_plain(out, buf_str(&value));
	buf_add_str(out, "` | ");
	help_add_plain(out, o->help);
	if (o->preset && *o->preset)
		buf_printf(out, " (default: `%s`)", o->preset);
	buf_add_str(out, " |\n");
}

/* Finds the option that help shows in place of `hidden`, another spelling of it. NULL: there is
 * none. */
static const struct cmd_option *help_main_spelling(
		const struct cmd_option *table, const struct cmd_option *hidden)
{
	for (const struct cmd_option *o = table; o->kind; o++) {
		if (o->help && option_same(o, hidden))
			return o;
	}
	return NULL;
}

static void help_markdown_spelling(
		struct buf *out, const struct cmd_option *table, const struct cmd_option *hidden)
{
	const struct cmd_option *shown = help_main_spelling(table, hidden);

	buf_printf(out, "| `--%s` | ", hidden->name);
	if (shown)
		buf_printf(out, "the same as `--%s`", shown->name);
	else if (hidden->kind == OPTION_NOTED)
		buf_printf(out, "taken, no effect: %s", hidden->why);
	else if (hidden->kind == OPTION_REFUSED)
		buf_printf(out, "refused: it %s", hidden->why);
	else
		buf_add_str(out, hidden->why);
	buf_add_str(out, " |\n");
}

static void help_markdown_table(struct buf *out, const struct cmd_option *table)
{
	bool hidden = false;

	for (const struct cmd_option *o = table; o && o->kind; o++) {
		hidden = hidden || !o->help;
		if (!o->help)
			continue;
		if (o == table || o->heading)
			buf_printf(out, "\n| %s | |\n|---|---|\n",
					o->heading ? o->heading : "Options");
		help_markdown_option(out, o);
	}
	if (!hidden)
		return;
	buf_add_str(out, "\n| Other spellings | |\n|---|---|\n");
	for (const struct cmd_option *o = table; o && o->kind; o++) {
		if (!o->help)
			help_markdown_spelling(out, table, o);
	}
}

static void help_markdown_statuses(struct buf *out, const struct cmd_status *statuses)
{
	buf_add_str(out, "\n| Exit status | |\n|---|---|\n");
	for (const struct cmd_status *s = statuses; s->status; s++) {
		buf_printf(out, "| %s | ", s->status);
		help_add_plain(out, s->meaning);
		buf_add_str(out, " |\n");
	}
}

static void help_markdown_command(struct buf *out, const struct command *c, const char *path)
{
	auto_buf struct buf about = BUF_INIT(HELP_ABOUT_BYTES_MAX);

	buf_printf(out, "\n## fumehood %s\n\n```\n", path);
	help_add_usage(out, c, path);
	buf_add_str(out, "\n```\n\n");
	help_add_about(&about, c);
	help_add_plain(out, buf_str(&about));
	buf_add_char(out, '\n');
	help_markdown_table(out, c->options);
	if (c->statuses)
		help_markdown_statuses(out, c->statuses);
	if (c->examples)
		buf_printf(out, "\n```sh\n%s%s```\n", c->examples,
				str_ends(c->examples, "\n") ? "" : "\n");
}

static void help_markdown_group(struct buf *out, const struct command *group, const char *prefix)
{
	for (size_t i = 0; group->commands[i]; i++) {
		const struct command *c = group->commands[i];
		auto_buf struct buf path = BUF_INIT(256);

		buf_printf(&path, "%s%s%s", prefix, *prefix ? " " : "", c->name);
		if (c->commands)
			help_markdown_group(out, c, buf_str(&path));
		else
			help_markdown_command(out, c, buf_str(&path));
	}
}

void cmd_help_markdown(struct buf *out)
{
	buf_add_str(out,
			"# The command line\n\n"
			"Made from the tables of the program: `fumehood help --markdown >docs/cli.md`.\n\n");
	help_add_plain(out, cmd_root.about);
	buf_add_char(out, '\n');
	help_markdown_table(out, cmd_root.options);
	help_markdown_table(out, options_common(&cmd_root));
	help_markdown_statuses(out, cmd_root.statuses);
	help_markdown_group(out, &cmd_root, "");
}
