/* SPDX-License-Identifier: Apache-2.0 */
#include "env/deadlines.h"

#include "base/mem.h"

static void deadlines_place(struct deadlines *all, size_t at, struct deadline *d)
{
	all->heap[at] = d;
	d->index = at;
}

static void deadlines_sift_up(struct deadlines *all, size_t at)
{
	struct deadline *d = all->heap[at];

	while (at > 0) {
		size_t above = (at - 1) / 2;

		if (all->heap[above]->at_ns <= d->at_ns)
			break;
		deadlines_place(all, at, all->heap[above]);
		at = above;
	}
	deadlines_place(all, at, d);
}

static void deadlines_sift_down(struct deadlines *all, size_t at)
{
	struct deadline *d = all->heap[at];

	for (;;) {
		size_t below = 2 * at + 1;

		if (below >= all->n)
			break;
		if (below + 1 < all->n && all->heap[below + 1]->at_ns < all->heap[below]->at_ns)
			below++;
		if (d->at_ns <= all->heap[below]->at_ns)
			break;
		deadlines_place(all, at, all->heap[below]);
		at = below;
	}
	deadlines_place(all, at, d);
}

void deadlines_set(struct deadlines *all, struct deadline *d, int64_t at_ns)
{
	d->at_ns = at_ns;
	if (!d->is_set) {
		if (all->n == all->size) {
			all->size = all->size ? 2 * all->size : 64;
			all->heap = xrealloc(all->heap, all->size, sizeof(struct deadline *));
		}
		d->is_set = true;
		deadlines_place(all, all->n++, d);
	}
	deadlines_sift_up(all, d->index);
	deadlines_sift_down(all, d->index);
}

void deadlines_clear(struct deadlines *all, struct deadline *d)
{
	struct deadline *last;

	if (!d->is_set)
		return;
	d->is_set = false;
	last = all->heap[--all->n];
	if (last == d)
		return;
	deadlines_place(all, d->index, last);
	deadlines_sift_up(all, d->index);
	deadlines_sift_down(all, last->index);
}

int64_t deadlines_first(const struct deadlines *all)
{
	return all->n ? all->heap[0]->at_ns : INT64_MAX;
}
