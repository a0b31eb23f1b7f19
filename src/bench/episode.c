/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/episode.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/scope.h"
#include "bench/floors.h"
#include "bench/proc.h"
#include "bench/suites.h"
#include "task/load.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Measures one episode: start and end, steps, and the scoring of a submission. */

#define EPISODE_MAX_STEPS 1000000000
#define EPISODE_WARM_UP 20
#define LIFE_FIGURES 3
/* Microseconds to sleep before each reset. bench/floor_reset.c, which resets are compared with,
 * sleeps as long. Only the figure `sustained` measures without sleep. */
#define REST_US 5000
#define EPISODE_END_MS 10000 /* longest wait for a sandbox to end */

double bench_us_since(int64_t began_ns)
{
	return (double)(clock_now_ns() - began_ns) / 1e3;
}

static int life_open(
		struct fh_gym *gym, const char *task, struct fh_env **out, struct fh_error *err)
{
	return fh_env_open(gym,
			&FH_ENV_OPTIONS(.task = task, .max_steps = EPISODE_MAX_STEPS,
					.polled = true),
			out, err);
}

int bench_start(struct fh_gym *gym, const char *task, struct fh_env **out, struct fh_error *err)
{
	struct fh_env *env;
	struct fh_step step;
	int r = life_open(gym, task, &env, err);

	if (r < 0)
		return r;
	r = fh_env_reset(env, NULL, &step, err);
	if (r < 0)
		fh_env_close(env);
	else
		*out = env;
	return r;
}

int bench_open(struct bench_env *out, struct fh_error *err)
{
	int r = fh_gym_open(NULL, &out->gym, err);

	return r < 0 ? r : bench_start(out->gym, BENCH_TASK, &out->env, err);
}

void bench_close(struct bench_env *e)
{
	fh_env_close(e->env);
	fh_gym_close(e->gym);
}

int bench_steps(struct fh_env *env, const char *command, int n, struct samples *out,
		struct fh_error *err)
{
	while (n-- > 0) {
		int64_t began = clock_now_ns();
		struct fh_step step;
		int r = fh_env_step(env, &FH_ACTION(.text = command), &step, err);

		if (r < 0)
			return r;
		if (out)
			samples_add(out, bench_us_since(began));
		if (step.outcome != FH_OUTCOME_OK || step.exit_code != 0)
			return error_say(err, EIO, "'%s' failed: %s", command, step.observation);
	}
	return bench_go_on(err);
}

/* --- start and end of an episode -------------------------------------------------------------- */

/* Begins an episode and notes its times. Returns a pidfd of its sandbox's PID 1, which becomes
 * readable when the sandbox ends. */
static int life_begin(struct fh_env *env, struct life *out, struct fh_error *err)
{
	int64_t began = clock_now_ns();
	auto_free pid_t *list = NULL;
	struct fh_step step;
	size_t n;
	int fd, r = fh_env_reset(env, NULL, &step, err);

	if (r < 0)
		return r;
	out->observed = bench_us_since(began);
	r = bench_steps(env, "true", 1, NULL, err);
	if (r < 0)
		return r;
	out->answered = bench_us_since(began);
	n = proc_sandboxes(&list);
	fd = n ? (int)syscall(SYS_pidfd_open, list[n - 1], 0) : -1;
	return fd < 0 ? error_say(err, ESRCH, "can't find the sandbox in /proc") : fd;
}

int bench_live(struct fh_gym *gym, const char *task, struct life *out, struct fh_error *err)
{
	auto_close int pidfd = -1;
	struct fh_env *env;
	int64_t began;
	int r = life_open(gym, task, &env, err);

	if (r < 0)
		return r;
	usleep(REST_US);
	pidfd = life_begin(env, out, err);
	began = clock_now_ns();
	fh_env_close(env);
	if (pidfd < 0)
		return pidfd;
	if (poll(&(struct pollfd){ .fd = pidfd, .events = POLLIN }, 1, EPISODE_END_MS) != 1)
		return error_say(err, ETIMEDOUT, "a sandbox did not end");
	out->ended = bench_us_since(began);
	return 0;
}

