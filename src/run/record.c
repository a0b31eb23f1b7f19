/* SPDX-License-Identifier: Apache-2.0 */
#include "run/record.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/secret.h"
#include "base/str.h"
#include "env/env.h"
#include "run/args.h"
#include "run/foreign.h"
#include "trajectory/export.h"
#include "trajectory/run_dir.h"

#include <stdlib.h>

#define STATS_BYTES_MAX 4096

/* --- opening a gym ---------------------------------------------------------------------------- */

static int record_hide_all(struct fh_gym *gym, const char *out, struct fh_error *err)
{
	if (path_mkdirs(out, 0777, err) < 0)
		return error_wrap(err, "--out");
	return fh_gym_hide(gym, out, err);
}

int run_record_open_gym(const struct fh_gym_options *options, const char *out,
		struct fh_gym **out_gym, struct fh_error *err)
{
	struct fh_gym *gym;
	int n = fh_gym_open(options, &gym, err);

	if (n < 0)
		return n;
	if (fh_gym_warning(gym))
		log_line(NULL, LOG_WARN, fh_gym_warning(gym), NULL, 0);
	n = out ? record_hide_all(gym, out, err) : 0;
	if (n < 0)
		fh_gym_close(gym);
	else
		*out_gym = gym;
	return n;
}

/* --- opening a record ------------------------------------------------------------------------- */

struct run_name run_record_name(const struct episode_plan *p, const char *model, const char *task)
{
	struct run_name name = RUN_NAME_INIT;

	name.model = model;
	name.task = task;
	name.suffix = p->suffix;
	if (p->agent) {
		name.agent_config = p->foreign ? FOREIGN_CONFIG : p->agent->config->stem;
		name.temperature = p->agent->options.temperature;
		name.top_p = p->agent->options.top_p;
		name.cost_limit = p->agent->options.cost_limit;
	}
	return name;
}

void run_record_init(struct run_record *r, const char *task)
{
	*r = (struct run_record){ 0 };
	episode_log_init(&r->log, task);
}

void run_record_release(struct run_record *r)
{
	recorder_close(r->recorder);
	episode_log_release(&r->log);
	free(r->dir);
	*r = (struct run_record){ 0 };
	r->log.file.fd = -1;
}

/* Logs that the task's or agent's hash differs from the recorded one. Logs nothing if one of them
 * is not known: `recorded` is NULL or empty, or `now` is NULL. */
static void record_log_change(
		struct run_record *r, const char *what, const char *recorded, const char *now)
{
	if (recorded && *recorded && now && !str_eq(recorded, now))
		episode_log_changed(&r->log, &(struct episode_log_change){ what, recorded, now });
}

static int record_make_dir(struct run_record *r, const struct run_record_start *start,
		const struct run_name *name, struct fh_error *err)
{
	const struct fh_env_info *info = start->info;
	const struct episode_plan *p = start->plan;
	struct run_asked asked = { .plan = p,
		.name = name,
		.chat = start->chat,
		.max_steps = info->max_steps,
		.gpus = info->gpus,
		.n_gpus = info->n_gpus };
	int n;

	if (start->resume_dir) {
		r->dir = xstrdup(start->resume_dir);
		r->number = start->resume_number;
		return fh_gym_hide(p->gym, p->out, err);
	}
	if (!p->out)
		return 0;
	n = run_dir_make(p->out, name, &r->dir, &r->number, err);
	if (n < 0 || !p->env)
		return n;
	n = fh_gym_hide(p->gym, p->out, err);
	return n < 0 ? n : run_args_write(r->dir, &asked, err);
}

int run_record_open(
		struct run_record *r, const struct run_record_start *start, struct fh_error *err)
{
	const struct episode_plan *p = start->plan;
	const struct fh_env_info *info = start->info;
	auto_free char *task =
			xasprintf("%s%s%s", info->task, *info->variant ? ":" : "", info->variant);
	struct run_name name = run_record_name(p, start->model, task);
	struct recorder_options o = { .env = info,
		.reward = p->reward,
		.model = start->model,
		.policy_step = start->policy_step,
		.output_bytes = p->env ? p->env->output_bytes : 0,
		.resume = start->resume_dir != NULL };
	int n = record_make_dir(r, start, &name, err);

