/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"

#include "base/scope.h"
#include "base/str.h"
#include "trajectory/traj.h"

#define TEXT_BYTES_MAX (4L * 1024 * 1024)

/* Demonstrations are runs that were recorded: their conversation, without what the system said. */

static void scope_traj(struct traj **t)
{
	traj_free(*t);
}

static bool is_shown(const struct traj_message *m)
{
	return !str_eq(pyjson_text(m->role), "system");
}

static void add_messages(const struct traj *t, struct history *h)
{
	for (size_t i = 0; i < t->n_history; i++) {
		const struct traj_message *m = &t->history[i];
		bool assistant = str_eq(pyjson_text(m->role), "assistant");

		if (!is_shown(m))
			continue;
		history_add(h,
				&(struct history_item){
						.message = { .role = assistant ? CHAT_ASSISTANT
									       : CHAT_USER,
								.content = pyjson_text(
										m->content) },
						.thought = assistant ? pyjson_text(m->thought)
								     : NULL,
						.action = assistant ? pyjson_text(m->action) : NULL,
						.is_demo = true,
				});
	}
}

static int add_one_message(const struct template *template, const struct traj *t, struct history *h,
		struct fh_error *err)
{
	auto_buf struct buf all = BUF_INIT(TEXT_BYTES_MAX), out = BUF_INIT(TEXT_BYTES_MAX);
	struct fields fields = { .arena = h->arena };
	int r;

	for (size_t i = 0; i < t->n_history; i++) {
		if (!is_shown(&t->history[i]))
			continue;
		buf_add_str(&all, all.len ? "\n" : "");
		buf_add_str(&all, pyjson_text(t->history[i].content));
	}
	fields_set(&fields, "demonstration", buf_str(&all));
	r = template_render(&out, template, &fields, err);
	if (r < 0)
		return r;
	history_add(h,
			&(struct history_item){
					.message = { .role = CHAT_USER, .content = buf_str(&out) },
					.is_demo = true,
			});
	return 0;
}

int agent_add_demonstrations(const struct agent_config *config, bool recorded, struct history *h,
		struct fh_error *err)
{
	const struct texts *paths = &config->keys.demonstrations;

	for (size_t i = 0; i < paths->n; i++) {
		__attribute__((cleanup(scope_traj))) struct traj *t = NULL;
		int r = traj_read(paths->items[i], &t, err);

		if (r < 0)
			return error_wrap(err, "read a demonstration of %s", config->path);
		if (config->keys.put_demos_in_history)
			add_messages(t, h);
		else if (!recorded)
			r = add_one_message(&config->demonstration, t, h, err);
		if (r < 0)
			return r;
	}
	return 0;
}
