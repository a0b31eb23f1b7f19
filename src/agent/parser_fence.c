/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/parser_kind.h"
#include "agent/pytext.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

/*
 * Actions in fenced blocks. MLGym finds fences by a regular expression, which is followed here, odd ends
 * and all: a fence is three backticks at the beginning of a line, then a word (its label, maybe empty,
 * maybe with more backticks), then white space up to and with the last newline in it; or three backticks
 * and white space up to the end of the text. A text is read once: a model may write millions of fences.
 */
#define TICKS "```"

struct fence {
	const char *begin, *end; /* `end`: what follows it */
	bool labelled;
	bool last; /* of the second form, which can close but not open */
};

/* True if a fence begins at `at`, the beginning of a line. */
static bool read_fence(const char *at, struct fence *out)
{
	const char *word = at + strlen(TICKS), *blank, *end = NULL;
	size_t label, n;

	if (!str_starts(at, TICKS))
		return false;
	pytext_first_word(word, &label);
	if (pytext_spaces(word, SIZE_MAX))
		label = 0; /* the word that was found begins later */
	blank = word + label;
	n = pytext_spaces(blank, SIZE_MAX);
	for (size_t i = 0; i < n; i++)
		if (blank[i] == '\n')
			end = blank + i + 1;
	*out = (struct fence){ .begin = at, .end = end, .labelled = label > 0 };
	if (end)
		return true;
	out->last = !label && !blank[n];
	out->end = blank + n;
	return out->last;
}

static const char *next_line(const char *at)
{
	at = strchr(at, '\n');
	return at ? at + 1 : NULL;
}

/* The first fence from `at` on. */
static bool next_fence(const char *text, const char *at, struct fence *out)
{
	if (at > text && at[-1] != '\n')
		at = next_line(at);
	for (; at && *at; at = next_line(at))
		if (read_fence(at, out))
			return true;
	return false;
}

/* The last block that lies in no other, without its fences. */
static bool find_block(const char *text, struct fence *out_open, struct fence *out_close)
{
	struct fence outer = { 0 }, fence;
	size_t depth = 0;
	bool found = false;

	for (const char *at = text; next_fence(text, at, &fence); at = fence.end) {
		if (depth && !fence.labelled) {
			if (--depth > 0)
				continue;
			*out_open = outer;
			*out_close = fence;
			found = true;
		} else if (!fence.last) {
			if (!depth++)
				outer = fence;
		}
	}
	return found;
}

static int parse_block(struct arena *a, const char *text, struct parsed *out, struct fh_error *err)
{
	struct fence open, close;

	if (!find_block(text, &open, &close))
		return error_say(err, EINVAL, "there is no block of code in it");
	out->action = arena_strndup(a, open.end, (size_t)(close.begin - open.end));
	out->thought = arena_printf(a, "%.*s%s", (int)(open.begin - text), text, close.end);
	return 0;
}

static int thought_action(struct arena *a, const struct chat_reply *reply,
		const struct commands *commands, struct parsed *out, struct fh_error *err)
{
	return parse_block(a, reply->content, out, err);
}

/* Pairs of fences wherever they are. */
static size_t count_pairs(const char *text)
{
	size_t n = 0;

	while ((text = strstr(text, TICKS)) && (text = strstr(text + strlen(TICKS), TICKS))) {
		text += strlen(TICKS);
		n++;
	}
	return n;
}

static int mlgym_thought_action(struct arena *a, const struct chat_reply *reply,
		const struct commands *commands, struct parsed *out, struct fh_error *err)
{
	if (count_pairs(reply->content) > 1)
		return error_say(err, EINVAL, "there is more than one block of code in it");
	return parse_block(a, reply->content, out, err);
}

/* --- tolerant ----------------------------------------------------------------------------------- */

#define THINK "<think>"
#define THOUGHT "</think>"

/* What follows the model's thinking; a template may have opened it already. */
static const char *after_thinking(const char *text)
{
	const char *end = NULL, *at = text;

	while ((at = strstr(at, THOUGHT))) {
		at += strlen(THOUGHT);
		end = at;
	}
	if (end)
		return end;
	return strstr(text, THINK) ? text + strlen(text) : text;
}

/* `inline` fences, and one that is never closed. */
static bool parse_loose_block(struct arena *a, const char *text, struct parsed *out)
{
	const char *open = strstr(text, TICKS), *close, *line;

	if (!open)
		return false;
	line = open + strlen(TICKS);
	close = strstr(line, TICKS);
	line += close && memchr(line, '\n', (size_t)(close - line)) ? strcspn(line, "\n") : 0;
	if (!close) {
		line += strcspn(line, "\n");
		close = line + strlen(line);
	}
	out->action = pytext_strip(a, line, (size_t)(close - line));
	out->thought = arena_strndup(a, text, (size_t)(open - text));
	return *out->action != '\0';
}

/* A reply that is a command and nothing more. */
static bool parse_bare(struct arena *a, const char *text, const struct commands *commands,
		struct parsed *out)
{
	char *line = pytext_strip(a, text, strlen(text));
	size_t n;
	const char *word = pytext_first_word(line, &n);

	if (!n || !commands_find(commands, arena_strndup(a, word, n)))
		return false;
	*out = (struct parsed){ .thought = "", .action = line };
	return true;
}

static int tolerant(struct arena *a, const struct chat_reply *reply,
		const struct commands *commands, struct parsed *out, struct fh_error *err)
{
	const char *said = after_thinking(reply->content);
	const char *thought;

	if (parse_block(a, said, out, err) < 0 && !parse_tags(a, said, out) &&
			!parse_loose_block(a, said, out) && !parse_bare(a, said, commands, out))
		return error_say(err, EINVAL, "there is no command in it");
	thought = arena_strndup(a, reply->content, (size_t)(said - reply->content));
	out->thought = arena_printf(a, "%s%s", thought, out->thought);
	return 0;
}

#define ONE_BLOCK                                                                                     \
	"Nothing was run: your reply has another form than the one that is understood. Say what you " \
	"think, and then give one command, alone in one fenced block:\n"                              \
	"\n"                                                                                          \
	"What you found out and what you do next.\n"                                                  \
	"\n"                                                                                          \
	"```\n"                                                                                       \
	"the command\n"                                                                               \
	"```\n"

const struct output_parser parser_thought_action = {
	.name = "ThoughtActionParser",
	.format_error = ONE_BLOCK,
	.parse = thought_action,
};

const struct output_parser parser_mlgym_thought_action = {
	.name = "MLGymThoughtActionParser",
	.format_error = ONE_BLOCK "\nTriple backticks may stand nowhere else in it.\n",
	.parse = mlgym_thought_action,
};

const struct output_parser parser_edit_format = {
	.name = "EditFormat",
	.format_error = "Nothing was changed: the new text is looked for in one fenced block, and there "
			"is none. Write, without line numbers and with every line that is to stay:\n"
			"\n"
			"```\n"
			"the new text of the window\n"
			"```\n",
	.parse = thought_action,
};

const struct output_parser parser_tolerant = {
	.name = "TolerantParser",
	.format_error = ONE_BLOCK,
	.parse = tolerant,
};
