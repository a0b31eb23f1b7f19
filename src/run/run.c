/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/open.h"
#include "run/episode_begin.h"
#include "run/record.h"
#include "run/takeover.h"
#include "task/find.h"
#include "trajectory/live.h"

#include <errno.h>
#include <poll.h>

#define DONE_AT_ONCE 64
#define LOOK_MOST_NS (4 * NS_PER_MS) /* most time of a look at the running steps, of each 250 ms */

static void run_on(struct run *run, enum run_event event, const struct episode *e)
{
	run->play.on(run->play.user, event, e);
}

/* --- one episode ------------------------------------------------------------------------------ */

/* Returns true if all language models together have reached the total cost limit. */
static bool run_is_spent(const struct run *run, struct fh_error *why)
{
	return run->plan.chat && chat_service_is_spent(run->plan.chat, why);
}

static bool run_asks_a_model(const struct episode *e)
{
	return e->plan.agent && e->plan.agent->chat;
}

static bool run_begins_again(const struct run *run, const struct episode *e)
{
	return e->failed && !run->stopping && !e->plan.past && e->retried < run->options->retry &&
			!(run_asks_a_model(e) && run_is_spent(run, NULL));
}

/* Reports an episode's progress to the run's callback. If an episode failed and --retry allows
 * it, starts the episode again. The record of the failed try stays. */
static void run_went_on(struct run *run, struct episode *e)
{
	if (e->phase == EPISODE_THINKING || e->phase == EPISODE_WRITING ||
			e->phase == EPISODE_RECORDING || e->phase == EPISODE_LEAVING ||
			e->phase == EPISODE_HELD)
		return; /* report the episode later, when it is in another phase or has ended */
	if (e->phase != EPISODE_ENDED) {
		run_on(run, RUN_STEPPED, e);
		return;
	}
	while (e->phase == EPISODE_ENDED && run_begins_again(run, e)) {
		struct episode_plan plan = e->plan;
		int retried = e->retried + 1;

		run_on(run, RUN_AGAIN, e);
		episode_release(e);
		episode_init(e, &plan);
		e->retried = retried;
		episode_start(e);
	}
	if (e->phase != EPISODE_ENDED)
		return;
	run->ended++;
	run_on(run, RUN_ENDED, e);
}

/* Cancels episodes of language models that have not begun, once the total cost limit is reached.
 * Episodes of other models are still played. */
static void run_give_up_unpaid(struct run *run)
{
	auto_free char *sentence = NULL;
	struct fh_error why;
	size_t n = 0;

	if (!run_is_spent(run, &why))
		return;
	for (size_t i = run->begun; i < run->plan.n; i++) {
		struct episode *e = &run->plan.episodes[i];

		if (e->phase != EPISODE_PLANNED || !run_asks_a_model(e))
			continue;
		episode_give_up(e, &why);
		n++;
	}
	sentence = xasprintf("%zu run%s not begun: %s", n, n == 1 ? " is" : "s are", why.message);
	if (n)
		log_line(NULL, LOG_ERROR, sentence, NULL, 0);
}

static void run_begin_next(struct run *run)
{
	struct episode *e = &run->plan.episodes[run->begun];

	run_give_up_unpaid(run);
	run->begun++;
	if (e->phase != EPISODE_PLANNED) {
		run->ended++;
		run_on(run, RUN_FOUND, e);
		return;
	}
	e->plan.gym = run->gym;
	e->plan.openings = &run->openings;
	e->plan.stop_fd = run->play.stop_fd;
	e->plan.takeover = run->play.takeover;
	e->plan.played = run->play.played;
	e->plan.rejected = run->play.rejected;
	e->plan.played_user = run->play.user;
	episode_start(e);
	if (e->phase == EPISODE_ENDED)
		run_went_on(run, e);
}

static void run_stop_all(struct run *run)
{
	run->stopping = true;
	run_on(run, RUN_STOPPING, NULL);
	for (size_t i = 0; i < run->begun; i++) {
		struct episode *e = &run->plan.episodes[i];
		bool was_settled = episode_is_settled(e);

		episode_stop(e);
		if (episode_is_settled(e) && !was_settled)
			run_went_on(run, e);
	}
}

/* --- the loop --------------------------------------------------------------------------------- */

static void run_opened(struct run *run, struct episode *e)
{
	const char *warning;

	episode_opened(e);
	/* Report a warning that episodes of one task have in common only once. They follow each
	 * other in the plan, but openings of two tasks may mix. */
	warning = episode_warning(e);
	if (warning && run->warned != e->plan.env->task)
		log_line(NULL, LOG_WARN, warning, NULL, 0);
	run->warned = e->plan.env->task;
	if (e->phase == EPISODE_ENDED)
		run_went_on(run, e);
	else
		run_on(run, RUN_BEGAN, e);
}