void bench_memory(double kernel_bytes, size_t n, struct samples *out)
{
	auto_free pid_t *inits = NULL;
	double kernel = (proc_kernel_bytes() - kernel_bytes) / (double)n;
	size_t n_inits = proc_sandboxes(&inits);

	for (size_t i = 0; i < n_inits; i++) {
		double own = proc_memory_bytes(inits[i]);

		if (own > 0)
			samples_add(out, own + (kernel > 0 ? kernel : 0));
	}
}

static int life_batch(struct bench *b, struct fh_gym *gym, struct figure *const *figures,
		struct fh_error *err)
{
	struct life life;

	for (int i = 0; i < bench_batch(b); i++) {
		int r = bench_go_on(err);

		if (r < 0)
			return r;
		r = bench_live(gym, BENCH_TASK, &life, err);
		if (r < 0)
			return r;
		samples_add(&figures[0]->ours, life.answered);
		samples_add(&figures[1]->ours, life.observed);
		samples_add(&figures[2]->ours, life.ended);
	}
	return 0;
}

static int life_round(struct bench *b, struct fh_gym *gym, struct figure *const *figures,
		struct fh_error *err)
{
	for (size_t i = 0; i < LIFE_FIGURES; i++) {
		int r = floor_run("floor_reset", bench_batch(b) / LIFE_FIGURES + 1, NULL,
				&figures[i]->floor, err);

		if (r < 0)
			return r;
	}
	return life_batch(b, gym, figures, err);
}

static int life_rounds(struct bench *b, struct fh_gym *gym, struct figure *const *figures,
		struct fh_error *err)
{
	struct life first;
	int r = bench_live(gym, BENCH_TASK, &first, err);

