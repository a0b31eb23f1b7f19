/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "base/str.h"
#include "cli/term.h"
#include "cmd/replay.h"
#include "trajectory/original.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Both runs side by side, step by step: what a step showed, and the state that it began in. */
#define DIFF_LINES 20
#define LINE_BYTES_MAX (64L << 20)

/* A step's two texts, and what becomes of them where MLGym recorded one of them. */
struct pair {
	struct compare_text then, now;
	struct buf translated_then, translated_now;
	enum compare_verdict verdict;
};

static void release_pair(struct pair *p)
{
	buf_release(&p->translated_then);
	buf_release(&p->translated_now);
}

#define PAIR_INIT                                                                                  \
	{                                                                                          \
		.translated_then = BUF_INIT(TRAJ_BYTES_MAX),                                       \
		.translated_now = BUF_INIT(TRAJ_BYTES_MAX)                                         \
	}
#define auto_pair __attribute__((cleanup(release_pair)))

static void pair_set(struct pair *p, const struct replay *r, const struct pyjson *then,
		const struct pyjson *now)
{
	p->then = (struct compare_text){ pyjson_text(then), r->recorded_s };
	p->now = (struct compare_text){ pyjson_text(now), r->now_s };
	p->verdict = compare_texts(p->then, p->now);
}

/* A record without a log of ours may be in other words: what both say is compared, and can at best be equal after that. */
static void translate(struct pair *p, const struct traj *recorded, size_t i)
{
	switch (original_translate(
			recorded, i, p->now.text, &p->translated_then, &p->translated_now)) {
	case ORIGINAL_SAME:
		return;
	case ORIGINAL_UNKNOWN:
		p->verdict = COMPARE_UNKNOWN;
		return;
	case ORIGINAL_TRANSLATED:
		p->then.text = buf_str(&p->translated_then);
		p->now.text = buf_str(&p->translated_now);
		p->verdict = compare_texts(p->then, p->now);
		if (p->verdict == COMPARE_EQUAL)
			p->verdict = COMPARE_NORMALISED;
	}
}

/* What it showed, or, where that is worse, the state. */
static void compare_step(struct pair *p, const struct replay *r, size_t i)
{
	const struct traj_step *a = &r->recorded->steps[i], *b = &r->now->steps[i];
	auto_pair struct pair state = PAIR_INIT;

	pair_set(p, r, a->observation, b->observation);
	if (p->verdict == COMPARE_DIFFERENT && !r->task_hash)
		translate(p, r->recorded, i);
	if (!a->state)
		return;
	pair_set(&state, r, a->state, b->state);
	if (state.verdict <= p->verdict)
		return;
	p->then = state.then;
	p->now = state.now;
	p->verdict = state.verdict;
}

static void print_step(const struct replay *r, size_t i, const struct pair *p)
{
	static const char *const styles[] = {
		[COMPARE_EQUAL] = TERM_GREEN,
		[COMPARE_NORMALISED] = TERM_GREEN,
		[COMPARE_UNKNOWN] = TERM_YELLOW,
		[COMPARE_DIFFERENT] = TERM_RED,
	};
	auto_buf struct buf line = BUF_INIT(LINE_BYTES_MAX), diff = BUF_INIT(LINE_BYTES_MAX);
	bool colours = term_colours(STDOUT_FILENO);

	if (p->verdict < COMPARE_UNKNOWN && !r->options->all)
		return;
	str_add_printable(&line, pyjson_text(r->recorded->steps[i].action));
	printf("%4zu %s%-10s%s %.*s\n", i + 1, term_style(colours, styles[p->verdict]),
			compare_verdicts[p->verdict], term_style(colours, TERM_RESET),
			(int)strcspn(buf_str(&line), "\n"), buf_str(&line));
	if (p->verdict != COMPARE_DIFFERENT)
		return;
	compare_diff(&diff, p->then, p->now, DIFF_LINES);
	buf_clear(&line);
	str_add_printable(&line, buf_str(&diff));
	fputs(buf_str(&line), stdout);
}

struct replay_verdicts replay_compare(const struct replay *r)
{
	size_t a = r->recorded->n_steps, b = r->now->n_steps;
	struct replay_verdicts all = { .missing = a > b ? a - b : b - a };

	for (size_t i = 0; i < a && i < b; i++) {
		auto_pair struct pair p = PAIR_INIT;

		compare_step(&p, r, i);
		all.n[p.verdict]++;
		if (!r->ctx->json)
			print_step(r, i, &p);
	}
	return all;
}
