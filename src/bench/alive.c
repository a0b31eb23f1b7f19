/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/scope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

/* What episodes cost each other: the same figures with many of them alive, driven by one thread. */

#define DESCRIPTORS_EACH 6    /* 5, and one while it begins */
#define DESCRIPTORS_MOST 5.05 /* one or two are of all together */
#define DESCRIPTORS_SPARE 200
#define WARM_UP 5
#define MEMORY_MOST (2 << 20)
#define JUDGED_FEWEST 100 /* what fewer have drowns in what else there is */

struct alive {
	struct fh_gym *gym;
	struct fh_env **envs; /* n alive, of size */
	size_t n, size;
	double kernel_bytes, descriptors; /* before the first */
	int batch;
};

/* The figures of one number of episodes. */
struct alive_row {
	struct figure *reset, *step, *burst, *memory, *fds;
};

static int allow_descriptors(size_t n_episodes, struct fh_error *err)
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

static int grow(struct alive *a, size_t n, struct fh_error *err)
{
	int r = allow_descriptors(n, err);

	while (a->n < n && r == 0) {
		r = bench_start(a->gym, &a->envs[a->n], err);
		if (r == 0)
			a->n++;
		if (r == 0)
			r = bench_go_on(err);
	}
	return r;
}

static int begin_step(struct fh_env *env, struct fh_error *err)
{
	return fh_env_step_begin(env, &(struct fh_action){ .text = "true" }, err);
}

/* Takes n results of steps that were begun. */
static int end_steps(struct alive *a, size_t n, struct fh_error *err)
{
	struct fh_env *done[64];
	struct fh_step step;

	while (n) {
		int got = fh_gym_wait(a->gym, -1, done, ARRAY_SIZE(done), err);

		if (got < 0)
			return got;
		for (int i = 0; i < got; i++) {
			int r = fh_env_end(done[i], &step, err);

			if (r < 0)
				return r;
			if (step.outcome != FH_OUTCOME_OK)
				return error_say(err, EIO, "'true' failed: %s", step.observation);
		}
		n -= (size_t)got;
		if (got == 0) {
			int r = bench_go_on(err);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* One episode after the other: what a step takes among so many. */
static int steps_in_turn(struct alive *a, struct samples *out, struct fh_error *err)
{
	static size_t turn;
	int r = 0;

	for (int i = 0; i < a->batch && r == 0; i++) {
		int64_t began = clock_now_ns();

		r = begin_step(a->envs[turn++ % a->n], err);
		if (r == 0)
			r = end_steps(a, 1, err);
		if (r == 0)
			samples_add(out, (double)(clock_now_ns() - began) / 1e3);
	}
	return r;
}

/* All at once: what each takes of the time for all. */
static int burst(struct alive *a, struct samples *out, struct fh_error *err)
{
	int64_t began = clock_now_ns();
	int r = 0;

	for (size_t i = 0; i < a->n && r == 0; i++)
		r = begin_step(a->envs[i], err);
	if (r == 0)
		r = end_steps(a, a->n, err);
	if (r == 0 && out)
		samples_add(out, (double)(clock_now_ns() - began) / 1e3 / (double)a->n);
	return r;
}

/* One after the other. What ran since the last ones may have taken their place in the caches. */
static int bursts(struct alive *a, struct samples *out, struct fh_error *err)
{
	int r = burst(a, NULL, err);

	for (size_t i = 0; i < 2 + (size_t)a->batch / a->n && r == 0; i++)
		r = burst(a, out, err);
	return r;
}

/* One more than those that are alive. */
static int resets(struct alive *a, struct samples *out, struct fh_error *err)
{
	struct life life;
	int r = 0;

	for (int i = 0; i < a->batch && r == 0; i++) {
		r = bench_go_on(err);
		if (r == 0)
			r = bench_live(a->gym, &life, err);
		if (r == 0)
			samples_add(out, life.answered);
	}
	return r;
}

static void memory(struct alive *a, struct samples *out)
{
	auto_free pid_t *inits = NULL;
	double kernel = (proc_kernel_bytes() - a->kernel_bytes) / (double)a->n;
	size_t n = proc_sandboxes(&inits);

	for (size_t i = 0; i < n; i++) {
		double own = proc_memory_bytes(inits[i]);

		if (own > 0)
			samples_add(out, own + (kernel > 0 ? kernel : 0));
	}
}

/* --- the suite -------------------------------------------------------------------------------- */

static struct alive_row make_row(struct bench *b, int n, const struct alive_row *first)
{
	struct alive_row row = {
		.reset = bench_figure(b, "us", "reset@%d", n),
		.step = bench_figure(b, "us", "step@%d", n),
		.burst = bench_figure(b, "us", "burst@%d", n),
		.memory = bench_figure(b, "bytes", "memory@%d", n),
		.fds = bench_figure(b, "", "fds@%d", n),
	};

	if (n >= JUDGED_FEWEST) {
		row.memory->most = MEMORY_MOST;
		row.fds->most = DESCRIPTORS_MOST;
	}
	if (first->reset) {
		row.reset->most_ratio = row.step->most_ratio = 2;
		row.reset->against = first->reset;
		row.step->against = first->step;
		row.burst->most_ratio = 2;
		row.burst->against = first->step;
	} else {
		row.reset->most_ratio = RESET_MOST;
	}
	return row;
}

static int measure(struct alive *a, const struct alive_row *row, struct fh_error *err)
{
	char shells[16];
	int r = 0;

	snprintf(shells, sizeof(shells), "%zu", a->n);
	for (int round = 0; round < BENCH_ROUNDS && r == 0; round++) {
		r = floor_run("step", a->batch, (const char *[]){ "free", shells, NULL },
				&row->step->floor, err);
		if (r == 0)
			r = bursts(a, &row->burst->ours, err);
		if (r == 0)
			r = steps_in_turn(a, &row->step->ours, err);
		if (r == 0)
			r = floor_run("reset", a->batch, NULL, &row->reset->floor, err);
		if (r == 0)
			r = resets(a, &row->reset->ours, err);
	}
	proc_settle();
	memory(a, &row->memory->ours);
	samples_add(&row->fds->ours, (proc_descriptors() - a->descriptors) / (double)a->n);
	return r;
}

static int rows(struct bench *b, struct alive *a, struct fh_error *err)
{
	struct alive_row first = { 0 };
	struct life warm;
	int r = 0;

	/* What an owner keeps for sandboxes to come is not the first one's. */
	for (int i = 0; i < WARM_UP && r == 0; i++)
		r = bench_live(a->gym, &warm, err);
	fh_gym_fd(a->gym); /* nor is what they are waited for with */
	proc_settle();
	a->kernel_bytes = proc_kernel_bytes();
	a->descriptors = proc_descriptors();
	for (size_t i = 0; i < b->n_alive && r == 0; i++) {
		struct alive_row row = make_row(b, b->alive[i], &first);

		if (i == 0)
			first = row;
		r = grow(a, (size_t)b->alive[i], err);
		if (r == 0)
			r = measure(a, &row, err);
	}
	return r;
}

int suite_alive(struct bench *b, struct fh_error *err)
{
	struct alive a = { .batch = bench_batch(b) };
	int r;

	if (!b->n_alive)
		return 0;
	a.envs = xcalloc((size_t)b->alive[b->n_alive - 1], sizeof(struct fh_env *));
	r = fh_gym_open(NULL, &a.gym, err);
	if (r == 0)
		r = rows(b, &a, err);
	while (a.n)
		fh_env_close(a.envs[--a.n]);
	fh_gym_close(a.gym);
	free(a.envs);
	return r;
}