/* Continues each episode whose thread has ended. The thread opened the environment, or wrote to the
 * record. Episodes that differ only in seed begin in order, so that their folders' numbers follow
 * the seeds. */
static int run_advance_jobs(struct run *run)
{
	const struct fh_env_options *held = NULL;
	int n = 0;

	if (!openings_came(&run->openings))
		return 0;
	for (size_t i = 0; i < run->begun; i++) {
		struct episode *e = &run->plan.episodes[i];

		if (episode_is_recorded(e)) {
			episode_recorded(e);
			run_went_on(run, e);
			n++;
		}
		if (e->phase != EPISODE_OPENING || e->plan.env == held)
			continue;
		if (episode_is_open(e)) {
			run_opened(run, e);
			n++;
		}
		if (e->phase == EPISODE_OPENING)
			held = e->plan.env;
	}
	return n;
}

static int run_advance_done(struct run *run, struct fh_error *err)
{
	struct fh_env *done[DONE_AT_ONCE];
	int n = fh_gym_wait(run->gym, 0, done, DONE_AT_ONCE, err);

	for (int i = 0; i < n; i++) {
		struct episode *e = run->plan.episodes;

		while (!episode_has_env(e, done[i]))
			e++;
		episode_advance(e);
		run_went_on(run, e);
	}
	return n;
}

static int run_advance_thought(struct run *run)
{
	struct chat_call *done[DONE_AT_ONCE];
	size_t n = run->plan.chat ? chat_service_advance(run->plan.chat, done, DONE_AT_ONCE) : 0;

	for (size_t i = 0; i < n; i++) {
		struct episode *e = chat_call_user(done[i]);

		episode_thought(e, done[i]);
		if (!e->plan.foreign)
			run_went_on(run, e);
	}
	return (int)n;
}

/* Continues each episode at whose desk a person gave an order. */
static int run_advance_taken_over(struct run *run)
{
	int n = 0;

	if (!run->play.takeover || !takeover_came(run->play.takeover))
		return 0;
	for (size_t i = 0; i < run->begun; i++) {
		struct episode *e = &run->plan.episodes[i];
		enum episode_phase before = e->phase;

		episode_taken_over(e);
		if (e->phase == before)
			continue;
		run_went_on(run, e);
		n++;
	}
	return n;
}

/* Shows the running steps to viewers. Looks at one episode after the other, for a limited share of
 * the time. */
static void run_look(struct run *run)
{
	int64_t began_ns = clock_now_ns(), spent_ns = 0;

	if (began_ns < run->look_ns)
		return;
	for (size_t i = 0; i < run->begun && spent_ns < LOOK_MOST_NS; i++) {
		episode_look(&run->plan.episodes[run->looked++ % run->begun]);
		spent_ns = clock_now_ns() - began_ns;
	}
	run->look_ns = began_ns + LIVE_LOOK_MS * NS_PER_MS;
}

static int run_wait(struct run *run, struct fh_error *err)
{
	int timeout = clock_ms_left(run->look_ns);
	struct pollfd fds[] = {
		{ .fd = fh_gym_fd(run->gym), .events = POLLIN },
		/* Stop polling stop_fd once it was readable, because it stays so. */
		{ .fd = run->stopping ? -1 : run->play.stop_fd, .events = POLLIN },
		{ .fd = run->plan.chat ? chat_service_fd(run->plan.chat) : -1, .events = POLLIN },
		{ .fd = run->openings.fd, .events = POLLIN },
		{ .fd = run->play.wake_fd, .events = POLLIN },
		{ .fd = run->play.takeover ? takeover_fd(run->play.takeover) : -1,
				.events = POLLIN },
	};

	run_on(run, RUN_WAITS, NULL);
	if (run->play.interval_ms >= 0 && run->play.interval_ms < timeout)
		timeout = run->play.interval_ms;
	if (poll(fds, ARRAY_SIZE(fds), timeout) < 0 && errno != EINTR)
		return error_set(err, errno, "wait for environments");
	return 0;
}

