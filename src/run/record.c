/* SPDX-License-Identifier: Apache-2.0 */
#include "run/record.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/memory.h"
#include "run/args.h"
#include "trajectory/run_dir.h"

#include <stdlib.h>

#define STATS_BYTES_MAX 4096

/* --- the beginning ---------------------------------------------------------------------------- */

static int record_open_log(struct episode *e, const char *task, const char *dir)
{
	struct episode_log_place place = {
		.task = task,
		.episode = e->number,
		.dir = dir,
		.warnings = { fh_gym_warning(e->plan.gym),
				e->plan.agent ? e->plan.agent->warning : NULL,
				fh_env_warning(e->env) },
	};

	return episode_log_open(&e->log, &place, &e->error);
}

struct run_name run_record_name(const struct episode_plan *p, const char *model, const char *task)
{
	struct run_name name = RUN_NAME_INIT;

	name.model = model;
	name.task = task;
	name.suffix = p->suffix;
	if (p->agent) {
		name.agent_config = p->agent->config->stem;
		name.temperature = p->agent->options.temperature;
		name.top_p = p->agent->options.top_p;
		name.cost_limit = p->agent->options.cost_limit;
	}
	return name;
}

static int record_make_dir(struct episode *e, const struct run_name *name, char **out_dir)
{
	const struct run_past *past = e->plan.past;

	if (!past)
		return run_dir_make(e->plan.out, name, out_dir, &e->number, &e->error);
	*out_dir = xstrdup(past->dir);
	e->number = past->number;
	return 0;
}

/* Where the record does not say, or nothing is played again, there is nothing to compare. */
static void record_say_change(
		struct episode *e, const char *what, const char *recorded, const char *now)
{
	if (recorded && *recorded && now && !str_eq(recorded, now))
		episode_log_changed(&e->log, &(struct episode_log_change){ what, recorded, now });
}

int run_record_open(struct episode *e, const struct fh_env_info *info)
{
	const struct episode_plan *p = &e->plan;
	auto_free char *task =
			xasprintf("%s%s%s", info->task, *info->variant ? ":" : "", info->variant);
	struct run_name name;
	struct recorder_options o = { .env = info, .reward = p->reward };
	struct run_asked asked = { .plan = p,
		.name = &name,
		.chat = e->chat,
		.max_steps = info->max_steps,
		.gpus = info->gpus,
		.n_gpus = info->n_gpus };
	auto_free char *dir = NULL;
	int r;

	o.model = e->model ? model_label(e->model) : p->model;
	if (p->agent) {
		o.agent_config = p->agent->config->stem;
		o.agent_config_path = p->agent->config->place;
		o.agent_hash = p->agent->config->hash;
	}
	name = run_record_name(p, o.model, task);
	r = record_make_dir(e, &name, &dir);
	if (r < 0)
		return r;
	r = fh_gym_hide(p->gym, p->out, &e->error);
	if (r < 0)
		return r;
	o.dir = dir;
	o.run = e->number;
	o.resume = p->past != NULL;
	r = o.resume ? 0 : run_args_write(dir, &asked, &e->error);
	if (r < 0)
		return r;
	/* Before anything is written into the folder of a run that goes on: another process may play it. */
	r = recorder_open(&o, &e->recorder, &e->error);
	if (r < 0)
		return r;
	r = record_open_log(e, task, dir);
	if (r < 0)
		return r;
	e->traj = xstrdup(recorder_traj(e->recorder));
	episode_log_begun(&e->log, o.model, p->seed, info->max_steps);
	record_say_change(e, "task", p->task_hash, info->task_hash);
	record_say_change(e, "agent", p->agent_hash, o.agent_hash);
	return 0;
}

int run_record_memory(struct episode *e)
{
	const struct buf *memory = env_memory(e->env);
	auto_free char *dir = path_dirname(e->traj);
	auto_free char *path = path_join(dir, RUN_MEMORY_FILE);

	return memory ? fd_write_file(path, buf_str(memory), memory->len, 0666, &e->error) : 0;
}

/* --- what it costs, and the end ---------------------------------------------------------------------------------- */

static const struct pyjson *record_make_stats(struct arena *arena, const struct chat_stats *stats)
{
	auto_buf struct buf text = BUF_INIT(STATS_BYTES_MAX);
	struct pyjson_writer w = PYJSON_WRITER_INIT(&text, PYJSON_LINE);
	const struct pyjson *out = NULL;

	pyjson_put_object(&w, NULL);
	pyjson_put_double(&w, "total_cost", stats->cost);
	pyjson_put_double(&w, "task_cost", stats->cost);
	pyjson_put_i64(&w, "tokens_sent", stats->tokens_sent);
	pyjson_put_i64(&w, "tokens_received", stats->tokens_received);
	pyjson_put_i64(&w, "api_calls", stats->calls);
	pyjson_end_object(&w);
	pyjson_read(arena, &(struct pyjson_source){ "stats", buf_str(&text), text.len, 0 }, &out,
			NULL);
	return out;
}

struct chat_stats run_record_stats(const struct pyjson *stats)
{
	struct chat_stats s = { 0 };

	pyjson_double(pyjson_get(stats, "total_cost"), &s.cost);
	pyjson_i64(pyjson_get(stats, "tokens_sent"), &s.tokens_sent);
	pyjson_i64(pyjson_get(stats, "tokens_received"), &s.tokens_received);
	pyjson_i64(pyjson_get(stats, "api_calls"), &s.calls);
	return s;
}

int run_record_spent(struct episode *e)
{
	auto_arena struct arena arena = ARENA_INIT;
	int64_t calls = e->stats.calls;

	chat_model_stats(e->chat, &e->stats);
	if (e->stats.calls == calls)
		return 0;
	return recorder_spent(e->recorder, record_make_stats(&arena, &e->stats), &e->error);
}

void run_record_end(struct episode *e, const char *exit_status)
{
	struct recorder_end end = {
		.exit_status = exit_status,
		.error = e->failed ? e->error.message : NULL,
	};
	auto_arena struct arena arena = ARENA_INIT;
	struct fh_error err;

	if (e->chat)
		end.model_stats = record_make_stats(&arena, &e->stats);
	/* What could not be resumed stays as it was. */
	if (e->plan.past && !e->resumed) {
		recorder_close(e->recorder);
		e->recorder = NULL;
	}
	e->recorded = e->recorder && recorder_end(e->recorder, &end, &err) == 0;
	if (e->recorder && !e->recorded && !e->failed) {
		e->failed = true;
		e->error = err;
	}
}
