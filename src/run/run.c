/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/scope.h"
#include "run/gym.h"

#include <errno.h>
#include <poll.h>

#define DONE_AT_ONCE 64

static void run_on(struct run *run, enum run_event event, const struct episode *e)
{
	run->play.on(run->play.user, event, e);
}

/* --- one episode ------------------------------------------------------------------------------ */

static void run_went_on(struct run *run, struct episode *e);

/* One that broke, from the beginning: what was recorded of it stays. */
static void run_again(struct run *run, struct episode *e)
{
	struct episode_plan plan = e->plan;
	int retried = e->retried + 1;

	run_on(run, RUN_AGAIN, e);
	episode_release(e);
	episode_init(e, &plan);
	e->retried = retried;
	episode_start(e);
	if (e->phase == EPISODE_ENDED)
		run_went_on(run, e);
}

/* All language models together have cost what they may. */
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

static void run_went_on(struct run *run, struct episode *e)
{
	if (e->phase == EPISODE_THINKING || e->phase == EPISODE_LEAVING)
		return; /* it will be said what it does, or that it is over */
	if (e->phase != EPISODE_ENDED) {
		run_on(run, RUN_STEPPED, e);
		return;
	}
	if (run_begins_again(run, e)) {
		run_again(run, e);
		return;
	}
	run->ended++;
	run_on(run, RUN_ENDED, e);
}

/* What nobody would pay for leaves no folder. Others play on. */
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
		log_record(NULL, LOG_ERROR, sentence, NULL, 0);
}

/* Once for all episodes of a task, which follow each other. */
static void run_warn_of_task(struct run *run, const struct episode *e)
{
	const char *warning = episode_warning(e);

	if (warning && run->warned != e->plan.env->task)
		log_record(NULL, LOG_WARN, warning, NULL, 0);
	run->warned = e->plan.env->task;
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
	e->plan.played = run->play.played;
	e->plan.played_user = run->play.user;
	episode_start(e);
	if (e->phase == EPISODE_ENDED)
		run_went_on(run, e);
}

static bool run_may_begin(const struct run *run)
{
	return !run->stopping && run->begun < run->plan.n &&
			run->begun - run->ended < (size_t)run->jobs &&
			run->openings.n < OPENINGS_MAX;
}

static bool run_stop_is_wanted(const struct run *run)
{
	struct pollfd fd = { .fd = run->play.stop_fd, .events = POLLIN };

	return !run->stopping && poll(&fd, 1, 0) > 0;
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

static struct episode *run_episode_of(struct run *run, const struct fh_env *env)
{
	for (size_t i = 0; i < run->begun; i++) {
		if (episode_has_env(&run->plan.episodes[i], env))
			return &run->plan.episodes[i];
	}
	return NULL;
}

static void run_opened(struct run *run, struct episode *e)
{
	episode_opened(e);
	run_warn_of_task(run, e);
	if (e->phase == EPISODE_ENDED)
		run_went_on(run, e);
	else
		run_on(run, RUN_BEGAN, e);
}

/* Episodes that differ only in their seeds begin in order: their folders' numbers follow the seeds. */
static int run_advance_opened(struct run *run)
{
	const struct fh_env_options *held = NULL;
	int n = 0;

	if (!openings_came(&run->openings))
		return 0;
	for (size_t i = 0; i < run->begun; i++) {
		struct episode *e = &run->plan.episodes[i];

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
		struct episode *e = run_episode_of(run, done[i]);

		episode_advance(e);
		run_went_on(run, e);
	}
	return n;
}

/* Language models that have answered. */
static int run_advance_thought(struct run *run)
{
	struct chat_call *done[DONE_AT_ONCE];
	size_t n = run->plan.chat ? chat_service_advance(run->plan.chat, done, DONE_AT_ONCE) : 0;

	for (size_t i = 0; i < n; i++) {
		struct episode *e = chat_call_user(done[i]);

		episode_thought(e);
		run_went_on(run, e);
	}
	return (int)n;
}

static int run_wait(struct run *run, struct fh_error *err)
{
	struct pollfd fds[] = {
		{ .fd = fh_gym_fd(run->gym), .events = POLLIN },
		/* Once is enough: it stays readable. */
		{ .fd = run->stopping ? -1 : run->play.stop_fd, .events = POLLIN },
		{ .fd = run->plan.chat ? chat_service_fd(run->plan.chat) : -1, .events = POLLIN },
		{ .fd = run->openings.fd, .events = POLLIN },
		{ .fd = run->play.wake_fd, .events = POLLIN },
	};

	run_on(run, RUN_WAITS, NULL);
	if (poll(fds, ARRAY_SIZE(fds), run->play.interval_ms) < 0 && errno != EINTR)
		return error_set(err, errno, "wait for environments");
	return 0;
}

int run_play(struct run *run, const struct run_play *play, struct fh_error *err)
{
	run->play = *play;
	while (run->ended < (run->stopping ? run->begun : run->plan.n)) {
		int r;

		if (run_stop_is_wanted(run))
			run_stop_all(run);
		if (run_may_begin(run)) {
			run_begin_next(run);
			continue;
		}
		r = run_advance_done(run, err);
		if (r < 0)
			return r;
		r += run_advance_thought(run) + run_advance_opened(run);
		if (r == 0 && run->ended < run->begun)
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

int run_open(struct run *run, struct fh_error *err)
{
	int r = openings_open(&run->openings, err);

	return r < 0 ? r : run_gym_open(&run->plan, run->options, run->jobs, &run->gym, err);
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
