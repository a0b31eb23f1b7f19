/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "task/task.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What is measured of one episode: its life, its steps, and the scoring of a submission. */

#define MAX_STEPS 1000000000
#define WARM_UP 20
#define REST_US 5000 /* before each reset, as its floor rests; `sustained` is without */
#define END_MS 10000 /* a sandbox that takes longer to end is stuck */

static double us_since(int64_t began_ns)
{
	return (double)(clock_now_ns() - began_ns) / 1e3;
}

static int open_env(struct fh_gym *gym, struct fh_env **out, struct fh_error *err)
{
	return fh_env_open(gym,
			&(struct fh_env_options){ .task = BENCH_TASK, .max_steps = MAX_STEPS }, out,
			err);
}

int bench_start(struct fh_gym *gym, struct fh_env **out, struct fh_error *err)
{
	struct fh_env *env;
	struct fh_step step;
	int r = open_env(gym, &env, err);

	if (r < 0)
		return r;
	r = fh_env_reset(env, 0, &step, err);
	if (r < 0)
		fh_env_close(env);
	else
		*out = env;
	return r;
}

int bench_step(struct fh_env *env, const char *command, double *out_us, struct fh_error *err)
{
	int64_t began = clock_now_ns();
	struct fh_step step;
	int r = fh_env_step(env, &(struct fh_action){ .text = command }, &step, err);

	if (r < 0)
		return r;
	*out_us = us_since(began);
	if (step.outcome != FH_OUTCOME_OK || step.exit_code != 0)
		return error_say(err, EIO, "'%s' failed: %s", command, step.observation);
	return 0;
}

/* --- life and death --------------------------------------------------------------------------- */

/* A pidfd of the sandbox that was made last, to see it end. */
static int newest_sandbox(struct fh_error *err)
{
	auto_free pid_t *list = NULL;
	size_t n = proc_sandboxes(&list);
	int fd = n ? (int)syscall(SYS_pidfd_open, list[n - 1], 0) : -1;

	return fd < 0 ? error_say(err, ESRCH, "can't find the sandbox in /proc") : fd;
}

static int begin_life(struct fh_env *env, struct life *out, struct fh_error *err)
{
	int64_t began = clock_now_ns();
	struct fh_step step;
	double took;
	int r = fh_env_reset(env, 0, &step, err);

	if (r < 0)
		return r;
	out->observed = us_since(began);
	r = bench_step(env, "true", &took, err);
	out->answered = us_since(began);
	return r;
}

int bench_live(struct fh_gym *gym, struct life *out, struct fh_error *err)
{
	auto_close int pidfd = -1;
	struct fh_env *env;
	int64_t began;
	int r = open_env(gym, &env, err);

	if (r < 0)
		return r;
	usleep(REST_US);
	r = begin_life(env, out, err);
	if (r == 0)
		r = pidfd = newest_sandbox(err);
	began = clock_now_ns();
	fh_env_close(env);
	if (r < 0)
		return r;
	if (poll(&(struct pollfd){ .fd = pidfd, .events = POLLIN }, 1, END_MS) != 1)
		return error_say(err, ETIMEDOUT, "a sandbox did not end");
	out->ended = us_since(began);
	return 0;
}

static int lives(struct bench *b, struct fh_gym *gym, struct figure *const *figures,
		struct fh_error *err)
{
	struct life life;
	int r = bench_go_on(err);

	for (int i = 0; i < bench_batch(b) && r == 0; i++) {
		r = bench_live(gym, &life, err);
		if (r < 0)
			return r;
		samples_add(&figures[0]->ours, life.answered);
		samples_add(&figures[1]->ours, life.observed);
		samples_add(&figures[2]->ours, life.ended);
		r = bench_go_on(err);
	}
	return r;
}

int suite_reset(struct bench *b, struct fh_error *err)
{
	struct figure *figures[] = { bench_figure(b, "us", "reset"),
		bench_figure(b, "us", "observation"), bench_figure(b, "us", "teardown") };
	struct fh_gym *gym;
	struct life first;
	int r = fh_gym_open(NULL, &gym, err);

	if (r < 0)
		return r;
	figures[0]->most_ratio = figures[1]->most_ratio = RESET_MOST;
	figures[2]->most_ratio = 1;
	r = bench_live(gym, &first, err);
	for (int round = 0; round < BENCH_ROUNDS && r == 0; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(figures) && r == 0; i++)
			r = floor_run("reset", bench_batch(b) / 3 + 1, NULL, &figures[i]->floor,
					err);
		if (r == 0)
			r = lives(b, gym, figures, err);
	}
	fh_gym_close(gym);
	return r;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Where the owner and the shell of an episode run: nth CPUs that this process may use. */
struct placement {
	const char *name, *floor;
	int owner, shell; /* -1: wherever the kernel puts it */
	double most_ratio, most_over;
};

static const struct placement placements[] = {
	{ "step", "free", -1, -1, .most_ratio = 1 },
	{ "step_one_cpu", "one", 0, 0, .most_over = 3 },
	{ "step_two_cpus", "two", 0, 1, .most_ratio = 1 },
};

