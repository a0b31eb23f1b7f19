/* SPDX-License-Identifier: Apache-2.0 */
#include "run/plan.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/memory.h"
#include "model/dotenv.h"
#include "run/episode_setup.h"
#include "run/existing.h"
#include "run/mlgym_root.h"
#include "run/stranger.h"
#include "run/sweep.h"
#include "run/tasks.h"
#include "task/dataset.h"
#include "task/mlgym.h"
#include "task/requirements.h"
#include "trajectory/run_dir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EPISODES_MAX 1000000
#define MISSING_BYTES_MAX 4096
#define LEFT_OUT_BYTES_MAX 768 /* a message has no room for more */

struct planning {
	struct run_plan *plan;
	const struct run_options *given; /* as they were asked for */
	const struct run_options *options;
	struct texts tasks;
	bool all_tasks;
	const struct fh_bind *binds;
	const char *python;
	char task_hash[SHA256_HEX_BYTES]; /* of the task that is planned, with --skip-existing */
	int runs;
	struct fh_error *err;
};

/* --- models ------------------------------------------------------------------------------------------------- */

/* What is no language model: options that only one heeds are checked all the same. */
static int plan_open_other(
		struct planning *p, struct run_agent *agent, const struct run_agent_options *o)
{
	const char *root = p->plan->places.mlgym_root;
	int r = run_agent_check_options(o, p->err);

	if (r < 0)
		return r;
	if (model_speaks(agent->model))
		return run_agent_load(agent, o, root, p->options->warner, p->err);
	return o->config ? run_agent_check_config(o, root, p->err) : 0;
}

static int plan_open_agent(struct planning *p, const struct run_agent_options *o, const char *model)
{
	struct run_plan *plan = p->plan;
	struct run_agent *agent;
	int r = 0;

	plan->agents = xrealloc(plan->agents, plan->n_agents + 1, sizeof(*plan->agents));
	agent = &plan->agents[plan->n_agents++];
	*agent = (struct run_agent){ .model = model };
	if (!chat_is_spec(model))
		return plan_open_other(p, agent, o);
	if (!plan->chat)
		r = run_agent_service(&p->options->agent, plan->past.spent.cost, episode_retried,
				&plan->chat, p->err);
	if (r == 0)
		r = run_agent_open(agent, o, plan->places.mlgym_root, p->options->warner,
				plan->chat, p->err);
	if (r == 0 && run_agent_key_is_in(agent, p->options->suffix))
		return error_say(p->err, EINVAL,
				"--suffix holds the key of %s, and names of folders are no place for it",
				model);
	return r;
}

/* Led by each agent, at each temperature; what is no language model has neither, and recorded replies are what
 * they are at any temperature. */