	if (n < 0)
		return n;
	if (p->foreign) {
		o.agent_config = name.agent_config;
	} else if (p->agent) {
		o.agent_config = p->agent->config->stem;
		o.agent_config_path = p->agent->config->place;
		o.agent_hash = p->agent->config->hash;
		o.history = p->agent->config->processor->name;
		o.history_n = p->agent->config->args.n;
	}
	o.dir = r->dir;
	o.run = r->number;
	/* Open the record first: this fails if another process has locked the folder of a resumed
	 * run. */
	n = r->dir ? recorder_open(&o, &r->recorder, err) : 0;
	if (n < 0)
		return n;
	n = episode_log_open(&r->log,
			&(struct episode_log_place){
					.task = task,
					.episode = r->number,
					.dir = r->dir,
					.warnings = { fh_gym_warning(p->gym),
							p->agent ? p->agent->warning : NULL,
							start->warning },
			},
			err);
	if (n < 0)
		return n;
	episode_log_begun(&r->log, start->model, p->seed, info->max_steps);
	record_log_change(r, "task", p->task_hash, info->task_hash);
	record_log_change(r, "agent", p->agent_hash, o.agent_hash);
	if (p->keys && p->keys != SECRET_KEYS_VERSION)
		episode_log_other_keys(&r->log, p->keys);
	return 0;
}

int run_record_memory(const struct run_record *r, const struct fh_env *env, struct fh_error *err)
{
	const struct buf *memory = env_memory(env);
	auto_free char *path = path_join(r->dir, RUN_MEMORY_FILE);

	return memory ? fd_write_file(path, buf_str(memory), memory->len, 0666, err) : 0;
}

/* --- recording the model's cost and the end of the run ---------------------------------------- */

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
	/* Readers take a cost of 0 for unknown without this, as MLGym's records have it. */
	if (stats->cost == 0 && stats->calls && !stats->unpriced)
		pyjson_put_bool(&w, EXPORT_FREE, true);
	pyjson_end_object(&w);
	pyjson_read(arena, &(struct pyjson_source){ "stats", buf_str(&text), text.len, 0 }, &out,
			NULL);
	return out;
}

void run_record_look(struct run_record *r, struct fh_env *env, struct live_now now)
{
	struct live *live = r->recorder ? recorder_live(r->recorder) : NULL;
	auto_buf struct buf output = BUF_INIT(LIVE_OUTPUT_BYTES);

	if (!live)
		return;
	if (now.phase == LIVE_STEP && env_is_grading(env))
		now.phase = LIVE_GRADING;
	else if (now.phase == LIVE_STEP)
		now.printed = env_printed(env);
	if (!live_look(live, &now))
		return;
	if (now.printed)
		env_output_tail(env, LIVE_OUTPUT_BYTES, &output);
	live_write(live, &now, output.len ? &output : NULL);
}

struct chat_stats run_record_stats(const struct pyjson *stats)
{
	struct chat_stats s = { 0 };

	pyjson_double(pyjson_get(stats, "total_cost"), &s.cost);
	pyjson_i64(pyjson_get(stats, "tokens_sent"), &s.tokens_sent);
	pyjson_i64(pyjson_get(stats, "tokens_received"), &s.tokens_received);
	pyjson_i64(pyjson_get(stats, "api_calls"), &s.calls);
	if (s.cost == 0 && !export_is_free(stats))
		s.unpriced = s.calls;
	return s;
}

int run_record_spent(struct run_record *r, const struct chat_stats *stats, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;

	return recorder_spent(r->recorder, record_make_stats(&arena, stats), err);
}

int run_record_end(struct run_record *r, const struct recorder_end *end,
		const struct chat_stats *stats, struct fh_error *err)
{
	struct recorder_end own = *end;
	auto_arena struct arena arena = ARENA_INIT;

	if (stats)
		own.model_stats = record_make_stats(&arena, stats);
	return recorder_end(r->recorder, &own, err);
}