	if (r < 0)
		return r;
	for (int round = 0; round < BENCH_ROUNDS; round++) {
		r = life_round(b, gym, figures, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int suite_reset(struct bench *b, struct fh_error *err)
{
	struct figure *figures[LIFE_FIGURES] = { bench_figure(b, "us", "reset"),
		bench_figure(b, "us", "observation"), bench_figure(b, "us", "teardown") };
	struct fh_gym *gym;
	int r = fh_gym_open(NULL, &gym, err);

	if (r < 0)
		return r;
	figures[0]->most_ratio = figures[1]->most_ratio = RESET_MOST;
	figures[2]->most_ratio = 1;
	r = life_rounds(b, gym, figures, err);
	fh_gym_close(gym);
	return r;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* CPUs for owner and shell of an episode: each is an index into the CPUs that this process may
 * use. */
struct placement {
	const char *name, *floor;
	int owner, shell; /* index of the CPU for owner or shell; -1: any CPU */
	double most_ratio, most_over;
};

static const struct placement placements[] = {
	{ "step", "free", -1, -1, .most_ratio = 1 },
	{ "step_one_cpu", "one", 0, 0, .most_over = 3 },
	{ "step_two_cpus", "two", 0, 1, .most_ratio = 1 },
};

static int placement_pin(const cpu_set_t *allowed, int nth, struct fh_error *err)
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

/* Opens an environment whose shell runs on the CPU that `p` chooses. Sandboxes inherit the CPU of
 * the process that makes them. */
static int placement_open(const struct placement *p, const cpu_set_t *allowed,
		struct bench_env *out, struct fh_error *err)
{
	int r = placement_pin(allowed, p->shell, err);

	return r < 0 ? r : bench_open(out, err);
}

static int placement_rounds(struct bench *b, const struct placement *p, const cpu_set_t *allowed,
		struct fh_error *err)
{
	struct figure *f = bench_figure(b, "us", "%s", p->name);
	auto_bench_env struct bench_env e = { 0 };
	int n = bench_batch(b), r = placement_open(p, allowed, &e, err);

	if (r < 0)
		return r;
	f->most_ratio = p->most_ratio;
	f->most_over = p->most_over;
	for (int round = 0; round < BENCH_ROUNDS; round++) {
		r = placement_pin(allowed, -1, err);
		if (r < 0)
			return r;
		r = floor_run("floor_step", n, (const char *[]){ p->floor, NULL }, &f->floor, err);
		if (r < 0)
			return r;
		r = placement_pin(allowed, p->owner, err);
		if (r < 0)
			return r;
		r = bench_steps(e.env, "true", EPISODE_WARM_UP, NULL, err);
		if (r < 0)
			return r;
		r = bench_steps(e.env, "true", n, &f->ours, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int suite_step(struct bench *b, struct fh_error *err)
{
	cpu_set_t allowed;
	int r = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return error_set(err, errno, "ask for the CPUs of this process");
	for (size_t i = 0; i < ARRAY_SIZE(placements); i++) {
		if (placements[i].shell >= CPU_COUNT(&allowed))
			continue;
		r = placement_rounds(b, &placements[i], &allowed, err);
		if (r < 0)
			break;
	}
	sched_setaffinity(0, sizeof(allowed), &allowed);
	return r;
}

/* --- scoring ---------------------------------------------------------------------------------- */

/* State of the benchmark of scoring. It begins a new episode when the current one has used up its
 * validations. */
struct scoring {
	struct fh_env *env;
	const struct task *task;
	int n_validated; /* number of validations in the current episode */
};

static int scoring_submit(struct scoring *s, struct fh_error *err)
{
	s->n_validated = 0;
	return bench_steps(s->env, "cp data/sample_submission.csv submission.csv", 1, NULL, err);
}

static int scoring_validate(struct scoring *s, struct samples *out, struct fh_error *err)
{
	int most = s->task->grader.validations;
	struct fh_step step;
	int64_t began;
	int r;

	if (most && s->n_validated == most) {
		r = fh_env_reset(s->env, NULL, &step, err);
		if (r < 0)
			return r;
		r = scoring_submit(s, err);
		if (r < 0)
			return r;
	}
	began = clock_now_ns();
	r = fh_env_validate(s->env, &step, err);
	if (r < 0)
		return r;
	if (!step.n_score)
		return error_say(err, EIO, "not scored: %s", step.observation);
	s->n_validated++;
	samples_add(out, bench_us_since(began));
	return bench_go_on(err);
}

static int scoring_batch(
		const struct bench *b, struct scoring *s, struct samples *out, struct fh_error *err)
{
	for (int i = 0; i < bench_batch(b); i++) {
		int r = scoring_validate(s, out, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int scoring_rounds(struct bench *b, const struct task *task, struct fh_error *err)
{
	const char *answers = task->grader.answers;
	auto_free char *data = path_dirname(answers);
	auto_free char *sample = path_join(data, "sample_submission.csv");
	struct figure *f = bench_figure(b, "us", "validate_csv");
	auto_bench_env struct bench_env e = { 0 };
	struct scoring s = { .task = task };
	int r = bench_open(&e, err);

	if (r < 0)
		return r;
	f->most = 5000;
	s.env = e.env;
	r = scoring_submit(&s, err);
	if (r < 0)
		return r;
	for (int round = 0; round < BENCH_ROUNDS; round++) {
		r = floor_run("floor_files", bench_batch(b),
				(const char *[]){ sample, answers, NULL }, &f->floor, err);
		if (r < 0)
			return r;
		r = scoring_batch(b, &s, &f->ours, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int suite_validate(struct bench *b, struct fh_error *err)
{
	struct task *task;
	int r = task_load(NULL, BENCH_TASK, NULL, &task, err);

	if (r < 0)
		return r;
	r = scoring_rounds(b, task, err);
	task_free(task);
	return r;
}
