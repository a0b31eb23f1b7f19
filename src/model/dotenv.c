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

/* A file that is read where it lies in memory: names and values are cut out of it in place. */
struct source {
	const char *path;
	char *at;
	int line;
};

struct setting {
	const char *name, *value;
	int line;
	struct setting *next;
};

static int complain(const struct source *s, struct fh_error *err, const char *what)
{
	return error_say(err, EINVAL, "%s:%d: %s", s->path, s->line, what);
}

static void skip_blanks(struct source *s)
{
	while (*s->at == ' ' || *s->at == '\t')
		s->at++;
}

/* Blanks, and a comment; then a line must end. */
static bool skip_line_end(struct source *s)
{
	skip_blanks(s);
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

static bool is_name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

static char *skip_name(struct source *s)
{
	char *begin = s->at;

	while (is_name_byte(*s->at))
		s->at++;
	return begin;
}

/* "export", if a name follows; `export=1` is a variable of that name. */
static void skip_export(struct source *s)
{
	if (!str_starts(s->at, "export") || (s->at[6] != ' ' && s->at[6] != '\t'))
		return;
	s->at += 6;
	skip_blanks(s);
	if (*s->at == '=')
		s->at -= 6;
}

static char unescape(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	}
	return c;
}

static int read_quoted(struct source *s, const char **out, struct fh_error *err)
{
	int begun = s->line;
	char quote = *s->at++;
	char *to = s->at;

	*out = to;
	for (; *s->at && *s->at != quote; s->at++) {
		if (*s->at == '\n')
			s->line++;
		if (quote == '"' && *s->at == '\\' && s->at[1] && strchr("nrt\"\\$", s->at[1]))
			*to++ = unescape(*++s->at);
		else
			*to++ = *s->at;
	}
	if (!*s->at) {
		s->line = begun;
		return complain(s, err, "a quote that is not closed");
	}
	*to = '\0';
	s->at++;
	return skip_line_end(s) ? 0 : complain(s, err, "something after the closing quote");
}

/* To the end of the line, without a comment that stands after a blank and without blanks at its end. */
static void read_plain(struct source *s, const char **out)
{
	char *begin = s->at, *end = begin;

	for (; *s->at && *s->at != '\n'; s->at++) {
		if (*s->at == '#' && (s->at == begin || s->at[-1] == ' ' || s->at[-1] == '\t'))
			break;
		if (!isspace((unsigned char)*s->at))
			end = s->at + 1;
	}
	*out = begin;
	skip_line_end(s);
	*end = '\0';
}

/* The line's variable; a NULL name for one without. */
static int read_line(struct source *s, struct setting *out, struct fh_error *err)
{
	char *name, *name_end;

	*out = (struct setting){ 0 };
	if (skip_line_end(s))
		return 0;
	skip_export(s);
	name = skip_name(s);
	name_end = s->at;
	skip_blanks(s);
	if (name == name_end || isdigit((unsigned char)*name) || *s->at != '=')
		return complain(s, err, "expected KEY=VALUE");
	s->at++;
	skip_blanks(s);
	*name_end = '\0';
	out->name = name;
	out->line = s->line;
	if (*s->at == '"' || *s->at == '\'')
		return read_quoted(s, &out->value, err);
	read_plain(s, &out->value);
	return 0;
}

static int read_settings(
		struct arena *a, struct source *s, struct setting **out, struct fh_error *err)
{
	while (*s->at) {
		struct setting one;
		int r = read_line(s, &one, err);

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

/* --- the environment ---------------------------------------------------------------------------- */

/* Beside keys and addresses of language models. No other address: a key of elsewhere would go there. */
static const char *const allowed[] = {
	"MLGYM_ACTION_LONG_TIMEOUT",
	"MLGYM_ACTION_SHORT_TIMEOUT",
	"MLGYM_AGENT_LONG_TIMEOUT",
	"MLGYM_AGENT_SHORT_TIMEOUT",
	"MLGYM_CONFIG_ROOT",
	"MLGYM_MODEL_MAX_RETRIES",
	"MLGYM_TASK_CONFIG_DIR",
	"SEMANTIC_SCHOLAR_API_KEY",
};

static bool may_set(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		if (str_eq(allowed[i], name))
			return true;
	return vendor_has_variable(name);
}

/* Who writes such a name into the file expects it to count; all others may be there for other programs. */
static bool means_something(const char *name)
{
	static const char *const patterns[] = { "FUMEHOOD_*", "*_PROXY", "SSL_CERT_*", "CURL_*",
		"*_API_KEY", "*_API_BASE", "*_API_URL", "*_BASE_URL" };

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (fnmatch(patterns[i], name, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

static void leave_out(const struct setting *setting, const char *path, struct buf *left_out)
{
	if (means_something(setting->name))
		buf_printf(left_out, "%s%s:%d: %s", left_out->len ? ", " : "", path, setting->line,
				setting->name);
}

/* What was set, as long as the process lives. */
static struct given {
	char *name, *path;
	struct given *next;
} * given;

static int set(const struct setting *setting, const char *path, struct buf *left_out,
		struct fh_error *err)
{
	struct given *one;

	if (getenv(setting->name))
		return 0;
	if (!may_set(setting->name)) {
		leave_out(setting, path, left_out);
		return 0;
	}
	if (setenv(setting->name, setting->value, 0) < 0)
		return error_set(err, errno, "set %s", setting->name);
	one = xcalloc(1, sizeof(*one));
	*one = (struct given){ xstrdup(setting->name), xstrdup(path), given };
	given = one;
	return 0;
}

const char *dotenv_source(const char *name)
{
	for (const struct given *one = given; one; one = one->next)
		if (str_eq(one->name, name))
			return one->path;
	return NULL;
}

static int load(struct buf *text, const char *path, struct buf *left_out, struct fh_error *err)
{
	auto_arena struct arena a = ARENA_INIT;
	struct source s = { .path = path, .line = 1 };
	struct setting *first = NULL;
	int r = fd_read_file(path, text, err);

	if (r < 0 || !text->data)
		return r;
	s.at = text->data;
	if (strlen(s.at) != text->len)
		return complain(&s, err, "a NUL byte");
	if (str_starts(s.at, "\xef\xbb\xbf"))
		s.at += 3;
	r = read_settings(&a, &s, &first, err);
	for (; r == 0 && first; first = first->next)
		r = set(first, path, left_out, err);
	return r;
}

int dotenv_load(const char *path, struct buf *left_out, struct fh_error *err)
{
	struct buf text = BUF_INIT(DOTENV_BYTES_MAX);
	int r;

	if (!path_exists(path))
		return 0;
	/* Room at once: what grows leaves copies of keys behind. */
	buf_reserve(&text, DOTENV_BYTES_MAX);
	r = load(&text, path, left_out, err);
	if (text.data)
		explicit_bzero(text.data, text.size);
	buf_release(&text);
	return r;
}