int run_play(struct run *run, const struct run_play *play, struct fh_error *err)
{
	run->play = *play;
	while (run->ended < (run->stopping ? run->begun : run->plan.n)) {
		struct pollfd stop = { .fd = play->stop_fd, .events = POLLIN };
		int r;

		if (!run->stopping && poll(&stop, 1, 0) > 0)
			run_stop_all(run);
		if (!run->stopping && run->begun < run->plan.n &&
				run->begun - run->ended < (size_t)run->jobs &&
				run->openings.n < OPENINGS_MAX) {
			run_begin_next(run);
			continue;
		}
		run_look(run);
		r = run_advance_done(run, err);
		if (r < 0)
			return r;
		r += run_advance_thought(run) + run_advance_jobs(run) + run_advance_taken_over(run);
		if (r > 0 || run->ended == run->begun)
			continue;
		r = run_wait(run, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- the run ---------------------------------------------------------------------------------- */

void run_init(struct run *run, const struct run_options *options)
{
	*run = (struct run){ .options = options, .openings = { .fd = -1 }, .jobs = options->jobs };
}

int run_prepare(struct run *run, struct fh_error *err)
{
	int r = run_plan_make(&run->plan, run->options, err);

	if (run->plan.interactive)
		run->jobs = 1;
	return r;
}

/*
 * Chooses the number of GPUs of the run: as many as all episodes need that play at the same time.
 */
static int run_choose_gpus(struct run *run, struct fh_gym_options *gym, struct fh_error *err)
{
	const struct run_options *o = run->options;
	struct run_plan *plan = &run->plan;
	size_t n = plan->n - plan->n_found;
	size_t agents = n < (size_t)run->jobs ? n : (size_t)run->jobs;
	int r = episode_gpus(&o->gpus, &plan->arena, &gym->gpu_numbers, err);

	if (r < 0)
		return r;
	gym->n_gpu_numbers = o->gpus.n;
	gym->n_gpus = agents * (size_t)plan->gpus_per_agent;
	if (o->gpus.n && o->gpus.n < gym->n_gpus)
		return error_say(err, EINVAL,
				"%zu agents at the same time with %d GPUs each need %zu, but --gpus "
				"names %zu: lower --jobs",
				agents, plan->gpus_per_agent, gym->n_gpus, o->gpus.n);
	if (o->gpus.n && !plan->gpus_per_agent && !o->given.gpus_per_agent)
		warner_say(o->warner,
				"--gpus has no effect without --gpus-per-agent: 1 gives one GPU to "
				"each agent");
	return 0;
}

/* Hides the folders of all tasks from sandboxes, before the first agent starts. If a task were
 * hidden only when it is opened, earlier episodes could see it. */
static int run_hide_tasks(const struct run *run, struct fh_error *err)
{
	const struct run_plan *plan = &run->plan;

	for (size_t i = 0; i < plan->n; i++) {
		const struct fh_env_options *env = plan->episodes[i].plan.env;
		struct task_found found;
		int r;

		if (i && env == plan->episodes[i - 1].plan.env)
			continue;
		r = task_find(&plan->places, env->task, &found, err);
		if (r < 0)
			return r;
		r = fh_gym_hide(run->gym, found.dir, err);
		task_found_release(&found);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Checks, before the first episode, that the evaluators of MLGym's tasks find their modules. */
static int run_check_imports(const struct run *run, struct fh_error *err)
{
	const struct run_plan *plan = &run->plan;
	const struct fh_env_options *checked = NULL;

	for (size_t i = 0; i < plan->n; i++) {
		const struct episode *e = &plan->episodes[i];
		const struct fh_env_options *env = e->plan.env;
		auto_free char *warning = NULL;
		struct task_found found;
		int r;

		if (e->phase == EPISODE_FOUND || (checked && str_eq(checked->task, env->task)))
			continue;
		checked = env;
		r = task_find(&plan->places, env->task, &found, err);
		if (r < 0)
			return r;
		task_found_release(&found);
		r = found.mlgym ? env_check_imports(run->gym, env, &warning, err) : 0;
		if (r < 0 && !plan->all_tasks)
			return r;
		if (r < 0)
			warner_say(run->options->warner, "%s can't be played: %s", env->task,
					err->message);
	}
	return 0;
}

int run_open(struct run *run, struct fh_error *err)
{
	struct fh_gym_options gym = FH_GYM_OPTIONS(.tasks_dir = run->plan.places.tasks_dir,
			.mlgym_root = run->plan.places.mlgym_root);
	int r = openings_open(&run->openings, err);

	if (r < 0)
		return r;
	r = run_choose_gpus(run, &gym, err);
	if (r < 0)
		return r;
	r = run_record_open_gym(&gym, run->plan.out, &run->gym, err);
	if (r < 0)
		return r;
	r = run_hide_tasks(run, err);
	if (r < 0)
		return r;
	return run_check_imports(run, err);
}

bool run_is_opening(const struct run *run)
{
	return run->openings.n > 0;
}

void run_close(struct run *run)
{
	run_plan_release_episodes(&run->plan);
	fh_gym_close(run->gym);
	openings_close(&run->openings);
	run_plan_release(&run->plan);
}
