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

static void add_value(struct buf *out, const struct agent_command *command, const char *name,
		size_t length, const struct command_value *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strlen(values[i].name) != length || strncmp(values[i].name, name, length) != 0)
			continue;
		if (values[i].is_text && !command->end_name)
			pytext_add_quoted(out, values[i].value);
		else
			buf_add_str(out, values[i].value);
	}
}

char *command_fill(struct arena *a, const struct agent_command *command,
		const struct command_value *values, size_t n)
{
	auto_buf struct buf out = BUF_INIT(FILLED_BYTES_MAX);
	const char *at = command->signature ? command->signature : command->name;

	while (*at) {
		size_t length = strcspn(at, "[]<");

		buf_add(&out, at, length);
		at += length;
		if (*at == '<') {
			length = strcspn(at + 1, ">");
			add_value(&out, command, at + 1, length, values, n);
			at += length + 1;
		}
		at += *at != '\0';
	}
	return pytext_strip(a, buf_str(&out), out.len);
}
