/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fork_mark.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

/*
 * The mark of this process lies in a page that the kernel zeroes in each fork. A fork then takes
 * the next number. Forks of one parent may have the same mark: neither has the other's objects.
 */
static _Atomic(uint64_t) *_Atomic page;
static atomic_ullong last;

/* Makes the page if there is none. After a failure a later call tries again. It holds no mutex,
 * because a fork would keep it locked. */
static void fork_mark_open(void)
{
	_Atomic(uint64_t) *none = NULL;
	void *memory;

	if (page)
		return;
	memory = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	if (memory == MAP_FAILED)
		return;
	if (madvise(memory, sizeof(*page), MADV_WIPEONFORK) < 0 ||
			!atomic_compare_exchange_strong(&page, &none, memory))
		munmap(memory, sizeof(*page));
}

uint64_t fork_mark(void)
{
	uint64_t mark, next;

	fork_mark_open();
	if (!page)
		return 0;
	mark = atomic_load(page);
	if (mark)
		return mark;
	next = atomic_fetch_add(&last, 1) + 1;
	return atomic_compare_exchange_strong(page, &mark, next) ? next : mark;
}

bool fork_is_marked(uint64_t mark)
{
	return page && atomic_load_explicit(page, memory_order_relaxed) == mark;
}
