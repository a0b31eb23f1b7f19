/* SPDX-License-Identifier: Apache-2.0 */
#include "view/effects.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#include <string.h>

#define WORDS_MAX 64

/* A simple command: words, where its output goes, and its here-document. */
struct effect_command {
	const char *words[WORDS_MAX];
	size_t n_words;
	const char *target; /* file that gets the output; NULL: none */
	bool appends;
	const char *delimiter; /* ends the here-document; NULL: none */
	bool quoted;           /* the shell leaves the here-document as it is */
	bool stripped;         /* leading tabs are removed */
	const char *text;
	size_t n;
};

struct effects {
	struct arena *arena;
	const char *at, *end;
	struct effect_command command;
	bool lost; /* the rest can't be followed */
	effect_take *take;
	void *user;
};

/* Reads a word after blanks. NULL: there is none, or the shell would expand it. */
static const char *effects_word(struct effects *e, bool *out_quoted)
{
	auto_buf struct buf word = BUF_INIT((size_t)(e->end - e->at) + 1);
	bool any = false;
	char quote = 0;

	*out_quoted = false;
	while (e->at < e->end && (*e->at == ' ' || *e->at == '\t'))
		e->at++;
	if (e->at < e->end && (*e->at == '~' || *e->at == '{' || *e->at == '!'))
		e->lost = true;
	for (; e->at < e->end && !e->lost; e->at++, any = true) {
		char c = *e->at;

		if (c == '\0' || (quote != '\'' && (c == '$' || c == '`'))) {
			e->lost = true;
		} else if (quote && c == quote) {
			quote = 0;
		} else if (!quote && (c == '\'' || c == '"')) {
			quote = c;
			*out_quoted = true;
		} else if (quote != '\'' && c == '\\') {
			if (quote || ++e->at == e->end || *e->at == '\n') {
				e->lost = true;
				break;
			}
			*out_quoted = true;
			buf_add_char(&word, *e->at);
		} else if (!quote && strchr(" \t\n;<>|&", c)) {
			break;
		} else if (!quote && strchr("*?[()", c)) {
			e->lost = true;
		} else {
			buf_add_char(&word, c);
		}
	}
	e->lost |= quote != 0;
	return any && !e->lost ? arena_strdup(e->arena, buf_str(&word)) : NULL;
}

static bool effects_skip(struct effects *e, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(e->end - e->at) < n || memcmp(e->at, text, n) != 0)
		return false;
	e->at += n;
	return true;
}

static void effects_redirect(struct effects *e)
{
	struct effect_command *c = &e->command;
	bool quoted;
	const char *word;

	if (effects_skip(e, "<<<")) {
		e->lost = true;
	} else if (effects_skip(e, "<<")) {
		c->stripped = effects_skip(e, "-");
		c->delimiter = effects_word(e, &c->quoted);
		e->lost |= !c->delimiter;
	} else if (effects_skip(e, ">&") || *e->at == '<') {
		e->lost = true;
	} else {
		c->appends = effects_skip(e, ">>");
		if (!c->appends)
			e->at++;
		word = effects_word(e, &quoted);
		e->lost |= !word;
		if (word && !str_eq(word, "/dev/null"))
			c->target = word;
	}
}

/* Reads the lines up to the delimiter. */
static void effects_here_document(struct effects *e)
{
	struct effect_command *c = &e->command;
	size_t n = strlen(c->delimiter);

	c->text = e->at;
	while (e->at < e->end) {
		const char *line = e->at, *newline = memchr(line, '\n', (size_t)(e->end - line));
		const char *stop = newline ? newline : e->end;

		e->at = newline ? newline + 1 : e->end;
		while (c->stripped && line < stop && *line == '\t')
			line++;
		if ((size_t)(stop - line) == n && memcmp(line, c->delimiter, n) == 0)
			return;
		c->n = (size_t)(e->at - c->text);
	}
	e->lost = true;
}

static void effects_skip_comment(struct effects *e)
{
	const char *newline = memchr(e->at, '\n', (size_t)(e->end - e->at));

	e->at = newline ? newline : e->end;
}

/* Reads a command up to its end. False: nothing is left. */
static bool effects_command(struct effects *e)
{
	struct effect_command *c = &e->command;
	bool quoted, over = false;

	*c = (struct effect_command){ 0 };
	while (e->at < e->end && strchr(" \t\n;", *e->at) && *e->at)
		e->at++;
	if (e->at == e->end)
		return false;
	while (!over && !e->lost && e->at < e->end) {
		if (*e->at == ' ' || *e->at == '\t') {
			e->at++;
		} else if (*e->at == '<' || *e->at == '>') {
			effects_redirect(e);
		} else if (*e->at == '\n' || *e->at == ';' || effects_skip(e, "&&")) {
			over = true;
		} else if (*e->at == '#') {
			effects_skip_comment(e);
		} else if (*e->at == '|' || *e->at == '&' || c->n_words == WORDS_MAX) {
			e->lost = true;
		} else {
			c->words[c->n_words] = effects_word(e, &quoted);
			c->n_words += c->words[c->n_words] != NULL;
		}
	}
	if (c->delimiter && !e->lost) {
		/* More commands on the line of a here-document are rare. */
		e->lost |= e->at < e->end && *e->at != '\n';
		e->at += !e->lost && e->at < e->end;
		effects_here_document(e);
	}
	return true;
}

/* --- what a command does ---------------------------------------------------------------------- */

static void effects_tell(struct effects *e, struct effect effect)
{
	e->take(e->user, &effect);
}

