/* SPDX-License-Identifier: Apache-2.0 */
#include "report/formats.h"

#include "base/str.h"

/*
 * OpenAI's files for fine-tuning: a line with `messages` for each run. Replies have a `weight`.
 * It is 0 for those that the model did not write: in a demonstration, and where a person took over.
 * A conversation ends with a reply of the model, because nothing is learned from what follows.
 */

static bool chat_is_reply(const struct traj_message *m)
{
	return str_eq(pyjson_string(m->role), "assistant");
}

/* True for a reply of the model, which is learned. If a person is the model, all replies are. */
static bool chat_is_learned(const struct dump_run *run, const struct traj_message *m)
{
	return chat_is_reply(m) && !pyjson_true(m->is_demo) &&
			(!m->by_person || run_row_is_human(run->row));
}

/* The text of a message. A reply with tool calls may repeat them in its content. */
static const struct pyjson *chat_text(const struct traj_message *m)
{
	return pyjson_get(m->event, "tool_calls") && m->thought ? m->thought : m->content;
}

static void chat_put(
		struct pyjson_writer *w, const struct dump_run *run, const struct traj_message *m)
{
	const struct pyjson *calls = pyjson_get(m->event, "tool_calls");
	const struct pyjson *answered = pyjson_get(m->event, "tool_call_id");
	const struct pyjson *text = chat_text(m);

	pyjson_put_object(w, NULL);
	if (answered)
		pyjson_put_text(w, "role", "tool");
	else
		pyjson_put_value(w, "role", m->role);
	if (text && text->kind == PYJSON_STRING)
		pyjson_put_value(w, "content", text);
	else
		pyjson_put_text(w, "content", "");
	if (calls)
		pyjson_put_value(w, "tool_calls", calls);
	if (answered)
		pyjson_put_value(w, "tool_call_id", answered);
	if (chat_is_reply(m))
		pyjson_put_i64(w, "weight", chat_is_learned(run, m));
	pyjson_end_object(w);
}

static void chat_add(struct dump_out *out, const struct dump_run *run)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(&out->text, PYJSON_LINE);
	size_t n = run->traj ? run->traj->n_history : 0;
	const struct pyjson *tools = NULL;

	while (n && !chat_is_learned(run, &run->traj->history[n - 1]))
		n--;
	if (!n)
		return;
	pyjson_put_object(&w, NULL);
	pyjson_put_array(&w, "messages");
	for (size_t i = 0; i < n; i++)
		chat_put(&w, run, &run->traj->history[i]);
	pyjson_end_array(&w);
	for (size_t i = 0; i < n && !tools; i++)
		tools = pyjson_get(run->traj->history[i].event, "tools");
	if (tools)
		pyjson_put_value(&w, "tools", tools);
	pyjson_end_object(&w);
	buf_add_char(&out->text, '\n');
}

const struct dump_format dump_chat = { .name = "chat", .add = chat_add };
