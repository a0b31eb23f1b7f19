/* SPDX-License-Identifier: Apache-2.0 */
#include "trials.h"

#include "base/clock.h"
#include "base/scope.h"
#include "base/str.h"
#include "machine.h"
#include "play.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HANG_S 120
#define NO_MEMORY "fumehood: no memory is left\n"
#define SLOW_MS 10000 /* most ms of a play, besides ten times its time without a fault */

/* Tasks and scripts to play. The first does everything. The others pass a few more call sites. */
static const struct {
	const char *task;
	enum script script;
} plays[] = {
	{ "sums", SCRIPT_WHOLE },
	{ "coins:disk", SCRIPT_SUBMIT },
	{ "lines", SCRIPT_SUBMIT },
};

struct counts {
	unsigned sites, faults, missed, bad;
	int64_t last_ms, plain_ms; /* durations of the last play, and of the play without a fault */
	int64_t slowest_ms, longest_gone_ms;
};

static unsigned seed;
static int said_fd; /* standard error of played processes */
static unsigned seen[2][N_FAULT_CALLS];

/* Function of the leak sanitizer: true if memory has leaked since the last call. NULL if built
 * without it. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

int trials_set_up(void **state)
{
	const char *given = getenv("FAULT_SEED");

	seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)clock_ns(CLOCK_REALTIME);
	printf("fault: seed %u (FAULT_SEED)\n", seed);
	fault_spared = true;
	said_fd = memfd_create("said", MFD_CLOEXEC);
	if (said_fd < 0)
		return -errno;
	play_set_up();
	machine_watch();
	return fault_page_open();
}

int trials_tear_down(void **state)
{
	play_tear_down();
	return 0;
}

unsigned trials_sites_of(enum fault_side side, enum fault_call call)
{
	return seen[side][call];
}

/* --- one trial -------------------------------------------------------------------------------- */

static const char *leak_of(int fds)
{
	if (machine_wait_until_gone() < 0)
		return "a process is left";
	if (machine_open_fds() != fds)
		return "a descriptor is left";
	if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check())
		return "memory is left";
	return NULL;
}

/* Prints a backtrace of a process that hangs, then kills it. */
static void on_alarm(int number)
{
	void *frames[64];

	alarm(2); /* kill the process if printing hangs too */
	backtrace_symbols_fd(frames, backtrace(frames, ARRAY_SIZE(frames)), STDERR_FILENO);
	raise(number);
}

