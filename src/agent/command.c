/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/command.h"

#include "agent/pytext.h"
#include "base/str.h"

#include <string.h>

#define FILLED_BYTES_MAX (4L * 1024 * 1024)

const struct agent_command *commands_find(const struct commands *all, const char *name)
{
	for (size_t i = 0; i < all->n; i++)
		if (str_eq(all->items[i].name, name))
			return &all->items[i];
	return NULL;
}

bool command_ends_in(const struct agent_command *command, const char *text)
{
	const char *end = command->end_name;
	size_t n = end ? strlen(end) : 0;

	for (; end; text++) {
		size_t length = strcspn(text, "\n");

		if (length >= n && strncmp(text, end, n) == 0 &&
				strspn(text + n, " \t\r") == length - n)
			return true;
		text += length;
		if (!*text)
			return false;
	}
	return false;
}

void command_fit(struct arena *a, struct agent_command *command)
{
	struct command_argument *kept = arena_array(a, command->n_arguments + 1, sizeof(*kept));
	const char *signature = command->signature ? command->signature : command->name;
	size_t n = 0;

	for (size_t i = 0; i < command->n_arguments; i++) {
		const struct command_argument *argument = &command->arguments[i];
		bool has = strstr(signature, arena_printf(a, "<%s>", argument->name));
		int n_line = (int)strcspn(signature, "\n");

		if (!has && argument->required)
			signature = arena_printf(a, "%.*s <%s>%s", n_line, signature,
					argument->name, signature + n_line);
		if (has || argument->required)
			kept[n++] = *argument;
	}
	command->signature = signature;
	command->arguments = kept;
	command->n_arguments = n;
}

/* Appends a value as one quoted word. Newlines and "<<" are escaped: else the action would be a
 * multi-line command (env/multiline.h). */
static void command_add_word(struct buf *out, const char *s)
{
	if (!strchr(s, '\n') && !strstr(s, "<<")) {
		pytext_add_quoted(out, s);
		return;
	}
	buf_add_str(out, "$'");
	for (; *s; s++) {
		if (*s == '\n')
			buf_add_str(out, "\\n");
		else if (*s == '<')
			buf_add_str(out, "\\x3c");
		else if (*s == '\'' || *s == '\\')
			buf_printf(out, "\\%c", *s);
		else
			buf_add_char(out, *s);
	}
	buf_add_char(out, '\'');
}

/* Appends the value of an argument in the form v->form. `after` is the command's signature behind
 * the argument's <name>. Returns the position in the signature to continue at. It skips a newline
 * after lines that are empty or end in a newline themselves. */
static const char *command_add_value(
		struct buf *out, const struct command_value *v, const char *after)
{
	switch (v->form) {
	case COMMAND_AS_IS:
		buf_add_str(out, v->value);
		break;
	case COMMAND_QUOTED:
		pytext_add_quoted(out, v->value);
		break;
	case COMMAND_WORD:
		command_add_word(out, v->value);
		break;
	case COMMAND_LINES:
		buf_add_str(out, v->value);
		if (!*v->value || str_ends(v->value, "\n"))
			after += *after == '\n';
		break;
	}
	return after;
}

char *command_fill(struct arena *a, const struct agent_command *command,
		const struct command_value *values, size_t n)
{
	auto_buf struct buf out = BUF_INIT(FILLED_BYTES_MAX);
	const char *at = command->signature ? command->signature : command->name;

	while (*at) {
		size_t length = strcspn(at, "[]<");
		const struct command_value *v = NULL;

		buf_add(&out, at, length);
		at += length;
		if (*at == '<') {
			length = strcspn(at + 1, ">");
			/* if several arguments have this name, the last one counts, as in Python */
			for (size_t i = 0; i < n; i++)
				if (strlen(values[i].name) == length &&
						memcmp(values[i].name, at + 1, length) == 0)
					v = &values[i];
			at += length + 1;
		}
		at += *at != '\0';
		if (v)
			at = command_add_value(&out, v, at);
	}
	return pytext_strip(a, buf_str(&out), out.len);
}

/* True for a command that asks for a score. MLGym's versions print a marker, which has no effect
 * here. Fumehood's programs ask in another way. */
bool command_asks_for_score(const char *name)
{
	return str_eq(name, "validate") || str_eq(name, "submit");
}
