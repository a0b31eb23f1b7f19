/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/seat.h"

#include "base/clock.h"
#include "base/job.h"
#include "base/mem.h"
#include "base/scope.h"
#include "env/open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* A thread records a step whose observation is longer than this. */
#define RECORDED_AT_ONCE_BYTES (64 << 10)

void seat_draw_id(char id[SEAT_ID_BYTES])
{
	unsigned char bytes[(SEAT_ID_BYTES - 1) / 2];

	while (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(id + 2 * i, 3, "%02x", bytes[i]);
}

struct seat *seat_new(struct host *host)
{
	struct seat *s = xcalloc(1, sizeof(*s));

	s->host = host;
	s->active_ns = clock_now_ns();
	s->next_seed = host->options->episode.seed;
	seat_draw_id(s->id);
	run_record_init(&s->record, NULL);
	return s;
}

void seat_free(struct seat *s)
{
	run_record_release(&s->record);
	fh_env_close(s->env);
	free(s->action);
	free(s->call_id);
	free(s);
}

/* --- answers ---------------------------------------------------------------------------------- */

static void seat_answer(struct seat *s, const struct seat_answer *answer)
{
	seat_done *done = take_ptr(s->done);

	s->phase = SEAT_IDLE;
	s->active_ns = clock_now_ns();
	s->host->metrics.failures += answer->failure != SEAT_OK;
	if (s->closing)
		seat_close(s);
	else if (done)
		done(s->user, s, answer);
}

static void seat_fail(struct seat *s, enum seat_failure failure, const struct fh_error *err)
{
	struct seat_answer answer = { .failure = failure, .message = err->message };

	seat_answer(s, &answer);
}

/* Fails a request by the kind of its error. */
static void seat_refuse(struct seat *s, int r, const struct fh_error *err)
{
	enum seat_failure wrong = r == -E2BIG ? SEAT_TOO_LARGE : SEAT_INVALID;

	seat_fail(s, r == -EINVAL || r == -E2BIG ? wrong : SEAT_FAILED, err);
}

static void seat_succeed(struct seat *s, bool is_reset)
{
	struct seat_answer answer = { .step = &s->step, .is_reset = is_reset };

	if (is_reset)
		s->host->metrics.resets++;
	else
		metrics_add_step(&s->host->metrics,
				(double)(clock_now_ns() - s->asked_ns) / NS_PER_S);
	seat_answer(s, &answer);
}

/* --- the record ------------------------------------------------------------------------------- */

/* Writes the last step, and the end of the record. A job_work: syncing takes long. */
static int seat_write(void *arg, struct fh_error *err)
{
	struct seat *s = arg;
	struct recorder *recorder = s->record.recorder;
	const struct recorder_turn turn = { .action = s->action };
	int r = 0;

	if (s->writes_step)
		r = recorder_step(recorder, &turn, &s->step, err);
	if (r < 0 || !s->end)
		return r;
	return recorder_end(recorder, &(struct recorder_end){ .exit_status = s->end }, err);
}

static void seat_record_over(struct seat *s)
{
	episode_log_over(&s->record.log, s->end);
	recorder_close(take_ptr(s->record.recorder));
	free(take_ptr(s->record.dir));
	s->recording = false;
}

/* Writes the step or the end to the record, in a thread if `in_thread`. Returns 1 if a thread
 * writes, else the result. */
static int seat_begin_write(struct seat *s, bool in_thread, struct fh_error *err)
{
	if (!in_thread)
		return seat_write(s, err);
	if (job_begin_shared(s->host->openings.fd, seat_write, s, "write a record", &s->job, NULL) <
			0)
		return seat_write(s, err);
	s->phase = SEAT_WRITING;
	return 1;
}

static int seat_open_record(struct seat *s, struct fh_error *err)
{
	const struct serve_options *o = s->host->options;
	const struct task_places places = env_places(s->env);
	struct episode_plan plan = {
		.gym = s->host->gym,
		.env = env_given(s->env),
		.places = &places,
		.model = "serve",
		.aliases = s->host->aliases,
		.out = o->out,
		.suffix = o->suffix,
		.reward = episode_rewards[o->episode.reward],
		.seed = s->seed,
	};
	struct run_record_start start = { .plan = &plan, .info = &s->info, .model = plan.model };
	int r;

	s->record.number = s->host->n_episodes++;
	r = run_record_open(&s->record, &start, err);
	if (r < 0)
		return r;
	episode_log_reset(&s->record.log, &s->step);
	s->recording = s->record.recorder != NULL;
	return s->recording ? recorder_reset(s->record.recorder, s->seed, &s->step, err) : 0;
}

/* --- a reset ---------------------------------------------------------------------------------- */

static void seat_start_reset(struct seat *s)
{
	struct fh_error err;
	struct fh_reset reset = FH_RESET(.seed = s->seed);
	int r = fh_env_reset_start(s->env, &reset, &err);

	s->phase = SEAT_RESETTING;
	if (r < 0)
		seat_refuse(s, r, &err);
}

static void seat_start_opening(struct seat *s)
{
	struct opening_request request = {
		.gym = s->host->gym, .env = &s->wanted->env, .aliases = s->host->aliases
	};
	struct fh_error err;

	s->phase = SEAT_QUEUED;
	if (s->host->openings.n >= OPENINGS_MAX)
		return;
	s->phase = SEAT_OPENING;
	if (opening_start(&s->host->openings, &request, &s->opening, &err) < 0)
		seat_fail(s, SEAT_NO_OPENING, &err);
}

static void seat_opened(struct seat *s)
{
	struct model *model = NULL;
	struct fh_error err;

	if (opening_take(take_ptr(s->opening), &s->env, &model, &err) < 0) {
		seat_fail(s, SEAT_NO_OPENING, &err);
		return;
	}
	fh_env_set_user(s->env, s);
	s->task = s->wanted;
	fh_env_info(s->env, &s->info);
	if (s->closing)
		seat_answer(s, &(struct seat_answer){ .failure = SEAT_FAILED });
	else
		seat_start_reset(s);
}

/* Goes on with a reset once the record of the last episode has ended. */
static void seat_begin_reset(struct seat *s)
{
	if (s->env && s->task == s->wanted) {
		seat_start_reset(s);
		return;
	}
	fh_env_close(take_ptr(s->env));
	seat_start_opening(s);
}

void seat_reset(struct seat *s, const struct seat_reset *reset, seat_done *done, void *user)
{
	const struct host_task *own = s->task ? s->task : s->host->tasks;
	struct fh_error err;
	int r;

	s->done = done;
	s->user = user;
	s->active_ns = s->asked_ns = clock_now_ns();
	s->wanted = reset->task ? reset->task : own;
	s->seed = reset->has_seed ? reset->seed : s->next_seed;
	s->next_seed = s->seed < SEED_MAX ? s->seed + 1 : 0;
	s->going_on = false;
	s->step = (struct fh_step){ 0 };
	if (reset->episode_id)
		snprintf(s->episode_id, sizeof(s->episode_id), "%s", reset->episode_id);
	else
		seat_draw_id(s->episode_id);
	if (!s->recording) {
		seat_begin_reset(s);
		return;
	}
	s->end = "early_exit";
	s->writes_step = false;
	r = seat_begin_write(s, true, &err);
	if (r > 0)
		return;
	seat_record_over(s);
	if (r < 0)
		seat_refuse(s, r, &err);
	else
		seat_begin_reset(s);
}

static int seat_end_reset(struct seat *s, struct fh_error *err)
{
	int r = fh_env_end(s->env, &s->step, err);

	return r < 0 ? r : seat_open_record(s, err);
}

static void seat_take_reset(struct seat *s)
{
	struct fh_error err;
	int r = seat_end_reset(s, &err);

	if (r < 0) {
		seat_refuse(s, r, &err);
		return;
	}
	s->going_on = true;
	seat_succeed(s, true);
}

/* --- a step ----------------------------------------------------------------------------------- */

void seat_step(struct seat *s, const struct fh_action *action, seat_done *done, void *user)
{
	struct fh_error err;
	int r;

	s->done = done;
	s->user = user;
	s->active_ns = s->asked_ns = clock_now_ns();
	if (!s->going_on) {
		error_say(&err, EINVAL,
				s->env ? "the episode has ended: ask for a reset"
				       : "there is no episode yet: ask for a reset");
		seat_fail(s, SEAT_INVALID, &err);
		return;
	}
	xstrset(&s->action, action->text);
	s->phase = SEAT_STEPPING;
	r = fh_env_step_start(s->env, action, &err);
	if (r < 0)
		seat_refuse(s, r, &err);
	else
		episode_log_action(&s->record.log, s->action);
}

/* Answers a step. If r is negative, the step could not be recorded: refuses it, and ends the
 * record. */
static void seat_end_step(struct seat *s, int r, const struct fh_error *err)
{
	if (s->end && s->recording)
		seat_record_over(s);
	if (r < 0) {
		/* A record that lacks a step can't go on, and so neither can the episode. */
		episode_log_failed(&s->record.log, err->message);
		s->going_on = false;
		if (s->recording)
			seat_record_over(s);
		seat_refuse(s, -EIO, err);
		return;
	}
	seat_succeed(s, false);
}

static void seat_take_step(struct seat *s)
{
	struct fh_error err;
	bool ends;
	int r = fh_env_end(s->env, &s->step, &err);

	if (r < 0) {
		s->going_on = false;
		seat_refuse(s, r, &err);
		return;
	}
	episode_log_step(&s->record.log, &s->step);
	ends = s->step.terminated || s->step.truncated;
	s->going_on = !ends;
	s->end = ends ? s->step.exit_status : NULL;
	s->writes_step = true;
	if (s->recording)
		r = seat_begin_write(s,
				ends || recorder_syncs(&s->step) ||
						s->step.observation_bytes > RECORDED_AT_ONCE_BYTES,
				&err);
	if (r <= 0)
		seat_end_step(s, r, &err);
}

/* --- going on --------------------------------------------------------------------------------- */

static void seat_take_write(struct seat *s)
{
	struct fh_error err;
	int r = job_end(take_ptr(s->job), &err);

	if (s->writes_step) {
		seat_end_step(s, r, &err);
		return;
	}
	seat_record_over(s);
	s->phase = SEAT_IDLE;
	if (s->closing)
		seat_close(s);
	else if (r < 0)
		seat_refuse(s, r, &err);
	else
		seat_begin_reset(s);
}

void seat_advance(struct seat *s)
{
	if (s->phase == SEAT_OPENING && opening_is_over(s->opening))
		seat_opened(s);
	else if (s->phase == SEAT_WRITING && job_is_over(s->job))
		seat_take_write(s);
}

void seat_leave_queue(struct seat *s)
{
	if (s->phase == SEAT_QUEUED)
		seat_start_opening(s);
}

void seat_take(struct seat *s)
{
	if (s->phase == SEAT_RESETTING)
		seat_take_reset(s);
	else
		seat_take_step(s);
}

bool seat_cancel(struct seat *s, const char *call_id)
{
	if (!s || !str_eq(s->call_id, call_id))
		return false;
	if (s->phase == SEAT_STEPPING || s->phase == SEAT_RESETTING)
		fh_env_interrupt(s->env);
	return true;
}

/* Ends the record of an episode that has not ended. False: a thread does it. */
static bool seat_close_record(struct seat *s)
{
	struct fh_error err;
	int r;

	if (!s->recording)
		return true;
	s->end = "early_exit";
	s->writes_step = false;
	r = seat_begin_write(s, true, &err);
	if (r > 0)
		return false;
	seat_record_over(s);
	return true;
}

void seat_close(struct seat *s)
{
	struct seat_answer gone = { .failure = SEAT_FAILED, .message = "the session was closed" };
	seat_done *done = take_ptr(s->done);

	s->closing = true;
	if (done)
		done(s->user, s, &gone);
	switch (s->phase) {
	case SEAT_OPENING:
	case SEAT_WRITING:
	case SEAT_CLOSED:
		return; /* goes on when the thread has ended */
	case SEAT_IDLE:
	case SEAT_QUEUED:
	case SEAT_RESETTING:
	case SEAT_STEPPING:
		break;
	}
	fh_env_close(take_ptr(s->env));
	if (seat_close_record(s))
		s->phase = SEAT_CLOSED;
}
