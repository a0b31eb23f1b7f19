/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/scope.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Episode after episode in one process, a few at once, driven by one thread: how many resets a second it
 * bears, and whether anything grows.
 */
#define AT_ONCE 4
#define EPISODES 20 /* for each sample that was asked for */
#define STEPS 10    /* of an episode */
#define CHUNK 20    /* episodes to a sample, where it is told how they spread */

struct soak {
	struct fh_gym *gym;
	struct fh_env *envs[AT_ONCE];
	int steps_left[AT_ONCE];
	int steps_each;
	long to_begin, over;
	int at_work;
};

/* --- driving ---------------------------------------------------------------------------------- */

/* The next step of its episode, or the next episode, or nothing. */
static int go_on(struct soak *s, size_t i, struct fh_error *err)
{
	if (s->steps_left[i] > 0) {
		s->steps_left[i]--;
		return fh_env_step_begin(s->envs[i], &(struct fh_action){ .text = "true" }, err);
	}
	s->over++;
	if (s->to_begin == 0) {
		s->at_work--;
		return 0;
	}
	s->to_begin--;
	s->steps_left[i] = s->steps_each;
	return fh_env_reset_begin(s->envs[i], 0, err);
}

static int take(struct soak *s, struct fh_env *env, struct fh_error *err)
{
	struct fh_step step;
	size_t i = 0;
	int r = fh_env_end(env, &step, err);

	if (r < 0)
		return r;
	if (step.outcome != FH_OUTCOME_OK)
		return error_say(err, EIO, "'true' failed: %s", step.observation);
	while (s->envs[i] != env)
		i++;
	return go_on(s, i, err);
}

static int turn(struct soak *s, struct fh_error *err)
{
	struct fh_env *done[AT_ONCE];
	int n = fh_gym_wait(s->gym, -1, done, AT_ONCE, err);
	int r = n < 0 ? n : bench_go_on(err);

	for (int i = 0; i < n && r == 0; i++)
		r = take(s, done[i], err);
	return r;
}

/* Samples: each episode's share of the time that `chunk` of them took. */
static int episodes(struct soak *s, long n, int steps_each, long chunk, struct samples *out,
		struct fh_error *err)
{
	int64_t began = clock_now_ns();
	long told = 0;
	int r = 0;

	s->steps_each = steps_each;
	s->to_begin = n;
	s->over = -AT_ONCE; /* what is begun ends none */
	s->at_work = AT_ONCE;
	for (size_t i = 0; i < AT_ONCE && r == 0; i++)
		r = go_on(s, i, err);
	while (s->at_work > 0 && r == 0) {
		r = turn(s, err);
		if (s->over - told >= chunk) {
			int64_t now = clock_now_ns();

			samples_add(out, (double)(now - began) / 1e3 / (double)(s->over - told));
			told = s->over;
			began = now;
		}
	}
	return r;
}

/* --- what is held ----------------------------------------------------------------------------- */

static const struct {
	const char *name, *unit;
	double (*held)(void);
	double most; /* goal: it grows by less */
} things[] = {
	{ "soak_memory", "bytes", proc_own_bytes, 1 << 20 },
	{ "soak_fds", "", proc_descriptors, 16 }, /* spares come and go */
	{ "soak_mounts", "", proc_mounts, 1 },
	{ "soak_groups", "", proc_groups, 8 * AT_ONCE },
};

static void look(double held[ARRAY_SIZE(things)])
{
	proc_settle();
	for (size_t i = 0; i < ARRAY_SIZE(things); i++)
		held[i] = things[i].held();
}

static void tell_growth(struct bench *b, const double before[], const double after[])
{
	for (size_t i = 0; i < ARRAY_SIZE(things); i++) {
		struct figure *f = bench_figure(b, things[i].unit, "%s", things[i].name);

		f->most = things[i].most;
		if (!isnan(after[i] - before[i]))
			samples_add(&f->ours, after[i] - before[i]);
	}
}

/* --- the suite -------------------------------------------------------------------------------- */

/* A tenth goes before the first look, so that what is made once is there. */
static int run(struct bench *b, struct soak *s, struct fh_error *err)
{
	struct figure *resets = bench_figure(b, "us", "sustained");
	struct figure *whole = bench_figure(b, "us", "soak");
	double before[ARRAY_SIZE(things)], after[ARRAY_SIZE(things)];
	struct samples warm_up = { 0 };
	long n = (long)b->n * EPISODES;
	int r = episodes(s, n / 10 + AT_ONCE, STEPS, CHUNK, &warm_up, err);

	free(warm_up.values);
	resets->most = 1000;
	look(before);
	if (r == 0) /* one sample of all: what is borne, hiccups included */
		r = episodes(s, n / 2, 0, n / 2, &resets->ours, err);
	if (r == 0)
		r = episodes(s, n, STEPS, CHUNK, &whole->ours, err);
	look(after);
	tell_growth(b, before, after);
	return r;
}

int suite_soak(struct bench *b, struct fh_error *err)
{
	struct soak s = { 0 };
	int r = fh_gym_open(NULL, &s.gym, err);

	for (size_t i = 0; i < AT_ONCE && r == 0; i++)
		r = bench_start(s.gym, &s.envs[i], err);
	if (r == 0)
		r = run(b, &s, err);
	for (size_t i = 0; i < AT_ONCE; i++)
		fh_env_close(s.envs[i]);
	fh_gym_close(s.gym);
	return r;
}
