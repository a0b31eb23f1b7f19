/* SPDX-License-Identifier: Apache-2.0 */
#include "model/dotenv.h"

#include "base/arena.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "model/vendor.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* A .env file in memory. Names and values of settings point into its text. */
struct dotenv_file {
	const char *path;
	char *at;
	int line;
};

struct dotenv_setting {
	const char *name, *value;
	int line;
	struct dotenv_setting *next;
};

static int dotenv_complain(const struct dotenv_file *s, struct fh_error *err, const char *what)
{
	return error_say(err, EINVAL, "%s:%d: %s", s->path, s->line, what);
}

static void dotenv_skip_blanks(struct dotenv_file *s)
{
	while (*s->at == ' ' || *s->at == '\t')
		s->at++;
}

/* Skips blanks, a comment and the end of a line in a .env file. Returns false if the line has
 * something else. */
static bool dotenv_skip_line_end(struct dotenv_file *s)
{
	dotenv_skip_blanks(s);
	if (*s->at == '#')
		s->at += strcspn(s->at, "\n");
	if (*s->at == '\r')
		s->at++;
	if (*s->at == '\n') {
		s->at++;
		s->line++;
		return true;
	}
	return !*s->at;
}

/*
 * Skips the word "export" before a variable's name. In the line `export=1`, "export" is itself the
 * name.
 */
static void dotenv_skip_export(struct dotenv_file *s)
{
	if (!str_starts(s->at, "export") || (s->at[6] != ' ' && s->at[6] != '\t'))
		return;
	s->at += 6;
	dotenv_skip_blanks(s);
	if (*s->at == '=')
		s->at -= 6;
}

static int dotenv_read_quoted(struct dotenv_file *s, const char **out, struct fh_error *err)
{
	static const char escapes[] = "nrt\"\\$", meant[] = "\n\r\t\"\\$";
	int begun = s->line;
	char quote = *s->at++;
	char *to = s->at;

	*out = to;
	for (; *s->at && *s->at != quote; s->at++) {
		bool escaped = quote == '"' && *s->at == '\\' && s->at[1] &&
				strchr(escapes, s->at[1]);

		s->line += *s->at == '\n';
		*to++ = escaped ? meant[strchr(escapes, *++s->at) - escapes] : *s->at;
	}
	if (!*s->at) {
		s->line = begun;
		return dotenv_complain(s, err, "a quote that is not closed");
	}
	*to = '\0';
	s->at++;
	return dotenv_skip_line_end(s)
			? 0
			: dotenv_complain(s, err, "something after the closing quote");
}

/* Reads an unquoted value in a .env file, to the end of the line. Leaves out trailing blanks, and a
 * comment after a blank. */
static void dotenv_read_plain(struct dotenv_file *s, const char **out)
{
	char *begin = s->at, *end = begin;

	for (; *s->at && *s->at != '\n'; s->at++) {
		if (*s->at == '#' && (s->at == begin || s->at[-1] == ' ' || s->at[-1] == '\t'))
			break;
		if (!isspace((unsigned char)*s->at))
			end = s->at + 1;
	}
	*out = begin;
	dotenv_skip_line_end(s);
	*end = '\0';
}

/* Reads a line of a .env file. out->name is NULL if the line sets no variable. */
static int dotenv_read_line(struct dotenv_file *s, struct dotenv_setting *out, struct fh_error *err)
{
	char *name, *name_end;

	*out = (struct dotenv_setting){ 0 };
	if (dotenv_skip_line_end(s))
		return 0;
	dotenv_skip_export(s);
	name = s->at;
	while (isalnum((unsigned char)*s->at) || (*s->at && strchr("_.-", *s->at)))
		s->at++;
	name_end = s->at;
	dotenv_skip_blanks(s);
	if (name == name_end || isdigit((unsigned char)*name) || *s->at != '=')
		return dotenv_complain(s, err, "expected KEY=VALUE");
	s->at++;
	dotenv_skip_blanks(s);
	*name_end = '\0';
	out->name = name;
	out->line = s->line;
	if (*s->at == '"' || *s->at == '\'')
		return dotenv_read_quoted(s, &out->value, err);
	dotenv_read_plain(s, &out->value);
	return 0;
}