/* Gives the only word that is not an option. NULL: there are others. */
static const char *effect_file(const struct effect_command *c)
{
	const char *file = NULL;

	for (size_t i = 1; i < c->n_words; i++) {
		if (c->words[i][0] == '-')
			continue;
		if (file)
			return NULL;
		file = c->words[i];
	}
	return file;
}

static void effects_tell_written(struct effects *e, const char *path, bool appends)
{
	const struct effect_command *c = &e->command;
	bool literal = !c->stripped;

	for (size_t i = 0; i < c->n && !c->quoted && literal; i++)
		literal = c->text[i] != '$' && c->text[i] != '`' && c->text[i] != '\\';
	effects_tell(e,
			(struct effect){ .kind = appends ? EFFECT_APPEND : EFFECT_WRITE,
					.path = path,
					.text = literal ? c->text : NULL,
					.n = c->n });
}

static void effects_tell_echo(struct effects *e)
{
	struct effect_command *c = &e->command;
	auto_buf struct buf text = BUF_INIT(SIZE_MAX / 2);

	for (size_t i = 1; i < c->n_words; i++)
		buf_printf(&text, "%s%s", i > 1 ? " " : "", c->words[i]);
	buf_add_char(&text, '\n');
	c->text = arena_strndup(e->arena, buf_str(&text), text.len);
	c->n = text.len;
	c->quoted = true;
	effects_tell_written(e, c->target, c->appends);
}

/* cp and mv of one file to a path that has the form of a file. */
static void effects_tell_moved(struct effects *e, enum effect_kind kind)
{
	const struct effect_command *c = &e->command;
	const char *to = c->words[c->n_words - 1];

	if (c->n_words != 3 || c->words[1][0] == '-' || !*to || str_ends(to, "/") ||
			!strchr(path_basename(to), '.') || str_eq(path_basename(to), ".") ||
			str_eq(path_basename(to), "..") || str_ends(c->words[1], "/"))
		effects_tell(e, (struct effect){ .kind = EFFECT_UNKNOWN });
	else
		effects_tell(e, (struct effect){ .kind = kind, .path = c->words[1], .to = to });
}

static bool effects_command_is_quiet(const struct effect_command *c)
{
	static const char *const quiet[] = { "ls", "pwd", "head", "tail", "wc", "grep", "echo",
		"mkdir", "cat", "which", "stat", "file", "du", "df", "nvidia-smi", "free", "diff",
		"cmp", "validate", "submit", "skip", "search_dir", "search_file", "find_file",
		"true", "date", "whoami", "uname", "nproc", "touch", "sleep", "request_info",
		"exit_format", "exit_context", "exit_cost", "exit_forfeit" };

	for (size_t i = 0; i < ARRAY_SIZE(quiet); i++)
		if (str_eq(quiet[i], c->words[0]))
			return true;
	return false;
}

static void effects_tell_command(struct effects *e)
{
	const struct effect_command *c = &e->command;
	const char *name = c->n_words ? c->words[0] : "", *file = effect_file(c);

	if (str_eq(name, "cat") && c->text && c->target && c->n_words == 1)
		effects_tell_written(e, c->target, c->appends);
	else if (str_eq(name, "tee") && c->text && !c->target && file)
		effects_tell_written(e, file, str_eq(c->words[1], "-a"));
	else if (str_eq(name, "echo") && c->target && !c->text &&
			(c->n_words < 2 || c->words[1][0] != '-'))
		effects_tell_echo(e);
	else if (c->target || c->text)
		effects_tell(e, (struct effect){ .kind = EFFECT_UNKNOWN });
	else if (str_eq(name, "cat") && c->n_words == 2 && file)
		effects_tell(e, (struct effect){ .kind = EFFECT_PRINT, .path = file });
	else if (str_eq(name, "cd") && c->n_words == 2 && file)
		effects_tell(e, (struct effect){ .kind = EFFECT_FOLDER, .path = file });
	else if (str_eq(name, "cp") && c->n_words > 1)
		effects_tell_moved(e, EFFECT_COPY);
	else if (str_eq(name, "mv") && c->n_words > 1)
		effects_tell_moved(e, EFFECT_MOVE);
	else if (str_eq(name, "rm"))
		for (size_t i = 1; i < c->n_words; i++)
			effects_tell(e,
					(struct effect){ .kind = c->words[i][0] == '-'
									? EFFECT_NONE
									: EFFECT_REMOVE,
							.path = c->words[i] });
	else
		effects_tell(e,
				(struct effect){ .kind = !c->n_words || effects_command_is_quiet(c)
								? EFFECT_NONE
								: EFFECT_UNKNOWN });
}

void effects_read(struct arena *a, const char *action, size_t n, effect_take *take, void *user)
{
	/* Words after which commands may not run, or run more than once. */
	static const char *const keywords[] = { "if", "for", "while", "until", "case", "select",
		"function", "time", "exec", "exit", "return", "set", "source", ".", "eval" };
	struct effects e = {
		.arena = a, .at = action, .end = action + n, .take = take, .user = user
	};

	while (!e.lost && effects_command(&e)) {
		const struct effect_command *c = &e.command;

		for (size_t i = 0; c->n_words && i < ARRAY_SIZE(keywords); i++)
			e.lost |= str_eq(keywords[i], c->words[0]);
		if (!e.lost)
			effects_tell_command(&e);
	}
	if (e.lost)
		effects_tell(&e, (struct effect){ .kind = EFFECT_UNKNOWN });
}
