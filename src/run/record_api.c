/* SPDX-License-Identifier: Apache-2.0 */
#include <fumehood/record.h>

#include "agent/agent_api.h"
#include "base/fork_mark.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/sized.h"
#include "base/str.h"
#include "env/env.h"
#include "env/open.h"
#include "run/episode_options.h"
#include "run/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Recorders of fumehood/record.h: a run's record in public types. */

#define MODEL_DEFAULT "policy"
#define EARLY_EXIT "early_exit"

/* RECORD_OVER: the episode has ended, its record has not. */
enum record_phase { RECORD_OPEN, RECORD_PLAYED, RECORD_OVER, RECORD_ENDED };

struct record_api {
	struct fh_recorder base;
	struct run_record record;
	const struct fh_env *env; /* NULL after the reset */
	uint64_t seed;
	enum record_phase phase;
	char *exit_status; /* exit status of the last step; NULL: none */
};

static struct record_api *record_of(struct fh_recorder *r)
{
	return (struct record_api *)(void *)r;
}

static const struct record_api *record_of_const(const struct fh_recorder *r)
{
	return (const struct record_api *)(const void *)r;
}

/* --- checks ----------------------------------------------------------------------------------- */

static int record_api_check(
		const struct fh_recorder *r, enum record_phase phase, struct fh_error *err)
{
	static const char *const wrong[] = {
		[RECORD_OPEN] = "a reset is recorded once, and first",
		[RECORD_PLAYED] = "a step is recorded after the reset, and before the episode's end"
	};
	int n = recorder_check_process(r, err);

	if (n < 0)
		return n;
	return record_of_const(r)->phase == phase ? 0 : error_say(err, EPROTO, "%s", wrong[phase]);
}

static int record_api_check_text(const char *name, const char *text, struct fh_error *err)
{
	if (text && str_utf8_invalid(text, strlen(text)) >= 0)
		return error_say(err, EINVAL, "the %s is not UTF-8", name);
	return 0;
}

/* Reads the caller's numbers, a JSON object. *out is NULL if `text` is. */
static int record_api_read_numbers(
		struct arena *a, const char *text, const struct pyjson **out, struct fh_error *err)
{
	struct pyjson_source source = { .name = "numbers", .data = text };
	int r;

	*out = NULL;
	if (!text)
		return 0;
	source.n = strlen(text);
	if (source.n > FH_NUMBERS_BYTES_MAX)
		return error_say(
				err, EINVAL, "numbers of more than %d bytes", FH_NUMBERS_BYTES_MAX);
	r = pyjson_read(a, &source, out, err);
	if (r < 0)
		return r;
	return (*out)->kind == PYJSON_OBJECT ? 0
					     : error_say(err, EINVAL, "numbers: not a JSON object");
}

/* --- opening ---------------------------------------------------------------------------------- */

static int record_api_start(struct record_api *r, const struct fh_recorder_options *options,
		const struct fh_env_info *info, const char *out, struct fh_error *err)
{
	struct run_name numbers = RUN_NAME_INIT;
	struct run_agent agent = {
		.config = options->agent ? options->agent->config : NULL,
		.options = { .temperature = options->temperature,
				.top_p = options->top_p > 0 ? options->top_p : numbers.top_p,
				.cost_limit = numbers.cost_limit },
	};
	const struct task_places places = env_places(options->env);
	const struct episode_plan plan = {
		.gym = env_gym(options->env),
		.env = env_given(options->env),
		.places = &places,
		.agent = options->agent ? &agent : NULL,
		.model = options->model ? options->model : MODEL_DEFAULT,
		.aliases = options->agent ? options->agent->aliases : NULL,
		.out = out,
		.suffix = options->suffix,
		.reward = episode_rewards[env_reward(options->env)],
		.seed = options->seed,
	};
	const struct run_record_start start = {
		.plan = &plan,
		.info = info,
		.model = plan.model,
		.warning = fh_env_warning(options->env),
		.policy_step = options->has_policy_step ? &options->policy_step : NULL,
	};

	return run_record_open(&r->record, &start, err);
}

int fh_recorder_open(const struct fh_recorder_options *options, struct fh_recorder **out,
		struct fh_error *err)
{
	auto_free char *folder = NULL;
	struct fh_recorder_options read;
	struct fh_env_info info;
	struct record_api *r;
	int n;

