/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "guest/ends.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/namespace.h"
#include "guest/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Ends sandboxes whose PID 1 does not end by itself. PID 1 should end when its owner closes the
 * sandbox or has ended. A PID 1 that is stopped can't. Neither can one that waits for the kernel's
 * lock of a file or pipe while the agent holds the lock.
 *
 * The owner marks closed sandboxes in memory that it shares with the nursery (struct roll). The
 * nursery knows which PID 1 it has reaped. If a closed sandbox does not end in time, the nursery
 * starts a child process, the worker. The worker joins the sandbox' pid namespace and kills all
 * processes there. A worker that hangs in the kernel does not stop the nursery. More workers try
 * until PID 1 has ended, and the nursery does not end before. It polls, because it must not wait
 * for a lock that an agent can hold.
 *
 * While no closed sandbox is left to end, ends_turn() only reads memory, once for each open
 * sandbox.
 */

#define WATCHED_MAX 65536
#define OVERDUE_MS 100
#define NEVER_BORN_MS 100
#define RETRY_MS 250
#define ENDS_AT_ONCE 16
#define CLOSED_PAUSE_MS 20

struct watched {
	uint32_t number;
	/* pid of the sandbox' PID 1, as the nursery sees it; 0: not known yet, or never born */
	pid_t pid;
	/* time in nanoseconds at which the sandbox was seen closed; 0: it is open */
	int64_t closed_ns;
};

struct ends {
	/* memory in which the owner notes closed sandboxes; NULL: not mapped yet */
	struct roll *roll;
	/* sandboxes that must end after they are closed: array of WATCHED_MAX entries */
	struct watched *watched;
	size_t n;
	pid_t worker; /* process that ends sandboxes which did not end in time; 0: none runs */
	int64_t tried_ns;
};

struct ends *ends_new(void)
{
	return xcalloc(1, sizeof(struct ends));
}

int ends_open(struct ends *e, int roll, struct fh_error *err)
{
	size_t bytes = WATCHED_MAX * sizeof(*e->watched);
	void *p = mmap(NULL, sizeof(*e->roll), PROT_READ | PROT_WRITE, MAP_SHARED, roll, 0);

	if (p == MAP_FAILED)
		return error_set(err, errno, "map the roll of sandboxes");
	e->roll = p;
	p = mem_share(bytes);
	if (!p || madvise(p, bytes, MADV_DONTFORK) < 0)
		return error_set(err, errno, "map the list of sandboxes");
	e->watched = p;
	return 0;
}

void ends_forget(struct ends *e)
{
	if (e->roll)
		munmap(e->roll, sizeof(*e->roll));
}

void ends_born(const struct ends *e, uint32_t number, pid_t pid)
{
	struct roll_entry *entry = &e->roll->entries[number % ROLL_ENTRIES];

	entry->pid = pid;
	__atomic_store_n(&entry->born, number, __ATOMIC_RELEASE);
}

void ends_watch(struct ends *e, uint32_t number)
{
	if (number && e->n < WATCHED_MAX)
		e->watched[e->n++] = (struct watched){ .number = number };
}

static bool watched_has_ended(const struct watched *w)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 ||
			info.si_pid != 0;
}

/*
 * Updates the nursery's data about a sandbox from the memory `roll`, where the owner notes closed
 * sandboxes. Returns true if the sandbox was closed, and its PID 1 has ended or was never born.
 */
static bool watched_is_over(const struct ends *e, struct watched *w, int64_t now)
{
	const struct roll_entry *entry = &e->roll->entries[w->number % ROLL_ENTRIES];

	if (!w->pid && __atomic_load_n(&entry->born, __ATOMIC_ACQUIRE) == w->number)
		w->pid = entry->pid;
	if (!w->closed_ns && __atomic_load_n(&entry->closed, __ATOMIC_RELAXED) == w->number)
		w->closed_ns = now;
	if (!w->closed_ns)
		return false;
	/* Wait for the end of PID 1 without a time limit if it was born. The kernel may need over
	 * 10 s to unmap all that the agent mapped. */
	return w->pid ? watched_has_ended(w) : now - w->closed_ns > NEVER_BORN_MS * NS_PER_MS;
}

static void ends_look(struct ends *e, int64_t now)
{
	for (size_t i = 0; i < e->n;)
		if (watched_is_over(e, &e->watched[i], now))
			e->watched[i] = e->watched[--e->n];
		else
			i++;
}

/*
 * Opens /proc/PID for PID 1 of sandboxes that did not end in time, at most ENDS_AT_ONCE. The
 * pid can't belong to another process: the kernel keeps it until PID 1 is reaped.
 */
static size_t ends_open_overdue(const struct ends *e, int64_t now, int procs[ENDS_AT_ONCE])
{
	size_t n = 0;

	for (size_t i = 0; i < e->n && n < ENDS_AT_ONCE; i++) {
		const struct watched *w = &e->watched[i];
		char path[32];

		if (!w->pid || !w->closed_ns || now - w->closed_ns <= OVERDUE_MS * NS_PER_MS)
			continue;
		snprintf(path, sizeof(path), "/proc/%d", (int)w->pid);
		procs[n] = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		n += procs[n] >= 0;
	}
	return n;
}

int ends_turn(struct ends *e)
{
	int64_t now = clock_now_ns();
	int procs[ENDS_AT_ONCE];
	size_t n;
	pid_t pid;

	if (!e->n)
		return 0;
	ends_look(e, now);
	if (e->worker || now - e->tried_ns < RETRY_MS * NS_PER_MS)
		return 0;
	n = ends_open_overdue(e, now, procs);
	if (!n)
		return 0;
	e->tried_ns = now;
	pid = guest_clone(0);
	for (size_t i = 0; i < n; i++) {
		if (pid == 0)
			namespace_end(procs[i]);
		close(procs[i]);
	}
	if (pid == 0)
		_exit(0);
	e->worker = pid > 0 ? pid : 0;
	return pid > 0;
}

void ends_reaped(struct ends *e, pid_t pid)
{
	if (pid == e->worker)
		e->worker = 0;
}

void ends_close_all(struct ends *e)
{
	int64_t now = clock_now_ns();

	ends_look(e, now);
	for (size_t i = 0; i < e->n; i++) {
		struct watched *w = &e->watched[i];

		if (!w->closed_ns)
			w->closed_ns = now;
		if (w->pid && !watched_has_ended(w))
			kill(w->pid, SIGKILL);
	}
}

bool ends_left(const struct ends *e)
{
	return e->n > 0;
}

int ends_pause_ms(const struct ends *e, int quiet_ms)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->watched[i].closed_ns)
			return CLOSED_PAUSE_MS;
	return quiet_ms;
}

int ends_open_next(const struct ends *e)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->watched[i].closed_ns && e->watched[i].pid)
			return (int)syscall(SYS_pidfd_open, e->watched[i].pid, 0);
	return -1;
}
