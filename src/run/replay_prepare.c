/* SPDX-License-Identifier: Apache-2.0 */
#include "run/replay.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "run/args.h"
#include "run/episode_setup.h"
#include "run/gpu_list.h"
#include "run/mlgym_root.h"
#include "run/past.h"
#include "run/record.h"
#include "run/stranger.h"
#include "trajectory/compare.h"
#include "trajectory/export.h"
#include "trajectory/glance.h"
#include "trajectory/run_dir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a record says of the run that is played again. It may be a stranger's. */
#define REMAINING "(Current Step: 0, Remaining Steps: "

/* What lies beside the .traj, or the events. */
static char *replay_folder_of(const struct replay *r)
{
	return path_is_dir(r->path) ? xstrdup(r->path) : path_dirname(r->path);
}

static void replay_take_open(struct replay *r, const struct pyjson *event)
{
	const char *agent = run_past_agent(event);
	const char *variant = pyjson_text(pyjson_get(event, "variant"));
	const char *reward = pyjson_text(pyjson_get(event, "reward"));
	int64_t max_steps;

	r->env.task = arena_printf(&r->arena, "%s%s%s", pyjson_text(pyjson_get(event, "task")),
			*variant ? ":" : "", variant);
	r->task_hash = arena_strdup(&r->arena, pyjson_text(pyjson_get(event, "task_hash")));
	r->agent_hash = arena_strdup(&r->arena, pyjson_text(pyjson_get(event, "agent_hash")));
	r->keys = episode_recorded_keys(event);
	r->agent_spec = agent ? arena_strdup(&r->arena, agent) : NULL;
	if (pyjson_i64(pyjson_get(event, "max_steps"), &max_steps) && max_steps > 0 &&
			max_steps <= STEPS_MAX)
		r->env.max_steps = (int)max_steps;
	for (int i = 0; episode_rewards[i]; i++)
		if (str_eq(episode_rewards[i], reward))
			r->reward = i;
}

/* Its log, if it lies there: which task it was, and what was random. */
static void replay_read_events(struct replay *r)
{
	auto_free char *dir = replay_folder_of(r);
	struct glance g = glance_at(&r->arena, dir);

	if (g.open)
		replay_take_open(r, g.open);
	glance_seed(&g, &r->seed);
	if (g.open)
		r->env.memory_file = arena_printf(&r->arena, "%s/%s", dir, RUN_MEMORY_FILE);
	r->env.judge_salt = episode_recorded_salt(g.reset);
	r->recorded_s = compare_time(g.reset ? pyjson_text(pyjson_get(g.reset, "time")) : NULL);
}

/* "": it was played without a checkout. */
static int replay_take_recorded_root(struct replay *r, const char *root, struct fh_error *err)
{
	r->places.mlgym_root = NULL;
	if (!*root)
		return 0;
	return mlgym_root_find(&r->arena, "the run's checkout", root, &r->places.mlgym_root, err);
}

/* Where it was played, and under which name. What of this machine was shown to the agent, or asked for it, a
 * record can't ask for: it may be a stranger's. It is said. */
static int replay_read_args(struct replay *r, struct fh_error *err)
{
	const struct replay_options *o = r->options;
	auto_free char *dir = replay_folder_of(r);
	struct run_args args = { .temperature = 0, .top_p = 0.95, .cost_limit = 3 };
	const struct texts *bind = &args.bind;
	struct fh_error why;
	int n = args_yaml_read(&r->arena, dir, &args, &why);

	if (n < 0 && n != -ENOENT)
		warner_say(r->options->warner, "what the run was asked for can't be read: %s",
				why.message);
	r->agent.options.temperature = args.temperature;
	r->agent.options.top_p = args.top_p;
	r->agent.options.cost_limit = args.cost_limit;
	n = mlgym_root(&r->arena, o->episode.mlgym_root, r->is_next ? NULL : r->options->warner,
			&r->own_root, err);
	if (n < 0)
		return n;
	r->places.mlgym_root = r->own_root;
	if (!o->episode.mlgym_root && args.mlgym_root)
		n = replay_take_recorded_root(r, args.mlgym_root, err);
	if (n < 0)
		return n;
	r->place_is_known = o->episode.tasks_dir || o->episode.mlgym_root || args.mlgym_root ||
			r->own_root;
	r->places.tasks_dir = o->episode.tasks_dir ? o->episode.tasks_dir : args.tasks_dir;
	r->env.n_gpus = args.gpus.n;
	for (size_t i = 0; i < bind->n && !o->episode.bind.n; i++)
		warner_say(r->options->warner,
				"the run was shown --bind %s: without it there may be differences",
				bind->items[i]);
	if (args.python && *args.python && !o->episode.python)
		warner_say(r->options->warner,
				"the run had --python %s: without it there may be differences",
				args.python);
	if (args.aliases && *args.aliases && !o->episode.aliases)
		warner_say(r->options->warner,
				"the run had --aliases-file %s: without it there may be differences",
				args.aliases);
	r->web_hosts = args.web_hosts;
	r->original_tools = o->tools_given ? o->tools != 0 : args.original_tools;
	return 0;
}

