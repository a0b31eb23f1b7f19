/* SPDX-License-Identifier: Apache-2.0 */
#include "run/episode_begin.h"

#include "agent/native.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/scope.h"
#include "run/episode_inside.h"
#include "run/past.h"

static void episode_complete_path(void *user, const char *start, struct buf *out)
{
	const struct episode *e = user;

	env_complete_path(e->inside->env, start, out);
}

static const char *episode_multiline_end_of(void *user, const char *line)
{
	const struct episode *e = user;

	return env_multiline_end(e->inside->env, line);
}

static int episode_begin_opening(struct episode *e)
{
	const struct episode_plan *p = &e->plan;
	struct episode_inside *in = e->inside;
	struct model_request model = {
		.spec = p->model,
		.places = p->places,
		.task = p->env->task,
		.variant = p->env->variant,
		.in_fd = p->human_in,
		.out_fd = p->human_out,
		.stop_fd = p->stop_fd,
		.completion = { .names = episode_complete_path, .user = e },
		.multiline_end = episode_multiline_end_of,
		.user = e,
	};
	struct opening_request opening = {
		.gym = p->gym,
		.env = p->env,
		.model = &model,
		.agent = p->agent ? p->agent->config : NULL,
		.aliases = p->aliases,
		.edits_at_once = p->edits_at_once,
	};

	model.completion.words = native_words(&model.completion.n_words);
	if (p->agent && p->agent->chat) {
		struct chat_options options = p->agent->options;
		int r;

		options.spent = p->past ? &p->past->spent : NULL;
		options.seed = (uint64_t)e->begun_ns; /* seed for random pauses between retries */
		r = chat_model_open(p->agent->chat, &options, &in->chat, &e->error);
		if (r < 0)
			return r;
		opening.model = NULL;
	}
	return opening_start(p->openings, &opening, &in->opening, &e->error);
}

void episode_start(struct episode *e)
{
	e->begun_ns = clock_now_ns();
	e->phase = EPISODE_OPENING;
	e->inside = xcalloc(1, sizeof(*e->inside));
	run_record_init(&e->inside->record, e->plan.env->task);
	if (episode_begin_opening(e) < 0)
		episode_fail(e);
}

bool episode_is_open(const struct episode *e)
{
	return opening_is_over(e->inside->opening);
}

static int episode_begin_reset(struct episode *e)
{
	struct episode_inside *in = e->inside;
	const struct run_past *past = e->plan.past;
	struct fh_env_info info;
	struct run_record_start start = { .plan = &e->plan, .info = &info, .chat = in->chat };
	int r = opening_take(take_ptr(in->opening), &in->env, &in->model, &e->error);

	if (r < 0)
		return r;
	fh_env_info(in->env, &info);
	e->max_steps = info.max_steps;
	xstrset(&e->variant, info.variant);
	run_scores_begin(&e->scores, &info);
	start.model = in->model ? model_label(in->model) : e->plan.model;
	start.warning = fh_env_warning(in->env);
	if (past) {
		start.resume_dir = past->dir;
		start.resume_number = past->number;
	}
	r = run_record_open(&in->record, &start, &e->error);
	e->number = in->record.number;
	if (r < 0)
		return r;
	e->traj = xstrdup(recorder_traj(in->record.recorder));
	episode_open_desk(e);
	return fh_env_reset_start(in->env, &FH_RESET(.seed = e->plan.seed), &e->error);
}

void episode_opened(struct episode *e)
{
	e->phase = EPISODE_RESETTING;
	if (episode_begin_reset(e) < 0)
		episode_fail(e);
}
