/* SPDX-License-Identifier: Apache-2.0 */
#include "env/deadlines.h"

#include "base/mem.h"
#include "env/env.h"

/*
 * A binary heap. Every environment knows where it is (slot.at), so that the one whose work ends is
 * taken out without a search.
 */
static void place(struct poller *p, size_t at, struct fh_env *env)
{
	p->heap[at] = env;
	env->slot.at = at;
}

static void sift_up(struct poller *p, size_t at)
{
	struct fh_env *env = p->heap[at];

	while (at > 0) {
		size_t above = (at - 1) / 2;

		if (p->heap[above]->slot.deadline_ns <= env->slot.deadline_ns)
			break;
		place(p, at, p->heap[above]);
		at = above;
	}
	place(p, at, env);
}

static void sift_down(struct poller *p, size_t at)
{
	struct fh_env *env = p->heap[at];

	for (;;) {
		size_t below = 2 * at + 1;

		if (below >= p->n_heap)
			break;
		if (below + 1 < p->n_heap &&
				p->heap[below + 1]->slot.deadline_ns <
						p->heap[below]->slot.deadline_ns)
			below++;
		if (env->slot.deadline_ns <= p->heap[below]->slot.deadline_ns)
			break;
		place(p, at, p->heap[below]);
		at = below;
	}
	place(p, at, env);
}

void deadlines_put(struct poller *p, struct fh_env *env, int64_t deadline_ns)
{
	struct poll_slot *slot = &env->slot;

	slot->deadline_ns = deadline_ns;
	if (!slot->in_heap) {
		if (p->n_heap == p->heap_size) {
			p->heap_size = p->heap_size ? 2 * p->heap_size : 64;
			p->heap = xrealloc(p->heap, p->heap_size, sizeof(struct fh_env *));
		}
		slot->in_heap = true;
		place(p, p->n_heap++, env);
	}
	sift_up(p, slot->at);
	sift_down(p, slot->at);
}

void deadlines_remove(struct poller *p, struct fh_env *env)
{
	size_t at = env->slot.at;
	struct fh_env *last;

	if (!env->slot.in_heap)
		return;
	env->slot.in_heap = false;
	last = p->heap[--p->n_heap];
	if (last == env)
		return;
	place(p, at, last);
	sift_up(p, at);
	sift_down(p, last->slot.at);
}

int64_t deadlines_first(const struct poller *p)
{
	return p->n_heap ? p->heap[0]->slot.deadline_ns : INT64_MAX;
}
