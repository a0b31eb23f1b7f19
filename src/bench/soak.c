/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/scope.h"
#include "bench/episode.h"
#include "bench/proc.h"
#include "bench/suites.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Plays episode after episode in one process, a few at once, driven by one thread. Measures the
 * time of an episode, and the growth of memory, descriptors, mounts and control groups.
 */

#define SOAK_AT_ONCE 4
#define SOAK_EPISODES 20 /* episodes for each sample that the user asked for */
#define SOAK_STEPS 10    /* steps of an episode */
#define CHUNK 20         /* episodes that make one sample, in figures with percentiles */

struct soak {
	struct fh_gym *gym;
	struct fh_env *envs[SOAK_AT_ONCE];
	int steps_left[SOAK_AT_ONCE];
	int steps_each;
	long to_begin, over;
	int at_work;
};

/* --- driving ---------------------------------------------------------------------------------- */

/* Begins the next step of an environment, or its next episode if any is left to begin. */
static int soak_go_on(struct soak *s, size_t i, struct fh_error *err)
{
	if (s->steps_left[i] > 0) {
		s->steps_left[i]--;
		return fh_env_step_start(s->envs[i], &FH_ACTION(.text = "true"), err);
	}
	s->over++;
	if (s->to_begin == 0) {
		s->at_work--;
		return 0;
	}
	s->to_begin--;
	s->steps_left[i] = s->steps_each;
	return fh_env_reset_start(s->envs[i], NULL, err);
}

/* Waits for results. Each environment with a result begins its next step. */
static int soak_turn(struct soak *s, struct fh_error *err)
{
	struct fh_env *done[SOAK_AT_ONCE];
	struct fh_step step;
	int n = fh_gym_wait(s->gym, -1, done, SOAK_AT_ONCE, err);

	for (int i = 0; i < n; i++) {
		size_t k = 0;
		int r = fh_env_end(done[i], &step, err);

		if (r < 0)
			return r;
		if (step.outcome != FH_OUTCOME_OK)
			return error_say(err, EIO, "'true' failed: %s", step.observation);
		while (s->envs[k] != done[i])
			k++;
		r = soak_go_on(s, k, err);
		if (r < 0)
			return r;
	}
	return n < 0 ? n : bench_go_on(err);
}

/* Plays n episodes. A sample is the time of `chunk` episodes, divided by `chunk`. */
static int soak_play(struct soak *s, long n, int steps_each, long chunk, struct samples *out,
		struct fh_error *err)
{
	int64_t began = clock_now_ns();
	long counted = 0;
	int r;

	s->steps_each = steps_each;
	s->to_begin = n;
	/* the first SOAK_AT_ONCE calls of soak_go_on() begin episodes and end none */
	s->over = -SOAK_AT_ONCE;
	s->at_work = SOAK_AT_ONCE;
	for (size_t i = 0; i < SOAK_AT_ONCE; i++) {
		r = soak_go_on(s, i, err);
		if (r < 0)
			return r;
	}
	while (s->at_work > 0) {
		r = soak_turn(s, err);
		if (r < 0)
			return r;
		if (s->over - counted < chunk)
			continue;
		samples_add(out, bench_us_since(began) / (double)(s->over - counted));
		counted = s->over;
		began = clock_now_ns();
	}
	return 0;
}

/* --- resources -------------------------------------------------------------------------------- */

static const struct soak_resource {
	const char *name, *unit;
	double (*held)(void);
	double most; /* goal: the use of the resource grows by less than this */
	/* The resource is counted only for this process and its children. So other processes can't
	 * change the count. */
	bool is_own;
} soak_resources[] = {
	{ "soak_memory", "bytes", proc_own_bytes, 1 << 20, true },
	/* Allow growth: Fumehood keeps a changing number of sandboxes ready for later episodes, and
	 * each has descriptors. */
	{ "soak_fds", "", proc_descriptors, 16, true },
	{ "soak_mounts", "", proc_mounts, 1, true },
	{ "soak_groups", "", proc_groups, 8 * SOAK_AT_ONCE, false },
};

static void soak_look(double held[ARRAY_SIZE(soak_resources)])
{
	proc_settle();
	for (size_t i = 0; i < ARRAY_SIZE(soak_resources); i++)
		held[i] = soak_resources[i].held();
}

/* --- the suite -------------------------------------------------------------------------------- */

/* Plays all episodes and compares resources before and after. A tenth of the episodes is played
 * first, to open resources that are opened only once. */
static int soak_measure(struct bench *b, struct soak *s, struct fh_error *err)
{
	struct figure *resets = bench_figure(b, "us", "sustained");
	struct figure *whole = bench_figure(b, "us", "soak");
	double before[ARRAY_SIZE(soak_resources)], after[ARRAY_SIZE(soak_resources)];
	struct samples warm_up = { 0 };
	long n = (long)b->n * SOAK_EPISODES;
	int r = soak_play(s, n / 10 + SOAK_AT_ONCE, SOAK_STEPS, CHUNK, &warm_up, err);

	free(warm_up.values);
	if (r < 0)
		return r;
	resets->most = 1000;
	soak_look(before);
	/* Take a single sample, the mean time of all episodes, so that pauses between episodes
	 * count. */
	r = soak_play(s, n / 2, 0, n / 2, &resets->ours, err);
	if (r < 0)
		return r;
	r = soak_play(s, n, SOAK_STEPS, CHUNK, &whole->ours, err);
	if (r < 0)
		return r;
	soak_look(after);
	for (size_t i = 0; i < ARRAY_SIZE(soak_resources); i++) {
		const struct soak_resource *resource = &soak_resources[i];
		struct figure *f = bench_figure(b, resource->unit, "%s", resource->name);

		f->most = resource->most;
		f->counts_own = resource->is_own;
		if (!isnan(after[i] - before[i]))
			samples_add(&f->ours, after[i] - before[i]);
	}
	return 0;
}

static int soak_start_and_measure(struct bench *b, struct soak *s, struct fh_error *err)
{
	for (size_t i = 0; i < SOAK_AT_ONCE; i++) {
		int r = bench_start(s->gym, BENCH_TASK, &s->envs[i], err);

		if (r < 0)
			return r;
	}
	return soak_measure(b, s, err);
}

int suite_soak(struct bench *b, struct fh_error *err)
{
	struct soak s = { 0 };
	int r = fh_gym_open(NULL, &s.gym, err);

	if (r < 0)
		return r;
	r = soak_start_and_measure(b, &s, err);
	for (size_t i = 0; i < SOAK_AT_ONCE; i++)
		fh_env_close(s.envs[i]);
	fh_gym_close(s.gym);
	return r;
}
