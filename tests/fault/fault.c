/* SPDX-License-Identifier: Apache-2.0 */
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct fault_page *fault_page;
_Thread_local bool fault_spared;

static const struct {
	const char *name;
	int error;
	int other;
} calls[] = {
#define FAULT_ENTRY(name, error, other) { #name, error, other },
	FAULT_CALLS(FAULT_ENTRY)
#undef FAULT_ENTRY
};

/* Address at which the program or plugin was loaded. Call sites are stored as offsets from it. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* --- sites ------------------------------------------------------------------------------------ */

#define SIDE_SHIFT 48
#define CALL_SHIFT 40
#define PLACE_MASK 0xffffffffffULL

static uint64_t key_of(enum fault_call call, const void *from)
{
	return (uint64_t)FAULT_SIDE << SIDE_SHIFT | (uint64_t)(call + 1) << CALL_SHIFT |
			((uint64_t)((const char *)from - __ehdr_start) & PLACE_MASK);
}

/* Counts a pass of a call site. It takes no mutex, because a process could be killed while holding
 * it. */
static void note(uint64_t key)
{
	size_t at = (key * 0x9e3779b97f4a7c15ULL) >> 53;

	for (size_t i = 0; i < FAULT_SITES_MAX; i++) {
		struct fault_site *s = &fault_page->sites[(at + i) % FAULT_SITES_MAX];
		uint64_t there = 0;

		if (atomic_compare_exchange_strong(&s->key, &there, key) || there == key) {
			atomic_fetch_add(&s->passes, 1);
			return;
		}
	}
}

_Noreturn static void die(void)
{
	kill(getpid(), SIGKILL);
	syscall(SYS_exit_group, 137); /* for PID 1, which ignores SIGKILL from itself */
	__builtin_unreachable();
}

enum fault_kind fault_at(enum fault_call call, const void *from)
{
	struct fault_page *p = fault_page;
	enum fault_kind kind;
	uint64_t key;

	if (!p || fault_spared || (!atomic_load(&p->watching) && !atomic_load(&p->armed)))
		return FAULT_NONE;
	key = key_of(call, from);
	if (atomic_load(&p->watching))
		note(key);
	if (key != atomic_load(&p->armed) ||
			atomic_fetch_add(&p->seen, 1) + 1 != atomic_load(&p->armed_pass))
		return FAULT_NONE;
	atomic_store(&p->hit_pid, getpid());
	atomic_store(&p->hit_phase, atomic_load(&p->phase));
	atomic_fetch_add(&p->hits, 1);
	kind = atomic_load(&p->armed_kind);
	if (kind == FAULT_KILL)
		die();
	errno = kind == FAULT_INTR ? EINTR : calls[call].error;
	return kind;
}

#define YEAR_S (365 * 24 * 3600)

time_t fault_clock(void)
{
	if (!fault_page || !atomic_load(&fault_page->clock_jumps))
		return 0;
	return atomic_fetch_add(&fault_page->clock_reads, 1) % 2 ? YEAR_S : -YEAR_S;
}

/* --- for tests -------------------------------------------------------------------------------- */

int fault_page_open(void)
{
	int fd = memfd_create("faults", MFD_CLOEXEC);
	void *page;

	if (fd < 0 || ftruncate(fd, sizeof(struct fault_page)) < 0 ||
			dup3(fd, FAULT_PAGE_FD, O_CLOEXEC) < 0)
		return -errno;
	close(fd);
	page = mmap(NULL, sizeof(struct fault_page), PROT_READ | PROT_WRITE, MAP_SHARED,
			FAULT_PAGE_FD, 0);
	if (page == MAP_FAILED)
		return -errno;
	fault_page = page;
	return 0;
}

void fault_watch(bool on)
{
	atomic_store(&fault_page->watching, false);
	for (size_t i = 0; on && i < FAULT_SITES_MAX; i++) {
		atomic_store(&fault_page->sites[i].key, 0);
		atomic_store(&fault_page->sites[i].passes, 0);
	}
	atomic_store(&fault_page->watching, on);
}

void fault_phase(unsigned phase)
{
	atomic_store(&fault_page->phase, phase);
}

void fault_arm(uint64_t key, unsigned pass, enum fault_kind kind)
{
	struct fault_page *p = fault_page;

	atomic_store(&p->armed, 0);
	atomic_store(&p->seen, 0);
	atomic_store(&p->hits, 0);
	atomic_store(&p->armed_pass, pass);
	atomic_store(&p->armed_kind, kind);
	atomic_store(&p->armed, key);
}

unsigned fault_disarm(void)
{
	atomic_store(&fault_page->armed, 0);
	return atomic_load(&fault_page->hits);
}

enum fault_side fault_side_of(uint64_t key)
{
	return key >> SIDE_SHIFT & 1 ? FAULT_GUEST : FAULT_OWNER;
}

enum fault_call fault_call_of(uint64_t key)
{
	return (enum fault_call)((key >> CALL_SHIFT & 0xff) - 1);
}

bool fault_interruptible(uint64_t key)
{
	return calls[fault_call_of(key)].other > 0;
}

bool fault_may_be_short(uint64_t key)
{
	return calls[fault_call_of(key)].other > 1;
}

bool fault_is_of_memory(uint64_t key)
{
	return fault_call_name(fault_call_of(key))[0] == 'x';
}

const char *fault_call_name(enum fault_call call)
{
	return calls[call].name;
}

const char *fault_name(uint64_t key)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s in the %s at %#llx", fault_call_name(fault_call_of(key)),
			fault_side_of(key) == FAULT_GUEST ? "guest" : "owner",
			(unsigned long long)(key & PLACE_MASK));
	return text;
}