	err = error_or(err, &(struct fh_error)FH_ERROR_INIT);
	n = SIZED_READ(fh_recorder_options, &read, options, err);
	if (n < 0)
		return n;
	if (!read.env)
		return error_say(err, EINVAL, "a recorder needs an environment");
	fh_env_info(read.env, &info);
	if (!info.task)
		return error_say(err, EPROTO, "the environment is being opened");
	folder = read.out ? xstrdup(read.out) : run_dir_default();
	r = xcalloc(1, sizeof(*r));
	run_record_init(&r->record, NULL);
	r->env = read.env;
	r->seed = read.seed;
	r->base.mark = fork_mark();
	n = r->base.mark
			? record_api_start(r, &read, &info, folder, err)
			: error_say(err, ENOMEM,
					  "out of memory for a page that tells a fork from its parent");
	if (n < 0) {
		run_record_release(&r->record);
		free(r);
		return n;
	}
	r->base.events = r->record.recorder;
	*out = &r->base;
	return 0;
}

void fh_recorder_close(struct fh_recorder *base)
{
	struct record_api *r = base ? record_of(base) : NULL;

	if (!base || recorder_check_process(base, NULL) < 0)
		return;
	run_record_release(&r->record);
	free(r->exit_status);
	free(r);
}

/* --- events ----------------------------------------------------------------------------------- */

int fh_recorder_reset(struct fh_recorder *base, const struct fh_step *step, struct fh_error *err)
{
	int n = record_api_check(base, RECORD_OPEN, err);
	struct record_api *r = record_of(base);

	if (n < 0)
		return n;
	n = run_record_memory(&r->record, r->env, err);
	if (n < 0)
		return n;
	r->env = NULL;
	r->phase = RECORD_PLAYED;
	episode_log_reset(&r->record.log, step);
	return recorder_reset(base->events, r->seed, step, err);
}

int fh_recorder_step(struct fh_recorder *base, const struct fh_turn *turn,
		const struct fh_step *step, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	int n = record_api_check(base, RECORD_PLAYED, err);
	struct record_api *r = record_of(base);
	struct recorder_turn own = { 0 };
	struct fh_turn read;

	if (n < 0)
		return n;
	n = SIZED_READ(fh_turn, &read, turn, err);
	if (n < 0)
		return n;
	if (!read.action)
		return error_say(err, EINVAL, "a recorded step needs its action");
	n = record_api_check_text("action", read.action, err);
	if (n < 0)
		return n;
	n = record_api_check_text("response", read.response, err);
	if (n < 0)
		return n;
	n = record_api_check_text("thought", read.thought, err);
	if (n < 0)
		return n;
	n = record_api_read_numbers(&arena, read.numbers, &own.numbers, err);
	if (n < 0)
		return n;
	own.action = read.action;
	own.response = read.response;
	own.thought = read.thought;
	if (step->terminated || step->truncated)
		r->phase = RECORD_OVER;
	if (step->exit_status)
		xstrset(&r->exit_status, step->exit_status);
	episode_log_action(&r->record.log, read.action);
	episode_log_step(&r->record.log, step);
	return recorder_step(base->events, &own, step, err);
}

int fh_recorder_end(struct fh_recorder *base, const struct fh_record_end *end, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct record_api *r = record_of(base);
	struct recorder_end own = { 0 };
	struct chat_stats stats = { 0 };
	struct fh_record_end read;
	int n = recorder_check_process(base, err);

	if (n < 0)
		return n;
	if (r->phase == RECORD_ENDED)
		return error_say(err, EPROTO, "the record has ended already");
	n = SIZED_READ(fh_record_end, &read, end, err);
	if (n < 0)
		return n;
	n = record_api_check_text("error", read.error, err);
	if (n < 0)
		return n;
	n = record_api_check_text("exit status", read.exit_status, err);
	if (n < 0)
		return n;
	n = record_api_read_numbers(&arena, read.numbers, &own.numbers, err);
	if (n < 0)
		return n;
	own.exit_status = read.exit_status ? read.exit_status
			: r->exit_status   ? r->exit_status
					   : EARLY_EXIT;
	own.error = read.error;
	stats.calls = read.calls;
	stats.tokens_sent = read.tokens_sent;
	stats.tokens_received = read.tokens_received;
	stats.cost = read.cost;
	stats.unpriced = read.cost == 0 ? read.calls : 0;
	r->phase = RECORD_ENDED;
	if (read.error)
		episode_log_failed(&r->record.log, read.error);
	episode_log_over(&r->record.log, own.exit_status);
	return run_record_end(&r->record, &own, read.calls ? &stats : NULL, err);
}

const char *fh_recorder_folder(const struct fh_recorder *base)
{
	return record_of_const(base)->record.dir;
}

const char *fh_recorder_traj(const struct fh_recorder *base)
{
	return recorder_traj(base->events);
}
