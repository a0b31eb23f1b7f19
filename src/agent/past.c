/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <string.h>

#define ARGUMENTS_BYTES_MAX (64L * 1024 * 1024)

static enum chat_role role_of(const char *name)
{
	static const char *const roles[] = { [CHAT_SYSTEM] = "system",
		[CHAT_USER] = "user",
		[CHAT_ASSISTANT] = "assistant",
		[CHAT_TOOL] = "tool" };

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (str_eq(roles[i], name))
			return (enum chat_role)i;
	return CHAT_USER;
}

static void use_shell(struct arena *a, struct chat_message *m, const char *id, const char *action)
{
	auto_buf struct buf arguments = BUF_INIT(ARGUMENTS_BYTES_MAX);
	struct chat_use *use = arena_alloc(a, sizeof(*use));

	buf_add_str(&arguments, "{\"command\": ");
	str_add_json(&arguments, action, strlen(action));
	buf_add_str(&arguments, "}");
	*use = (struct chat_use){
		.id = id, .name = "bash", .arguments = arena_strdup(a, buf_str(&arguments))
	};
	m->uses = use;
	m->n_uses = 1;
}

void agent_add_past(const struct agent_past *past, bool tools, struct history *h)
{
	const char *id = NULL; /* of a use that is not answered yet */

	for (size_t i = 0; i < past->n; i++) {
		const struct traj_message *m = &past->messages[i];
		struct history_item item = {
			.message = { .role = role_of(pyjson_text(m->role)),
					.content = pyjson_text(m->content) },
			.thought = m->thought ? pyjson_text(m->thought) : NULL,
			.action = m->action ? pyjson_text(m->action) : NULL,
			.is_demo = m->is_demo && m->is_demo->boolean,
		};

		if (item.message.role == CHAT_TOOL) {
			/* Of several answers to one reply the first is what was done. */
			if (!id)
				continue;
			item.message.use_id = take_ptr(id);
		} else if (tools && item.message.role == CHAT_ASSISTANT && !item.is_demo) {
			id = arena_printf(h->arena, "resumed_%zu", i);
			use_shell(h->arena, &item.message, id, item.action ? item.action : "");
		}
		history_add(h, &item);
	}
}
