/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/scope.h"
#include "report/dump_policy.h"
#include "report/scan_inside.h"

#include <string.h>

/* Returns a text of an object, or null if it is missing or no text. A .traj has all its members. */
static const struct pyjson *policy_text(
		struct traj *t, const struct pyjson *object, const char *key)
{
	const struct pyjson *v = pyjson_get(object, key);

	return pyjson_string(v) ? v : pyjson_make_text(&t->arena, NULL);
}

static void policy_add_message(
		struct traj *t, const struct pyjson *role, const struct pyjson *content)
{
	t->history = arena_grow(&t->arena, t->history, t->n_history, sizeof(*t->history));
	t->history[t->n_history++] = (struct traj_message){ .role = role, .content = content };
}

/* Takes the messages of the first turn. The others show what each turn printed. */
static void policy_take_prompt(struct traj *t, const struct pyjson *prompt)
{
	const struct pyjson *m = prompt && prompt->kind == PYJSON_ARRAY ? prompt->first : NULL;

	for (; m; m = m->next)
		if (pyjson_string(pyjson_get(m, "role")))
			policy_add_message(t, pyjson_get(m, "role"), policy_text(t, m, "content"));
}

static void policy_take_turn(struct traj *t, const struct pyjson *turn)
{
	struct traj_step *step;

	if (t->n_steps)
		policy_add_message(t, pyjson_make_text(&t->arena, "user"),
				t->steps[t->n_steps - 1].observation);
	t->steps = arena_grow(&t->arena, t->steps, t->n_steps, sizeof(*t->steps));
	step = &t->steps[t->n_steps++];
	*step = (struct traj_step){ .state = pyjson_make_text(&t->arena, ""),
		.response = policy_text(t, turn, "completion"),
		.thought = pyjson_make_text(&t->arena, NULL),
		.action = policy_text(t, turn, "action"),
		.observation = policy_text(t, turn, "observation"),
		.execution_time = pyjson_get(turn, "duration_s") };
	policy_add_message(t, pyjson_make_text(&t->arena, "assistant"), step->response);
}

int dump_policy_read(const char *path, struct traj **out, const struct pyjson **out_turns,
		struct fh_error *err)
{
	auto_traj struct traj *t = traj_new();
	auto_buf struct buf text = BUF_INIT(TRAJ_BYTES_MAX);
	struct pyjson_source source = { .name = path };
	const struct pyjson *root, *turns;
	int r = fd_read_plain(path, &text, err);

	if (r < 0)
		return r;
	source.data = buf_str(&text);
	source.n = text.len;
	r = pyjson_read(&t->arena, &source, &root, err);
	if (r < 0)
		return r;
	turns = pyjson_get(root, "trajectory");
	if (!scan_is_policy(root) || turns->kind != PYJSON_ARRAY)
		return pyjson_complain(path, root, err, "expected the episode of a policy");
	policy_take_prompt(t, pyjson_get(pyjson_get(root, "info"), "prompt"));
	for (const struct pyjson *turn = turns->first; turn; turn = turn->next)
		policy_take_turn(t, turn);
	t->info.exit_status = pyjson_get(pyjson_get(root, "info"), "exit_status");
	*out = take_ptr(t);
	*out_turns = turns;
	return 0;
}

const struct pyjson *dump_policy_event(struct arena *a, const struct pyjson *turn)
{
	struct pyjson *event = arena_alloc(a, sizeof(*event));
	struct pyjson *info = arena_alloc(a, sizeof(*info));

	*info = *turn;
	info->key = "info";
	info->key_len = strlen(info->key);
	info->next = turn->first;
	*event = (struct pyjson){ .kind = PYJSON_OBJECT, .first = info, .n = turn->n + 1 };
	return event;
}
