/* SPDX-License-Identifier: Apache-2.0 */
#include "run/replay.h"

#include "trajectory/original.h"

static struct replay_step replay_step_of(
		const struct replay *r, const struct pyjson *then, const struct pyjson *now)
{
	struct replay_step s = { .then = { pyjson_text(then), r->recorded_s },
		.now = { pyjson_text(now), r->now_s } };

	s.verdict = compare_texts(s.then, s.now);
	return s;
}

/* Compares two observations by meaning, because MLGym's texts differ from Fumehood's. The verdict
 * for equal meanings is COMPARE_NORMALISED at best. */
static void replay_translate(struct replay_step *s, const struct traj *recorded, size_t i,
		struct buf *then, struct buf *now)
{
	switch (original_translate(recorded, i, s->now.text, then, now)) {
	case ORIGINAL_SAME:
		return;
	case ORIGINAL_UNKNOWN:
		s->verdict = COMPARE_UNKNOWN;
		return;
	case ORIGINAL_TRANSLATED:
		s->then.text = buf_str(then);
		s->now.text = buf_str(now);
		s->verdict = compare_texts(s->then, s->now);
		if (s->verdict == COMPARE_EQUAL)
			s->verdict = COMPARE_NORMALISED;
	}
}

int replay_compare(struct replay *r,
		void (*on)(void *user, size_t i, const struct replay_step *step), void *user,
		struct replay_verdicts *out, struct fh_error *err)
{
	struct replay_verdicts all = { 0 };
	size_t a, b;
	int n = traj_read(r->episode.traj, &r->now, err);

	if (n < 0)
		return n;
	a = r->recorded->n_steps;
	b = r->now->n_steps;
	all.missing = a > b ? a - b : b - a;
	all.first = all.missing ? (a < b ? a : b) + 1 : 0;
	for (size_t i = 0; i < a && i < b; i++) {
		const struct traj_step *then = &r->recorded->steps[i], *now = &r->now->steps[i];
		auto_buf struct buf told_then = BUF_INIT(TRAJ_BYTES_MAX);
		auto_buf struct buf told_now = BUF_INIT(TRAJ_BYTES_MAX);
		struct replay_step step = replay_step_of(r, then->observation, now->observation);
		struct replay_step state = replay_step_of(r, then->state, now->state);

		/* If the record has no hash, MLGym made it: compare meanings, because its texts
		 * differ from Fumehood's. */
		if (step.verdict == COMPARE_DIFFERENT && !r->task_hash)
			replay_translate(&step, r->recorded, i, &told_then, &told_now);
		if (then->state && state.verdict > step.verdict)
			step = state;
		step.action = pyjson_text(then->action);
		all.n[step.verdict]++;
		if (step.verdict == COMPARE_DIFFERENT && (!all.first || i < all.first))
			all.first = i + 1;
		on(user, i, &step);
	}
	*out = all;
	return 0;
}
