/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"

#include "base/refusal.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/term.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Finds the command that the command line names, reads the options and runs it. Prints errors. */

#define DEFAULT_WIDTH 100
#define CMD_COMMANDS_MAX 64 /* most commands in one group */

static void cmd_complain(const char *message)
{
	auto_buf struct buf line = BUF_INIT(4 * FH_ERROR_MESSAGE_MAX);

	buf_add_str(&line, "fumehood: ");
	str_add_printable(&line, message);
	fprintf(stderr, "%s\n", buf_str(&line));
}

#define CMD_JSON_BYTES_MAX (256L * 1024 * 1024)

void cmd_print_json(json_t *value)
{
	auto_buf struct buf text = BUF_INIT(CMD_JSON_BYTES_MAX);

	json_add(&text, value, false);
	puts(buf_str(&text));
}

void cmd_print_json_error(const char *key, const char *name, const struct fh_error *err)
{
	auto_json json_t *line = json_object();

	json_object_set_new(line, key, json_text(name));
	json_object_set_new(line, "error", json_text(err->message));
	cmd_print_json(line);
}

bool cmd_given(const struct command_context *ctx, const char *option)
{
	const struct cmd_option *table = ctx->command->options;

	for (size_t i = 0; table && table[i].kind; i++) {
		if (str_eq(table[i].name, option))
			return ctx->given[i];
	}
	return false;
}

int cmd_fail(const struct fh_error *err)
{
	cmd_complain(err->message);
	return CMD_FAILED;
}

int cmd_status_of(const struct fh_error *err)
{
	static const int bad_input[] = { EINVAL, ENOENT, EEXIST, ENOTDIR, EISDIR, EPERM, EACCES,
		E2BIG, EFBIG, ENAMETOOLONG, ELOOP, EBADMSG };

	for (size_t i = 0; i < ARRAY_SIZE(bad_input); i++)
		if (err->code == -bad_input[i] && !strstr(err->message, ERROR_SEE_DOCTOR))
			return CMD_USAGE;
	return CMD_FAILED;
}

int cmd_refuse(const struct fh_error *err)
{
	cmd_complain(err->message);
	return cmd_status_of(err);
}

int cmd_refuse_subject(const struct command_context *ctx, const char *key, const char *name,
		const struct fh_error *err)
{
	if (ctx->json)
		cmd_print_json_error(key, name, err);
	return cmd_refuse(err);
}

void cmd_warn(const char *format, ...)
{
	auto_buf struct buf text = BUF_INIT(2 * FH_ERROR_MESSAGE_MAX);
	va_list ap;

	va_start(ap, format);
	buf_vprintf(&text, format, ap);
	va_end(ap);
	cmd_complain(buf_str(&text));
}

static int cmd_print_misuse(const char *path, const char *message)
{
	cmd_complain(message);
	fprintf(stderr, "Try: fumehood %s%s--help\n", path, *path ? " " : "");
	return CMD_USAGE;
}

int cmd_misuse(const struct command_context *ctx, const char *format, ...)
{
	auto_buf struct buf text = BUF_INIT(2 * FH_ERROR_MESSAGE_MAX);
	va_list ap;

	va_start(ap, format);
	buf_vprintf(&text, format, ap);
	va_end(ap);
	return cmd_print_misuse(ctx->path, buf_str(&text));
}

static int cmd_show_help(const struct command *c, const char *path, FILE *to)
{
	auto_buf struct buf text = BUF_INIT(CMD_HELP_BYTES);
	int fd = fileno(to);

	cmd_help(&text, c, path, term_colours(fd), term_width(fd, DEFAULT_WIDTH));
	fputs(buf_str(&text), to);
	return to == stderr ? CMD_USAGE : CMD_OK;
}

static void cmd_say_unknown(const struct command *group, const char *path, const char *word,
		struct fh_error *err)
{
	const char *names[CMD_COMMANDS_MAX];
	const char *close;
	size_t n = 0;

	while (group->commands && n < CMD_COMMANDS_MAX && group->commands[n]) {
		names[n] = group->commands[n]->name;
		n++;
	}
	if (*word == '-') {
		error_say(err, EINVAL, "'%s': a command comes before options", word);
		return;
	}
	close = str_closest(word, names, n);
	error_say(err, EINVAL, "unknown command '%s%s%s'%s%s%s", path, *path ? " " : "", word,
			close ? "; did you mean '" : "", close ? close : "", close ? "'?" : "");
}

/* Handles options of a command group (--help, --version). Returns the exit status, or -1 for any
 * other word. */
static int cmd_group_option(const struct command *group, const char *path, const char *word)
{
	if (str_eq(word, "--help") || str_eq(word, "-h"))
		return cmd_show_help(group, path, stdout);
	if (group == &cmd_root && (str_eq(word, "--version") || str_eq(word, "-V"))) {
		printf("fumehood %s\n", cmd_version());
		return CMD_OK;
	}
	return -1;
}

int cmd_help_of(const char *const *words, size_t n, bool json)
{
	const struct command *c = &cmd_root;
	auto_buf struct buf path = BUF_INIT(256), text = BUF_INIT(CMD_HELP_BYTES);
	struct fh_error err;

	for (size_t i = 0; i < n; i++) {
		const struct command *next = c->commands ? cmd_find(c, words[i]) : NULL;

		if (!next) {
			cmd_say_unknown(c, buf_str(&path), words[i], &err);
			if (json)
				cmd_print_json_error("name", words[i], &err);
			return cmd_print_misuse(buf_str(&path), err.message);
		}
		buf_printf(&path, "%s%s", path.len ? " " : "", next->name);
		c = next;
	}
	if (!json)
		return cmd_show_help(c, buf_str(&path), stdout);
	cmd_help_json(&text, c);
	fputs(buf_str(&text), stdout);
	return CMD_OK;
}

static int cmd_run(const struct command *c, const char *path, const char *const *words, size_t n)
{
	auto_arena struct arena arena = ARENA_INIT;
	auto_buf struct buf notes = BUF_INIT(65536);
	struct parsed_options parsed;
	struct command_context ctx = { .command = c, .path = path, .arena = &arena };
	struct fh_error err;

	if (options_parse(c, words, n, &arena, &notes, &parsed, &err) < 0) {
		int status = cmd_print_misuse(path, err.message);

		return c->misuse_status ? c->misuse_status : status;
	}
	if (parsed.help)
		return cmd_show_help(c, path, stdout);
	fputs(buf_str(&notes), stderr);
	ctx.options = parsed.values;
	ctx.given = parsed.given;
	ctx.args = parsed.args;
	ctx.n_args = parsed.n_args;
	ctx.json = parsed.json;
	return c->run(&ctx);
}

int cmd_main(int argc, const char *const *argv)
{
	const struct command *c = &cmd_root;
	auto_buf struct buf path = BUF_INIT(256);
	struct fh_error err;
	int at = 1;

	while (c->commands) {
		const struct command *next;
		int r;

		if (at >= argc)
			return cmd_show_help(c, buf_str(&path), stderr);
		r = cmd_group_option(c, buf_str(&path), argv[at]);
		if (r >= 0)
			return r;
		next = cmd_find(c, argv[at]);
		if (!next) {
			cmd_say_unknown(c, buf_str(&path), argv[at], &err);
			return cmd_print_misuse(buf_str(&path), err.message);
		}
		buf_printf(&path, "%s%s", path.len ? " " : "", next->name);
		c = next;
		at++;
	}
	return cmd_run(c, buf_str(&path), argv + at, (size_t)(argc - at));
}
