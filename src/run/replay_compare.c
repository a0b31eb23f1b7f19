/* SPDX-License-Identifier: Apache-2.0 */
#include "run/replay.h"

#include "base/scope.h"
#include "trajectory/original.h"

/* Both runs side by side, step by step: what a step showed, and the state that it began in. */

/* A step's two texts, and what becomes of them where MLGym recorded one of them. */
struct replay_pair {
	struct replay_step step;
	struct buf translated_then, translated_now;
};

static void replay_pair_release(struct replay_pair *p)
{
	buf_release(&p->translated_then);
	buf_release(&p->translated_now);
}

#define PAIR_INIT                                                                                  \
	{                                                                                          \
		.translated_then = BUF_INIT(TRAJ_BYTES_MAX),                                       \
		.translated_now = BUF_INIT(TRAJ_BYTES_MAX)                                         \
	}
#define auto_pair __attribute__((cleanup(replay_pair_release)))

static void replay_pair_set(struct replay_pair *p, const struct replay *r,
		const struct pyjson *then, const struct pyjson *now)
{
	p->step.then = (struct compare_text){ pyjson_text(then), r->recorded_s };
	p->step.now = (struct compare_text){ pyjson_text(now), r->now_s };
	p->step.verdict = compare_texts(p->step.then, p->step.now);
}

/* A record without a log of ours may be in other words: what both say is compared, and can at best be equal after that. */
static void replay_translate(struct replay_pair *p, const struct traj *recorded, size_t i)
{
	switch (original_translate(
			recorded, i, p->step.now.text, &p->translated_then, &p->translated_now)) {
	case ORIGINAL_SAME:
		return;
	case ORIGINAL_UNKNOWN:
		p->step.verdict = COMPARE_UNKNOWN;
		return;
	case ORIGINAL_TRANSLATED:
		p->step.then.text = buf_str(&p->translated_then);
		p->step.now.text = buf_str(&p->translated_now);
		p->step.verdict = compare_texts(p->step.then, p->step.now);
		if (p->step.verdict == COMPARE_EQUAL)
			p->step.verdict = COMPARE_NORMALISED;
	}
}

/* What it showed, or, where that is worse, the state. */
static void replay_compare_step(struct replay_pair *p, const struct replay *r, size_t i)
{
	const struct traj_step *a = &r->recorded->steps[i], *b = &r->now->steps[i];
	auto_pair struct replay_pair state = PAIR_INIT;

	replay_pair_set(p, r, a->observation, b->observation);
	if (p->step.verdict == COMPARE_DIFFERENT && !r->task_hash)
		replay_translate(p, r->recorded, i);
	if (!a->state)
		return;
	replay_pair_set(&state, r, a->state, b->state);
	if (state.step.verdict <= p->step.verdict)
		return;
	p->step.then = state.step.then;
	p->step.now = state.step.now;
	p->step.verdict = state.step.verdict;
}

int replay_compare(struct replay *r,
		void (*on)(void *user, size_t i, const struct replay_step *step), void *user,
		struct replay_verdicts *out, struct fh_error *err)
{
	struct replay_verdicts all = { 0 };
	int n = traj_read(r->episode.traj, &r->now, err);
	size_t a, b;

	if (n < 0)
		return n;
	a = r->recorded->n_steps;
	b = r->now->n_steps;
	all.missing = a > b ? a - b : b - a;
	for (size_t i = 0; i < a && i < b; i++) {
		auto_pair struct replay_pair p = PAIR_INIT;

		p.step.action = pyjson_text(r->recorded->steps[i].action);
		replay_compare_step(&p, r, i);
		all.n[p.step.verdict]++;
		on(user, i, &p.step);
	}
	*out = all;
	return 0;
}