static int pin(const cpu_set_t *allowed, int nth, struct fh_error *err)
{
	cpu_set_t set = *allowed;

	if (nth >= 0) {
		int cpu = 0;

		while (cpu < CPU_SETSIZE && (!CPU_ISSET(cpu, allowed) || nth-- > 0))
			cpu++;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
	}
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return error_set(err, errno, "run on one CPU");
	return 0;
}

static int steps(struct bench *b, struct fh_env *env, struct samples *out, struct fh_error *err)
{
	int r = bench_go_on(err);

	for (int i = -WARM_UP; i < bench_batch(b) && r == 0; i++) {
		double us;

		r = bench_step(env, "true", &us, err);
		if (r == 0 && i >= 0)
			samples_add(out, us);
	}
	return r;
}

/* The nursery, and what it clones, stays on the CPU that it was started on. */
static int step_rounds(struct bench *b, const struct placement *p, const cpu_set_t *allowed,
		struct fh_error *err)
{
	struct figure *f = bench_figure(b, "us", "%s", p->name);
	struct fh_gym *gym = NULL;
	struct fh_env *env = NULL;
	int r = pin(allowed, p->shell, err);

	f->most_ratio = p->most_ratio;
	f->most_over = p->most_over;
	if (r == 0)
		r = fh_gym_open(NULL, &gym, err);
	if (r == 0)
		r = bench_start(gym, &env, err);
	for (int round = 0; round < BENCH_ROUNDS && r == 0; round++) {
		r = pin(allowed, -1, err);
		if (r == 0)
			r = floor_run("step", bench_batch(b), (const char *[]){ p->floor, NULL },
					&f->floor, err);
		if (r == 0)
			r = pin(allowed, p->owner, err);
		if (r == 0)
			r = steps(b, env, &f->ours, err);
	}
	fh_env_close(env);
	fh_gym_close(gym);
	return r;
}

int suite_step(struct bench *b, struct fh_error *err)
{
	cpu_set_t allowed;
	int r = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return error_set(err, errno, "ask for the CPUs of this process");
	for (size_t i = 0; i < ARRAY_SIZE(placements) && r == 0; i++)
		if (placements[i].shell < CPU_COUNT(&allowed))
			r = step_rounds(b, &placements[i], &allowed, err);
	sched_setaffinity(0, sizeof(allowed), &allowed);
	return r;
}

/* --- scoring ---------------------------------------------------------------------------------- */

/* Episodes of the task, one after another: each may validate only so often. */
struct scoring {
	struct fh_env *env;
	struct task *task;
	int n_validated; /* in this episode */
};

static int scoring_submit(struct scoring *s, struct fh_error *err)
{
	double us;

	s->n_validated = 0;
	return bench_step(s->env, "cp data/sample_submission.csv submission.csv", &us, err);
}

/* Another episode, once this one may validate no more. */
static int scoring_renew(struct scoring *s, struct fh_error *err)
{
	int most = s->task->grader.validations;
	struct fh_step step;
	int r;

	if (!most || s->n_validated < most)
		return 0;
	r = fh_env_reset(s->env, 0, &step, err);
	return r < 0 ? r : scoring_submit(s, err);
}

static int scoring_validate(struct scoring *s, struct samples *out, struct fh_error *err)
{
	struct fh_step step;
	int64_t began;
	int r = scoring_renew(s, err);

	if (r < 0)
		return r;
	began = clock_now_ns();
	r = fh_env_validate(s->env, &step, err);
	if (r < 0)
		return r;
	if (!step.n_score)
		return error_say(err, EIO, "not scored: %s", step.observation);
	s->n_validated++;
	samples_add(out, us_since(began));
	return bench_go_on(err);
}

static int scoring_rounds(struct scoring *s, struct bench *b, struct fh_error *err)
{
	const char *answers = s->task->grader.answers;
	auto_free char *data = path_dirname(answers);
	auto_free char *sample = path_join(data, "sample_submission.csv");
	struct figure *f = bench_figure(b, "us", "validate_csv");
	int r = scoring_submit(s, err);

	f->most = 5000;
	for (int round = 0; round < BENCH_ROUNDS && r == 0; round++) {
		r = floor_run("files", bench_batch(b), (const char *[]){ sample, answers, NULL },
				&f->floor, err);
		for (int i = 0; i < bench_batch(b) && r == 0; i++)
			r = scoring_validate(s, &f->ours, err);
	}
	return r;
}

int suite_validate(struct bench *b, struct fh_error *err)
{
	struct scoring s = { 0 };
	struct fh_gym *gym;
	int r = fh_gym_open(NULL, &gym, err);

	if (r < 0)
		return r;
	r = bench_start(gym, &s.env, err);
	if (r == 0)
		r = task_load(NULL, BENCH_TASK, NULL, &s.task, err);
	if (r == 0)
		r = scoring_rounds(&s, b, err);
	task_free(s.task);
	fh_env_close(s.env);
	fh_gym_close(gym);
	return r;
}