static int dotenv_read_settings(struct arena *a, struct dotenv_file *s, struct dotenv_setting **out,
		struct fh_error *err)
{
	while (*s->at) {
		struct dotenv_setting one;
		int r = dotenv_read_line(s, &one, err);

		if (r < 0)
			return r;
		if (!one.name)
			continue;
		*out = arena_alloc(a, sizeof(one));
		**out = one;
		out = &(*out)->next;
	}
	return 0;
}

/* --- environment variables -------------------------------------------------------------------- */

/* Variables that a .env file may set, beside keys and URLs of language models. Other URLs are
 * refused: keys from elsewhere would be sent to them. */
static const char *const dotenv_allowed[] = {
	"MLGYM_ACTION_LONG_TIMEOUT",
	"MLGYM_ACTION_SHORT_TIMEOUT",
	"MLGYM_AGENT_LONG_TIMEOUT",
	"MLGYM_AGENT_SHORT_TIMEOUT",
	"MLGYM_CONFIG_ROOT",
	"MLGYM_MODEL_MAX_RETRIES",
	"MLGYM_TASK_CONFIG_DIR",
	"SEMANTIC_SCHOLAR_API_KEY",
};

static bool dotenv_may_set(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(dotenv_allowed); i++)
		if (str_eq(dotenv_allowed[i], name))
			return true;
	return vendor_has_variable(name);
}

/*
 * Returns true for a variable that a user may expect Fumehood to read. If a .env file sets it and
 * it is ignored, the user gets a message.
 */
static bool dotenv_matters(const char *name)
{
	static const char *const patterns[] = { "FUMEHOOD_*", "*_PROXY", "SSL_CERT_*", "CURL_*",
		"*_API_KEY", "*_API_BASE", "*_API_URL", "*_BASE_URL" };

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (fnmatch(patterns[i], name, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

/* Names of the variables that .env files set, with the files. Lives as long as the process. */
static struct dotenv_given {
	char *name, *path;
	struct dotenv_given *next;
} * dotenv_given;

static int dotenv_set(const struct dotenv_setting *setting, const char *path, struct buf *left_out,
		struct fh_error *err)
{
	struct dotenv_given *one;

	if (getenv(setting->name))
		return 0;
	if (!dotenv_may_set(setting->name)) {
		if (dotenv_matters(setting->name))
			buf_printf(left_out, "%s%s:%d: %s", left_out->len ? ", " : "", path,
					setting->line, setting->name);
		return 0;
	}
	if (setenv(setting->name, setting->value, 0) < 0)
		return error_set(err, errno, "set %s", setting->name);
	one = xcalloc(1, sizeof(*one));
	*one = (struct dotenv_given){ xstrdup(setting->name), xstrdup(path), dotenv_given };
	dotenv_given = one;
	return 0;
}

const char *dotenv_source(const char *name)
{
	for (const struct dotenv_given *one = dotenv_given; one; one = one->next)
		if (str_eq(one->name, name))
			return one->path;
	return NULL;
}

static int dotenv_load_text(
		struct buf *text, const char *path, struct buf *left_out, struct fh_error *err)
{
	auto_arena struct arena a = ARENA_INIT;
	struct dotenv_file s = { .path = path, .line = 1 };
	struct dotenv_setting *first = NULL;
	int r = fd_read_file(path, text, err);

	if (r < 0 || !text->data)
		return r;
	s.at = text->data;
	if (strlen(s.at) != text->len)
		return dotenv_complain(&s, err, "a NUL byte");
	if (str_starts(s.at, "\xef\xbb\xbf"))
		s.at += 3;
	r = dotenv_read_settings(&a, &s, &first, err);
	if (r < 0)
		return r;
	for (; first; first = first->next) {
		r = dotenv_set(first, path, left_out, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int dotenv_load(const char *path, struct buf *left_out, struct fh_error *err)
{
	struct buf text = BUF_INIT(DOTENV_BYTES_MAX);
	int r;

	if (!path_exists(path))
		return 0;
	/*
	 * Allocate the buffer for a .env file at its largest size. Growing it would leave copies of
	 * API keys in freed memory.
	 */
	buf_reserve(&text, DOTENV_BYTES_MAX);
	r = dotenv_load_text(&text, path, left_out, err);
	if (text.data)
		explicit_bzero(text.data, text.size);
	buf_release(&text);
	return r;
}
