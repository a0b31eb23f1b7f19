/* SPDX-License-Identifier: Apache-2.0 */
#include "run/episode_inside.h"

#include "agent/agent.h"
#include "run/past.h"

/* Functions that keep the results of an episode. They go to the episode itself, its log, its record
 * and the conversation of its agent. */

bool episode_note(struct episode *e)
{
	struct episode_inside *in = e->inside;
	bool again = e->plan.past && !in->resumed;

	if (again)
		in->different += run_past_differs(e->plan.past, &in->step);
	if (e->phase == EPISODE_RESETTING) {
		episode_log_reset(&in->record.log, &in->step);
		return !again;
	}
	episode_log_step(&in->record.log, &in->step);
	e->steps = in->step.step;
	run_scores_add(&e->scores, &in->step);
	return !again;
}

int episode_record_reset(struct episode *e)
{
	struct episode_inside *in = e->inside;
	int r = run_record_memory(&in->record, in->env, &e->error);

	return r < 0 ? r : recorder_reset(in->record.recorder, e->plan.seed, &in->step, &e->error);
}

int episode_record_step(void *episode, struct fh_error *err)
{
	const struct episode *e = episode;
	const struct episode_inside *in = e->inside;
	const struct recorder_turn turn = { .action = e->action,
		.response = e->response,
		.thought = e->thought,
		.by_person = in->by_hand.text != NULL };
	int r = recorder_step(in->record.recorder, &turn, &in->step, err);

	return r < 0 || !in->observes ? r : agent_observe(in->agent, &in->step, err);
}

int episode_end_past(struct episode *e)
{
	struct episode_inside *in = e->inside;
	struct recorder_resumed resumed = {
		.steps = e->steps,
		.messages = (int)e->plan.past->messages.n,
		.different = (int)in->different,
		.agent_hash = e->plan.agent->config->hash,
	};
	struct fh_env_info info;

	fh_env_info(in->env, &info);
	resumed.task_hash = info.task_hash;
	in->resumed = true;
	episode_log_resumed(&in->record.log, in->different);
	return recorder_resumed(in->record.recorder, &resumed, &e->error);
}

int episode_open_agent(struct episode *e)
{
	const struct episode_plan *p = &e->plan;
	struct episode_inside *in = e->inside;
	struct agent_request request = {
		.conversation = {
			.config = p->agent->config,
			.task = env_task(in->env),
			.max_steps = e->max_steps,
			.recorder = in->record.recorder,
			.past = p->past ? &p->past->messages : NULL,
		},
		.model = in->chat,
		.recorded = in->model,
		.env = in->env,
		.user = e,
		.rejected = p->rejected,
		.rejected_user = p->played_user,
	};
	int r = agent_open(&request, &in->agent, &e->error);

	return r < 0 ? r : agent_observe(in->agent, &in->step, &e->error);
}
