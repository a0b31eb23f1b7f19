/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/parser_kind.h"
#include "agent/parser_text.h"
#include "agent/pytext.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

/*
 * Actions in fenced blocks. MLGym finds fences by a regular expression, which this code follows
 * exactly. A fence is three backticks at the start of a line, a label, and white space. It ends
 * with the last newline of that space. The label may be empty, and may hold backticks. At the end
 * of the text, a fence is three backticks and white space. The text is read once: a model may write
 * millions of fences.
 */

#define FENCE_TICKS "```"

struct fence {
	const char *begin, *end; /* start of the fence's line, and the byte after the fence */
	bool labelled;
	bool last; /* the fence ends the text: it can close a block, but not open one */
};

/* Reads the fence at `at`, the start of a line. False if there is none. */
static bool fence_read(const char *at, struct fence *out)
{
	const char *word = at + strlen(FENCE_TICKS), *blank, *end = NULL;
	size_t label, n;

	if (!str_starts(at, FENCE_TICKS))
		return false;
	pytext_first_word(word, &label);
	if (pytext_spaces(word, SIZE_MAX))
		label = 0; /* a space follows the backticks, so the label is empty */
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

static const char *fence_next_line(const char *at)
{
	at = strchr(at, '\n');
	return at ? at + 1 : NULL;
}

/* Finds the last block that is not inside another block. */
static bool fence_find_block(const char *text, struct fence *out_open, struct fence *out_close)
{
	struct fence outer = { 0 }, fence;
	size_t depth = 0;
	bool found = false;

	for (const char *at = text; at && *at;) {
		if (!fence_read(at, &fence)) {
			at = fence_next_line(at);
			continue;
		}
		/* Go on at the start of a line: a fence may end within a line, but never begins
		 * there. */
		at = fence.end;
		if (at[-1] != '\n')
			at = fence_next_line(at);
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

static int fence_parse(struct arena *a, const char *text, struct parsed *out, struct fh_error *err)
{
	struct fence open, close;

	if (!fence_find_block(text, &open, &close))
		return error_say(err, EINVAL, "the reply has no block of code");
	out->action = arena_strndup(a, open.end, (size_t)(close.begin - open.end));
	out->thought = arena_printf(a, "%.*s%s", (int)(open.begin - text), text, close.end);
	return 0;
}

static int fence_thought_action(struct arena *a, const struct chat_reply *reply,
		const struct commands *commands, struct parsed *out, struct fh_error *err)
{
	return fence_parse(a, reply->content, out, err);
}

static int fence_mlgym(struct arena *a, const struct chat_reply *reply,
		const struct commands *commands, struct parsed *out, struct fh_error *err)
{
	const char *at = reply->content;
	size_t n = 0;

	/* Count all backticks, not only those of fences, as MLGym does. */
	while (n < 4 && (at = strstr(at, FENCE_TICKS))) {
		at += strlen(FENCE_TICKS);
		n++;
	}
	if (n == 4)
		return error_say(err, EINVAL, "the reply has more than one block of code");
	return fence_parse(a, reply->content, out, err);
}

/* --- tolerant --------------------------------------------------------------------------------- */

#define THINK "<think>"
#define THOUGHT "</think>"

/* Returns the text after the last </think>. Returns "" if only <think> is there, and the whole text
 * without both. The <think> may be missing, because the template of a model's server may hold
 * it. */
static const char *fence_after_thinking(const char *text)
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

/* Finds an action in backticks within a line, or in a block that is not closed. */
static bool fence_parse_loose(struct arena *a, const char *text, struct parsed *out)
{
	const char *open = strstr(text, FENCE_TICKS), *close, *line;

	if (!open)
		return false;
	line = open + strlen(FENCE_TICKS);
	close = strstr(line, FENCE_TICKS);
	line += close && memchr(line, '\n', (size_t)(close - line)) ? strcspn(line, "\n") : 0;
	if (!close) {
		line += strcspn(line, "\n");
		close = line + strlen(line);
	}
	out->action = pytext_strip(a, line, (size_t)(close - line));
	out->thought = arena_strndup(a, text, (size_t)(open - text));
	return *out->action != '\0';
}

/* Takes the whole reply as an action, if it is a single command. */
static bool fence_parse_bare(struct arena *a, const char *text, const struct commands *commands,
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

static int fence_tolerant(struct arena *a, const struct chat_reply *reply,
		const struct commands *commands, struct parsed *out, struct fh_error *err)
{
	const char *said = fence_after_thinking(reply->content);
	const char *thought;

	if (fence_parse(a, said, out, err) < 0 && !parse_tags(a, said, out) &&
			!fence_parse_loose(a, said, out) &&
			!fence_parse_bare(a, said, commands, out))
		return error_say(err, EINVAL, "the reply has no command");
	thought = arena_strndup(a, reply->content, (size_t)(said - reply->content));
	out->thought = arena_printf(a, "%s%s", thought, out->thought);
	return 0;
}

#define ONE_BLOCK                                                                                  \
	"Nothing was run: your reply has another form than the one that is understood. "           \
	"Say what you think, and then give one command, alone in one fenced block:\n"              \
	"\n"                                                                                       \
	"What you found out and what you do next.\n"                                               \
	"\n"                                                                                       \
	"```\n"                                                                                    \
	"the command\n"                                                                            \
	"```\n"

const struct output_parser parser_thought_action = {
	.name = "ThoughtActionParser",
	.format_error = ONE_BLOCK,
	.parse = fence_thought_action,
};

const struct output_parser parser_mlgym_thought_action = {
	.name = "MLGymThoughtActionParser",
	.format_error = ONE_BLOCK "\nTriple backticks may stand nowhere else in it.\n",
	.parse = fence_mlgym,
};

const struct output_parser parser_edit_format = {
	.name = "EditFormat",
	.format_error = "Nothing was changed: the new text is looked for in one fenced block, and there "
			"is none. Write, without line numbers and with every line that is to stay:\n"
			"\n"
			"```\n"
			"the new text of the window\n"
			"```\n",
	.parse = fence_thought_action,
};

const struct output_parser parser_tolerant = {
	.name = "TolerantParser",
	.format_error = ONE_BLOCK,
	.parse = fence_tolerant,
};
