/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/mem.h"
#include "base/scope.h"
#include "bench/episode.h"
#include "bench/floors.h"
#include "bench/proc.h"
#include "bench/suites.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Measures starts and steps of episodes while many other episodes are alive, all in one thread. */

#define DESCRIPTORS_EACH 6 /* most descriptors of an episode: 5, and one more while it begins */
/* Goal for the mean number of descriptors of an episode. Each has 5 of its own. The rest is for one
 * or two more that all episodes share. */
#define DESCRIPTORS_MOST 5.05
#define DESCRIPTORS_SPARE 200
#define ALIVE_WARM_UP 5
#define MEMORY_MOST (2 << 20)
/* Fewest episodes for which memory and descriptors are compared with their goals. With fewer,
 * changes in the memory of other processes are larger than the memory of the episodes. */
#define JUDGED_FEWEST 100

struct alive {
	struct fh_gym *gym;
	struct fh_env **envs; /* environments; the first n are open */
	size_t n;
	/* kernel memory in bytes, and open descriptors, before the first episode */
	double kernel_bytes, descriptors;
	int batch;
};

/* Measurements while a certain number of episodes is alive. */
struct alive_row {
	struct figure *reset, *step, *burst, *memory, *fds;
};

static int alive_allow_descriptors(size_t n_episodes, struct fh_error *err)
{
	rlim_t need = n_episodes * DESCRIPTORS_EACH + DESCRIPTORS_SPARE;
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < need)
		limit.rlim_cur = need < limit.rlim_max ? need : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < need)
		return error_say(err, EMFILE,
				"%zu episodes need %llu descriptors, and this process may have %llu "
				"(ulimit -n)",
				n_episodes, (unsigned long long)need,
				(unsigned long long)limit.rlim_cur);
	return 0;
}

/* --- figures ---------------------------------------------------------------------------------- */