_Noreturn static void try_in_child(size_t number, enum fault_kind kind)
{
	const struct sigaction once = { .sa_handler = on_alarm,
		.sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
	struct play p;
	const char *wrong = NULL;
	int fds = machine_open_fds();
	bool good;

	sigaction(SIGALRM, &once, NULL);
	alarm(HANG_S);
	dup2(said_fd, STDERR_FILENO);
	machine_watch();
	good = play(&p, plays[number].task, plays[number].script);
	if (good)
		wrong = leak_of(fds);
	if (good && !wrong && p.felt && !atomic_load(&fault_page->armed))
		wrong = "something is felt without a fault";
	if (good && !wrong && kind == FAULT_KILL && p.failed_resets)
		wrong = "a death beneath a reset is felt";
	snprintf(fault_page->trouble, sizeof(fault_page->trouble), "%s",
			good && wrong ? wrong : p.trouble);
	_exit(!good || wrong);
}

/* Returns what the played process wrote to standard error, and empties the file. Prints the text
 * too, unless it is NO_MEMORY. */
static const char *hear(void)
{
	static char text[4096];
	ssize_t n = pread(said_fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (!str_eq(text, NO_MEMORY))
		fputs(text, stderr);
	if (ftruncate(said_fd, 0) < 0 || lseek(said_fd, 0, SEEK_SET) < 0)
		abort();
	return text;
}

static const char *what_ended(size_t number, int status, enum fault_kind kind)
{
	static char text[64];
	uint64_t key = atomic_load(&fault_page->armed);
	bool sentence = strstr(hear(), NO_MEMORY) != NULL;

	if (WIFEXITED(status))
		return WEXITSTATUS(status) ? fault_page->trouble : NULL;
	if (WTERMSIG(status) == SIGALRM) {
		snprintf(text, sizeof(text), "hangs in %s",
				play_phase_name(plays[number].script,
						atomic_load(&fault_page->phase)));
		return text;
	}
	if (kind == FAULT_KILL && WTERMSIG(status) == SIGKILL)
		return NULL;
	if (key && fault_is_of_memory(key) && WTERMSIG(status) == SIGABRT && sentence)
		return NULL;
	snprintf(text, sizeof(text), "crashes with signal %d", WTERMSIG(status));
	return text;
}

/* Plays in a new process, with or without a fault. Returns NULL, or what went wrong. */
static const char *try(size_t number, const struct campaign *c, struct counts *counts)
{
	static struct play after;
	int64_t begun = clock_now_ns(), ms;
	const char *wrong;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		try_in_child(number, c->kind);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	wrong = what_ended(number, status, c->kind);
	ms = (clock_now_ns() - begun) / NS_PER_MS;
	if (ms > counts->slowest_ms)
		counts->slowest_ms = ms;
	counts->last_ms = ms;
	if (!wrong && ms > SLOW_MS + 10 * counts->plain_ms)
		wrong = "takes more than 10 s";
	ms = machine_wait_until_gone();
	machine_wait_until_gone(); /* reaps processes that the first call killed */
	if (ms > counts->longest_gone_ms)
		counts->longest_gone_ms = ms;
	if (!wrong && ms < 0)
		wrong = "a process is left after 20 s";
	after.trouble[0] = '\0';
	if (!wrong && !play_read_records(&after))
		wrong = after.trouble;
	return wrong;
}

/* --- all trials ------------------------------------------------------------------------------- */

static bool fits(const struct campaign *c, uint64_t key)
{
	/* Skip waitpid() in guests: it can't fail, as there is a child and it does not wait. */
	if (c->side == FAULT_GUEST && fault_call_of(key) == CALL_waitpid && c->kind != FAULT_KILL)
		return false;
	switch (c->kind) {
	case FAULT_INTR:
		return fault_interruptible(key);
	case FAULT_SHORT:
		return fault_may_be_short(key);
	case FAULT_NONE:
	case FAULT_ERROR:
	case FAULT_KILL:
		break;
	}
	return true;
}

static void fail_at(size_t number, const struct campaign *c, uint64_t key, unsigned pass,
		struct counts *counts)
{
	const char *wrong;
	unsigned hits;

	fault_arm(key, pass, c->kind);
	wrong = try(number, c, counts);
	hits = fault_disarm();
	counts->faults += hits;
	counts->missed += !hits;
	counts->bad += wrong != NULL;
	if (wrong)
		printf("fault: %s, pass %u, in %s of %s: %s\n", fault_name(key), pass,
				hits ? play_phase_name(plays[number].script,
						       atomic_load(&fault_page->hit_phase))
				     : "no act",
				plays[number].task, wrong);
}

/* Injects a fault at a random pass of a call site, or at each pass if FAULT_ALL is set. */
static void fail_site(size_t number, const struct campaign *c, const struct fault_site *s,
		struct counts *counts)
{
	bool all = getenv("FAULT_ALL") != NULL;

	counts->sites++;
	if (!all)
		fail_at(number, c, s->key, 1 + (unsigned)rand_r(&seed) % s->passes, counts);
	for (unsigned pass = 1; all && pass <= s->passes; pass++)
		fail_at(number, c, s->key, pass, counts);
}

static bool was_tried(const uint64_t *tried, size_t n, uint64_t key)
{
	for (size_t i = 0; i < n; i++)
		if (tried[i] == key)
			return true;
	return false;
}

unsigned trials_run(const struct campaign *c)
{
	static struct fault_site sites[FAULT_SITES_MAX];
	static uint64_t tried[FAULT_SITES_MAX];
	struct counts counts = { 0 };
	size_t n_tried = 0;

	for (size_t i = 0; i < ARRAY_SIZE(plays); i++) {
		const char *wrong;

		try(i, c, &counts); /* measures the task's baseline once */
		fault_watch(true);
		wrong = try(i, c, &counts);
		counts.plain_ms = counts.last_ms;
		fault_watch(false);
		if (wrong) {
			printf("fault: %s without a fault: %s\n", plays[i].task, wrong);
			counts.bad++;
			continue;
		}
		memcpy(sites, fault_page->sites, sizeof(sites));
		for (size_t k = 0; k < FAULT_SITES_MAX; k++) {
			uint64_t key = sites[k].key;

			if (!key || fault_side_of(key) != c->side || !fits(c, key) ||
					was_tried(tried, n_tried, key))
				continue;
			tried[n_tried++] = key;
			seen[c->side][fault_call_of(key)]++;
			fail_site(i, c, &sites[k], &counts);
		}
	}
	printf("fault: %s: %u faults in %u places, %u not met again; slowest play %lld ms, "
	       "everything gone in %lld ms or less; %u wrong\n",
			c->name, counts.faults, counts.sites, counts.missed,
			(long long)counts.slowest_ms, (long long)counts.longest_gone_ms,
			counts.bad);
	return counts.bad;
}