static int plan_open_model(struct planning *p, const char *model)
{
	const struct run_options *o = p->options;
	size_t configs = o->agent_configs.n;
	size_t temperatures = chat_is_spec(model) ? o->n_temperatures : 0;

	if (!chat_is_spec(model) && !model_speaks(model))
		return plan_open_agent(p, &o->agent, model);
	for (size_t i = 0; i < (configs ? configs : 1); i++) {
		for (size_t k = 0; k < (temperatures ? temperatures : 1); k++) {
			struct run_agent_options own = o->agent;
			int r;

			if (configs)
				own.config = o->agent_configs.items[i];
			if (temperatures)
				own.temperature = o->temperatures[k];
			r = plan_open_agent(p, &own, model);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int plan_open_agents(struct planning *p)
{
	const struct run_options *o = p->options;
	const char *replay = NULL;

	if (o->replay_path)
		replay = arena_printf(&p->plan->arena, "replay:%s", o->replay_path);
	for (size_t i = 0; i < o->models.n; i++) {
		const char *model = o->models.items[i];
		bool is_replay = replay && str_eq(model, "replay");
		int r;

		if (replay && !is_replay)
			return error_say(p->err, EINVAL,
					"--replay_path wants --model replay, not %s", model);
		r = plan_open_model(p, is_replay ? replay : model);
		if (r < 0)
			return r;
	}
	run_agent_name_all(p->plan->agents, p->plan->n_agents);
	run_agent_warn_all(p->plan->agents, p->plan->n_agents, o->warner);
	return 0;
}

/* A model that can't play this task is said before anything runs; *out_label is on the heap. */
static int plan_check_model(struct planning *p, const struct run_agent *agent, const char *name,
		const struct task *task, char **out_label)
{
	struct model_request request = {
		.spec = agent->model,
		.places = &p->plan->places,
		.task = name,
		.variant = p->options->episode.variant,
		.in_fd = p->options->human_in,
		.out_fd = p->options->human_out,
		.stop_fd = -1,
	};
	struct model *model;
	int r = episode_check_setup(agent->config, p->plan->aliases, p->err);

	if (r == 0 && agent->config)
		r = run_agent_check(agent, task, p->err);
	if (r < 0)
		return r;
	if (agent->chat) {
		*out_label = xstrdup(request.spec);
		return 0;
	}
	r = model_open(&request, &model, p->err);
	if (r < 0)
		return r;
	if (model_is_interactive(model))
		p->plan->interactive = true;
	*out_label = xstrdup(model_label(model));
	model_close(model);
	return 0;
}

/* --- episodes ----------------------------------------------------------------------------------------------- */

/* Run i of all those that differ in nothing else. */
static uint64_t plan_seed_of(const struct planning *p, int i)
{
	const struct run_options *o = p->options;
	int of_each = o->n_seeds ? p->runs / (int)o->n_seeds : p->runs;

	return (o->n_seeds ? o->seeds[i / of_each] : o->episode.seed) + (uint64_t)(i % of_each);
}

static int plan_find_existing(struct planning *p, const struct episode_plan *plan,
		const struct task *task, const char *label, struct run_existing *out)
{
	struct run_wanted wanted = {
		.plan = plan, .task = task, .task_hash = p->task_hash, .label = label
	};

	if (!p->options->skip_existing)
		return 0;
	return run_existing_read(&wanted, out, p->err);
}

static void plan_add_episodes(struct planning *p, const struct episode_plan *one,
		const struct run_existing *existing)
{
	struct run_plan *plan = p->plan;

	plan->episodes = xrealloc(
			plan->episodes, plan->n + (size_t)p->runs + 1, sizeof(*plan->episodes));
	for (int i = 0; i < p->runs; i++) {
		struct episode *e = &plan->episodes[plan->n++];
		struct episode_plan own = *one;

		own.seed = plan_seed_of(p, i);
		episode_init(e, &own);
		plan->n_found += run_existing_take(existing, e);
	}
}

static int plan_model(struct planning *p, const struct run_agent *agent, const char *name,
		const struct task *task, const struct fh_env_options *env)
{
	const struct run_options *o = p->options;
	struct run_plan *plan = p->plan;
	struct episode_plan one = {
		.places = &plan->places,
		.model = agent->model,
		.agent = agent->config ? agent : NULL,
		.out = plan->out,
		.suffix = o->suffix,
		.aliases = plan->aliases,
		.reward = episode_rewards[o->episode.reward],
		.task_hash = plan->past.task_hash,
		.agent_hash = plan->past.agent_hash,
		.keys = plan->past.keys,
		.past = plan->past.dir ? &plan->past : NULL,
		.human_in = o->human_in,
		.human_out = o->human_out,
	};
	struct fh_env_options *own = arena_alloc(&plan->arena, sizeof(*own));
	auto_free char *label = NULL;
	struct run_existing existing = { .arena = ARENA_INIT };
	int r = plan_check_model(p, agent, name, task, &label);

	*own = *env;
	own->web_hosts = episode_web_hosts(&o->episode, agent->config);
	one.env = own;
	if (r < 0)
		return r;
	if (plan->n + (size_t)p->runs > EPISODES_MAX)
		return error_say(p->err, E2BIG, "more than %d episodes", EPISODES_MAX);
	r = plan_find_existing(p, &one, task, label, &existing);
	if (r == 0)
		plan_add_episodes(p, &one, &existing);
	run_existing_release(&existing);
	return r;
}

/* With `--task all`, a task that the model can't play is left out with a warning. */
static int plan_one(struct planning *p, const struct run_agent *agent, const char *name,
		const struct task *task, const struct fh_env_options *env)
{
	int r = plan_model(p, agent, name, task, env);

	if (r == 0 || !p->all_tasks)
		return r;
	warner_say(p->options->warner, "%s is left out for %s: %s", name, agent->model,
			p->err->message);
	return 0;
}

static bool plan_has_own_python(const struct planning *p)
{
	const struct fh_bind *b = p->binds, *end = b + p->options->episode.bind.n;

	while (b < end && !path_is_within(MLGYM_CONDA_PYTHON, b->target ? b->target : b->source))
		b++;
	return p->python || b < end;
}

static void plan_warn_of_requirements(struct planning *p, const struct task *task)
{
	auto_buf struct buf missing = BUF_INIT(MISSING_BYTES_MAX);

	if (!task->requirements || plan_has_own_python(p) ||
			requirements_missing(task->requirements, NULL, &missing, NULL) < 0 ||
			!missing.len)
		return;
	warner_say(p->options->warner,
			"%s: this machine's Python lacks %s of %s; --python ENV shows one that has them",
			task->id, buf_str(&missing), path_basename(task->requirements));
}

/* Empty, as no record has it, while data is yet to be made: nothing was played with it. */
static int plan_hash_task(struct planning *p, const struct task *task)
{
	*p->task_hash = '\0';
	for (size_t i = 0; i < task->n_datasets; i++)
		if (!dataset_is_there(&task->datasets[i]))
			return 0;
	return task_hash(task, p->task_hash, p->err);
}

static int plan_task(struct planning *p, const char *name)
{
	const struct run_options *o = p->options;
	struct run_plan *plan = p->plan;
	struct fh_env_options *env = arena_alloc(&plan->arena, sizeof(*env));
	struct task *task;
	int r = task_load(&plan->places, name, o->episode.variant, &task, p->err);

	*env = (struct fh_env_options){
		.task = name,
		.variant = o->episode.variant,
		.reward = (enum fh_reward_kind)o->episode.reward,
		.max_steps = o->episode.max_steps,
		.memory = o->memory,
		.memory_file = plan->past.memory,
		.judge_salt = o->episode.judge_salt,
		.max_text_bytes = RECORDER_TEXT_BYTES,
		.binds = p->binds,
		.n_binds = o->episode.bind.n,
		.python = p->python,
		.n_gpus = (size_t)o->gpus_per_agent,
	};
	if (r < 0)
		return r;
	for (size_t i = 0; i < task->n_warnings; i++)
		warner_say(o->warner, "%s", task->warnings[i]);
	plan_warn_of_requirements(p, task);
	if (o->memory && task->memory && !plan->past.memory)
		r = memory_check_task(task, p->err);
	if (r == 0 && o->skip_existing)
		r = plan_hash_task(p, task);
	for (size_t i = 0; i < plan->n_agents && r == 0; i++)
		r = plan_one(p, &plan->agents[i], name, task, env);
	task_free(task);
	return r;
}

/* Keys, most of all; before there are threads. */
static int plan_load_variables(struct planning *p)
{
	auto_free char *of_root = NULL;
	auto_buf struct buf left_out = BUF_INIT(LEFT_OUT_BYTES_MAX);
	const char *root;
	const struct run_options *o = p->options;
	int r = mlgym_root(&p->plan->arena, o->episode.mlgym_root, o->warner, &root, p->err);

	if (r < 0)
		return r;
	of_root = root ? path_join(root, ".env") : NULL;
	r = dotenv_load(!root || path_exists(".env") ? ".env" : of_root, &left_out, p->err);
	if (r == 0 && left_out.len)
		warner_say(o->warner, "a .env may not set these, so they are left out: %s%s",
				buf_str(&left_out), left_out.truncated ? "..." : "");
	return r;
}

/* Its folder is where it is. */
static int plan_check_out(struct planning *p, const char *out)
{
	auto_free char *given = out ? realpath(out, NULL) : NULL;
	auto_free char *own = realpath(p->plan->out, NULL);

	if (!out || (given && own && str_eq(given, own)))
		return 0;
	return error_say(p->err, EINVAL,
			"--resume goes on in the run's own folder: leave --out out");
}

/* A run that goes on was asked for when it began. */
static int plan_take_past(struct planning *p, struct run_options *own)
{
	struct run_plan *plan = p->plan;
	double limit = own->agent.given.cost_limit ? own->agent.cost_limit : -1;
	int r = run_past_open(own->resume, limit, &plan->past, p->err);

	if (r < 0)
		return r;
	plan->out = path_dirname(plan->past.dir);
	r = plan_check_out(p, own->out);
	if (r == 0)
		r = run_past_apply(&plan->past, own, p->err);
	if (r < 0)
		return r;
	p->runs = 1;
	p->options = own;
	return 0;
}

static int plan_take_sweep(struct planning *p, struct run_options *own)
{
	int r = run_sweep_apply(&p->plan->arena, &p->plan->places, own, p->err);
	size_t seeds = own->n_seeds ? own->n_seeds : 1;

	if (r == 0 && (size_t)own->runs * seeds > EPISODES_MAX)
		return error_say(p->err, E2BIG, "more than %d episodes", EPISODES_MAX);
	p->runs = own->runs * (int)seeds;
	p->options = own;
	return r;
}

/* Its place may be the record's word. */
static int plan_check_past_task(struct planning *p)
{
	struct stranger_task t = {
		.places = &p->plan->places,
		.task = p->tasks.items[0],
		.given = &p->given->episode,
	};

	return stranger_check_task(&t, p->err);
}

static int plan_make(struct planning *p)
{
	const struct run_options *o = p->options;
	struct run_plan *plan = p->plan;
	int r;

	plan->aliases = episode_aliases(
			o->episode.aliases, plan->places.mlgym_root, o->warner, &plan->arena);
	r = run_tasks_find(o, &plan->places, &plan->arena, &p->tasks, &p->all_tasks, p->err);
	if (r < 0)
		return r;
	r = plan->past.dir ? plan_check_past_task(p) : 0;
	if (r < 0)
		return r;
	r = episode_binds(&o->episode.bind, &plan->arena, &p->binds, p->err);
	if (r < 0)
		return r;
	r = episode_python(o->episode.python, &plan->arena, &p->python, p->err);
	if (r < 0)
		return r;
	if (o->episode.judge_salt > FH_JUDGE_SALT_MAX) /* before any episode begins */
		return error_say(p->err, EINVAL, "--judge-salt is at most %llu", FH_JUDGE_SALT_MAX);
	r = plan_open_agents(p);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p->tasks.n; i++) {
		r = plan_task(p, p->tasks.items[i]);
		if (r < 0)
			return r;
	}
	plan->gpus_per_agent = o->gpus_per_agent;
	return plan->n ? 0 : error_say(p->err, ENOENT, "there is no task that could be played");
}

int run_plan_make(struct run_plan *plan, const struct run_options *o, struct fh_error *err)
{
	struct run_options own = *o;
	struct planning p = { .plan = plan, .given = o, .options = o, .runs = o->runs, .err = err };
	int r = plan_load_variables(&p);

	if (r == 0 && o->resume)
		r = plan_take_past(&p, &own);
	if (r < 0)
		return r;
	plan->places.tasks_dir = p.options->episode.tasks_dir;
	r = mlgym_root(&plan->arena, p.options->episode.mlgym_root, NULL, &plan->places.mlgym_root,
			err);
	if (r < 0)
		return r;
	r = run_tasks_root(p.options, &plan->arena, &plan->places.mlgym_root, err);
	if (r == 0 && o->sweep)
		r = plan_take_sweep(&p, &own);
	if (r < 0)
		return r;
	if (own.mounts.n) {
		episode_add_mounts(&own.mounts, o->warner, &plan->arena, &own.episode.bind);
		p.options = &own;
	}
	if (!plan->out)
		plan->out = o->out ? xstrdup(o->out) : run_dir_default();
	return plan_make(&p);
}

void run_plan_release_episodes(struct run_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		episode_release(&plan->episodes[i]);
	free(plan->episodes);
	plan->episodes = NULL;
	plan->n = 0;
}

void run_plan_release(struct run_plan *plan)
{
	run_plan_release_episodes(plan);
	for (size_t i = 0; i < plan->n_agents; i++)
		run_agent_release(&plan->agents[i]);
	free(plan->agents);
	chat_service_close(plan->chat);
	run_past_release(&plan->past);
	free(plan->out);
	arena_release(&plan->arena);
}
