/* SPDX-License-Identifier: Apache-2.0 */
#include "base/job.h"
#include "base/mem.h"
#include "run/episode_inside.h"

#include <stdlib.h>

/* Shows an episode to a person at the terminal, and to viewers of the run's folder. */

#define WATCHED_BYTES_MAX (8 << 20)

bool episode_has_env(const struct episode *e, const struct fh_env *env)
{
	return e->inside && e->inside->env == env;
}

const char *episode_warning(const struct episode *e)
{
	return e->inside && e->inside->env ? fh_env_warning(e->inside->env) : NULL;
}

bool episode_watch(const struct episode *e)
{
	auto_buf struct buf lines = BUF_INIT(WATCHED_BYTES_MAX);

	if (e->phase != EPISODE_STEPPING || !e->inside->model)
		return false;
	env_output(e->inside->env, &lines);
	if (lines.len)
		model_watch(e->inside->model, &lines);
	return true;
}

void episode_look(const struct episode *e)
{
	struct episode_inside *in = e->inside;
	struct live_now now = { .step = e->steps + 1 };

	/* Steps of a resumed run that are played again are in the record already. */
	if (!in || (e->plan.past && !in->resumed))
		return;
	if (e->phase == EPISODE_STEPPING) {
		now.phase = LIVE_STEP;
		now.thought = e->thought;
		now.action = e->action;
	} else if (e->phase == EPISODE_THINKING) {
		now.phase = LIVE_MODEL;
	} else if (e->phase == EPISODE_HELD) {
		now.phase = LIVE_PERSON;
	} else {
		return;
	}
	run_record_look(&in->record, in->env, now);
}

void episode_interrupt(const struct episode *e)
{
	fh_env_interrupt(e->inside->env);
	model_interrupted(e->inside->model);
}

void episode_asked(void *episode, int request, const struct fh_step *told)
{
	struct episode *e = episode;
	struct episode_inside *in = e->inside;
	bool is_submit = request == REQUEST_SUBMIT;

	episode_log_asked(&in->record.log, is_submit ? "submit" : "validate", told);
	if (!is_submit)
		run_scores_add(&e->scores, told);
	if (!in->is_broken && recorder_asked(in->record.recorder, is_submit, told, &e->error) < 0) {
		in->is_broken = true; /* the episode fails when the command has ended */
		fh_env_interrupt(in->env);
	}
	if (e->plan.played)
		e->plan.played(e->plan.played_user, e, told);
}

void episode_retried(void *episode, const struct chat_retry *retry)
{
	struct episode *e = episode;

	free(e->trouble);
	e->trouble = xasprintf("retrying, %d of %d: %s", retry->tries, retry->most, retry->why);
	episode_log_retry(&e->inside->record.log, retry);
}

bool episode_is_recorded(const struct episode *e)
{
	return (e->phase == EPISODE_WRITING || e->phase == EPISODE_RECORDING) &&
			job_is_over(e->inside->recording);
}