static int alive_grow(struct alive *a, size_t n, struct fh_error *err)
{
	int r = alive_allow_descriptors(n, err);

	if (r < 0)
		return r;
	while (a->n < n) {
		r = bench_start(a->gym, BENCH_TASK, &a->envs[a->n], err);
		if (r < 0)
			return r;
		a->n++;
		r = bench_go_on(err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int alive_begin_step(struct fh_env *env, struct fh_error *err)
{
	return fh_env_step_start(env, &FH_ACTION(.text = "true"), err);
}

/* Waits for the results of n steps that have begun. */
static int alive_end_steps(struct alive *a, size_t n, struct fh_error *err)
{
	struct fh_env *done[64];
	struct fh_step step;

	while (n) {
		int r, got = fh_gym_wait(a->gym, -1, done, ARRAY_SIZE(done), err);

		if (got < 0)
			return got;
		for (int i = 0; i < got; i++) {
			r = fh_env_end(done[i], &step, err);
			if (r < 0)
				return r;
			if (step.outcome != FH_OUTCOME_OK)
				return error_say(err, EIO, "'true' failed: %s", step.observation);
		}
		n -= (size_t)got;
		r = got ? 0 : bench_go_on(err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Times single steps, each in the next episode, while all others are idle. */
static int alive_steps(struct alive *a, struct samples *out, struct fh_error *err)
{
	static size_t turn;

	for (int i = 0; i < a->batch; i++) {
		int64_t began = clock_now_ns();
		int r = alive_begin_step(a->envs[turn++ % a->n], err);

		if (r < 0)
			return r;
		r = alive_end_steps(a, 1, err);
		if (r < 0)
			return r;
		samples_add(out, bench_us_since(began));
	}
	return 0;
}

/* Times bursts: a step begins in all episodes at once. A sample is the time until all end, divided
 * by the number of episodes. The first burst warms the caches, and is not a sample. */
static int alive_bursts(struct alive *a, struct samples *out, struct fh_error *err)
{
	for (size_t k = 0; k < 3 + (size_t)a->batch / a->n; k++) {
		int64_t began = clock_now_ns();
		int r;

		for (size_t i = 0; i < a->n; i++) {
			r = alive_begin_step(a->envs[i], err);
			if (r < 0)
				return r;
		}
		r = alive_end_steps(a, a->n, err);
		if (r < 0)
			return r;
		if (k)
			samples_add(out, bench_us_since(began) / (double)a->n);
	}
	return 0;
}

/* Times the start of one more episode until its first command, while the others are alive. */
static int alive_resets(struct alive *a, struct samples *out, struct fh_error *err)
{
	struct life life;

	for (int i = 0; i < a->batch; i++) {
		int r = bench_go_on(err);

		if (r < 0)
			return r;
		r = bench_live(a->gym, BENCH_TASK, &life, err);
		if (r < 0)
			return r;
		samples_add(out, life.answered);
	}
	return 0;
}

/* --- the suite -------------------------------------------------------------------------------- */

static struct alive_row alive_make_row(struct bench *b, int n, const struct alive_row *first)
{
	struct alive_row row = {
		.reset = bench_figure(b, "us", "reset@%d", n),
		.step = bench_figure(b, "us", "step@%d", n),
		.burst = bench_figure(b, "us", "burst@%d", n),
		.memory = bench_figure(b, "bytes", "memory@%d", n),
		.fds = bench_figure(b, "", "fds@%d", n),
	};

	row.fds->counts_own = true;
	if (n >= JUDGED_FEWEST) {
		row.memory->most = MEMORY_MOST;
		row.fds->most = DESCRIPTORS_MOST;
	}
	if (first->reset) {
		row.reset->most_ratio = row.step->most_ratio = row.burst->most_ratio = 2;
		row.reset->against = first->reset;
		row.step->against = row.burst->against = first->step;
	} else {
		row.reset->most_ratio = RESET_MOST;
	}
	return row;
}

static int alive_round(struct alive *a, const struct alive_row *row, struct fh_error *err)
{
	auto_free char *shells = xasprintf("%zu", a->n);
	int r = floor_run("floor_step", a->batch, (const char *[]){ "free", shells, NULL },
			&row->step->floor, err);

	if (r < 0)
		return r;
	r = alive_bursts(a, &row->burst->ours, err);
	if (r < 0)
		return r;
	r = alive_steps(a, &row->step->ours, err);
	if (r < 0)
		return r;
	r = floor_run("floor_reset", a->batch, NULL, &row->reset->floor, err);
	return r < 0 ? r : alive_resets(a, &row->reset->ours, err);
}

static int alive_measure(struct alive *a, const struct alive_row *row, struct fh_error *err)
{
	for (int round = 0; round < BENCH_ROUNDS; round++) {
		int r = alive_round(a, row, err);

		if (r < 0)
			return r;
	}
	proc_settle();
	bench_memory(a->kernel_bytes, a->n, &row->memory->ours);
	samples_add(&row->fds->ours, (proc_descriptors() - a->descriptors) / (double)a->n);
	return 0;
}

static int alive_rows(struct bench *b, struct alive *a, struct fh_error *err)
{
	struct alive_row first = { 0 };
	struct life warm;
	int r;

	/* Play some episodes first, so that resources that an owner opens once are not counted for
	 * the first episode. */
	for (int i = 0; i < ALIVE_WARM_UP; i++) {
		r = bench_live(a->gym, BENCH_TASK, &warm, err);
		if (r < 0)
			return r;
	}
	proc_settle();
	a->kernel_bytes = proc_kernel_bytes();
	a->descriptors = proc_descriptors();
	for (size_t i = 0; i < b->n_alive; i++) {
		struct alive_row row = alive_make_row(b, b->alive[i], &first);

		if (i == 0)
			first = row;
		r = alive_grow(a, (size_t)b->alive[i], err);
		if (r < 0)
			return r;
		r = alive_measure(a, &row, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int suite_alive(struct bench *b, struct fh_error *err)
{
	struct alive a = { .batch = bench_batch(b) };
	int r;

	if (!b->n_alive)
		return 0;
	r = fh_gym_open(NULL, &a.gym, err);
	if (r < 0)
		return r;
	a.envs = xcalloc((size_t)b->alive[b->n_alive - 1], sizeof(struct fh_env *));
	r = alive_rows(b, &a, err);
	while (a.n)
		fh_env_close(a.envs[--a.n]);
	fh_gym_close(a.gym);
	free(a.envs);
	return r;
}