/* A recording of MLGym's is called after its task; how many steps there were its first message says. */
static int replay_read_traj(struct replay *r, struct fh_error *err)
{
	const char *name = path_basename(r->path);
	const char *first = r->recorded->n_history > 1
			? pyjson_text(r->recorded->history[1].content)
			: "";
	const char *steps = strstr(first, REMAINING);

	if (!r->env.task && !r->options->task && !r->place_is_known)
		return error_say(err, EINVAL,
				"'%s' is a recording of MLGym's, since no %s lies beside it: "
				"--mlgym-root DIR names the checkout that has its task '%.*s'; "
				"--task T plays one of ours",
				r->path, EXPORT_EVENTS, (int)strcspn(name, "."), name);
	if (!r->env.task)
		r->env.task = arena_strndup(&r->arena, name, strcspn(name, "."));
	if (!r->env.max_steps && steps)
		r->env.max_steps = (int)strtol(steps + strlen(REMAINING), NULL, 10);
	return 0;
}

/* What the options say wins over what was recorded. */
static void replay_take_options(struct replay *r)
{
	const struct replay_options *o = r->options;

	if (o->task)
		r->env.task = o->task;
	if (o->agent)
		r->agent_spec = o->agent;
	r->aliases = episode_aliases(
			o->episode.aliases, r->places.mlgym_root, r->options->warner, &r->arena);
	if (o->episode.max_steps)
		r->env.max_steps = o->episode.max_steps;
	if (o->episode.given.seed)
		r->seed = o->episode.seed;
	if (o->episode.judge_salt)
		r->env.judge_salt = o->episode.judge_salt;
	if (o->episode.given.reward)
		r->reward = o->episode.reward;
	r->env.variant = o->episode.variant;
	r->env.reward = (enum fh_reward_kind)r->reward;
	r->out = o->out ? xstrdup(o->out) : run_dir_default();
}

/* Who was led by a configuration is led by it again: its commands are there, and the conversation is made
 * anew. */
static int replay_load_agent(struct replay *r, struct fh_error *err)
{
	struct agent_config_options o = {
		.spec = r->agent_spec,
		.root = r->places.mlgym_root,
		.recorded = !r->options->agent,
		.original_tools = r->original_tools,
		.own_root = r->own_root,
	};
	struct warnings warnings = { 0 };
	int n;

	if (!r->agent_spec)
		return 0;
	if (o.root)
		o.warnings = &warnings;
	n = agent_config_load(&o, &r->agent.config, err);
	if (n == 0)
		episode_say_tools(r->agent.config, r->is_next ? NULL : r->options->warner);
	if (n == 0 || r->options->agent)
		return n;
	warner_say(r->options->warner,
			"the agent's configuration can't be used: %s. Without it there are neither its commands nor the "
			"conversation; --agent gives another",
			err->message);
	return 0;
}

/* That nothing was asked holds; what was, or what an agent of the record's would ask, is said, as a bind is. */
static void replay_choose_web_hosts(struct replay *r)
{
	const struct episode_options *o = &r->options->episode;
	const struct agent_config *agent = r->agent.config;
	const char *wanted = r->web_hosts ? r->web_hosts : episode_web_hosts(o, agent);

	r->env.web_hosts = episode_web_hosts(o, r->options->agent ? agent : NULL);
	if (!wanted || o->web_hosts || str_eq(wanted, r->env.web_hosts))
		return;
	if (str_eq(wanted, "none"))
		r->env.web_hosts = NULL;
	else
		warner_say(r->options->warner,
				"the run could ask --web-hosts %s: without it there may be differences",
				wanted);
}

static int replay_check_task(const struct replay *r, struct fh_error *err)
{
	const char *given = r->options->task;
	struct stranger_task t = {
		.places = &r->places,
		.task = r->env.task,
		.variant = r->env.variant,
		.given = &r->options->episode,
		.is_given = given && strchr(given, '/'),
	};

	return stranger_check_task(&t, err);
}

/* As many as it had, whichever are free. */
static int replay_choose_gpus(struct replay *r, struct fh_error *err)
{
	const struct texts *gpus = &r->options->gpus;

	if (!gpus->n && r->env.n_gpus)
		warner_say(r->options->warner,
				"the run had %zu GPUs, and has as many again: --gpus none plays it without",
				r->env.n_gpus);
	if (!gpus->n)
		return 0;
	r->env.n_gpus = 0;
	if (gpus->n == 1 && str_eq(gpus->items[0], "none"))
		return 0;
	r->env.n_gpus = gpus->n;
	return gpu_list_read(gpus, &r->arena, &r->gpus, err);
}

int replay_prepare(struct replay *r, struct fh_error *err)
{
	const struct replay_options *o = r->options;
	int n = export_record(r->name, &r->path, err);

	if (n < 0)
		return n;
	n = export_traj(r->path, &r->recorded, err);
	if (n < 0)
		return n;
	if (!r->recorded->n_steps)
		return error_say(err, ENODATA, "there is no step to play in '%s'", r->path);
	r->model = arena_printf(&r->arena, "replay:%s", r->path);
	replay_read_events(r);
	n = replay_read_args(r, err);
	if (n < 0)
		return n;
	n = replay_read_traj(r, err);
	if (n < 0)
		return n;
	replay_take_options(r);
	n = replay_check_task(r, err);
	if (n < 0)
		return n;
	n = episode_binds(&o->episode.bind, &r->arena, &r->env.binds, err);
	if (n < 0)
		return n;
	n = episode_python(o->episode.python, &r->arena, &r->env.python, err);
	if (n < 0)
		return n;
	n = replay_choose_gpus(r, err);
	if (n < 0)
		return n;
	n = replay_load_agent(r, err);
	if (n < 0)
		return n;
	r->env.n_binds = o->episode.bind.n;
	r->env.max_text_bytes = RECORDER_TEXT_BYTES;
	replay_choose_web_hosts(r);
	return 0;
}
