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
#include "run/untrusted.h"
#include "run/sweep.h"
#include "run/task_warnings.h"
#include "run/tasks.h"
#include "task/dataset.h"
#include "task/load.h"
#include "trajectory/run_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EPISODES_MAX 1000000
/* Most bytes of names in a warning. It lists variables that a .env file may not set. */
#define LEFT_OUT_BYTES_MAX 768

struct planning {
	struct run_plan *plan;
	const struct run_options *given; /* options as the user gave them on the command line */
	/* copy of `given` with the values of a resumed run's record or of the sweep file */
	struct run_options *options;
	struct texts tasks;
	struct fh_env_options env; /* options that the environments of all tasks share */
	/* Hash of the files of the task that is being planned; only set for --skip-existing. */
	char task_hash[SHA256_HEX_BYTES];
	/* number of episodes of each agent in each task: --runs, times the number of seeds */
	int runs;
	struct fh_error *err;
};

/* --- models and agents ------------------------------------------------------------------------ */

/*
 * Returns true if any model of the run follows an agent's configuration. If so, the user gets the
 * configuration's warnings when that model is planned.
 */
static bool plan_has_speaker(const struct planning *p)
{
	const struct texts *models = &p->options->models;

	for (size_t i = 0; i < models->n; i++)
		if (chat_is_spec(models->items[i]) || model_speaks(models->items[i]))
			return true;
	return false;
}

static int plan_open_agent(struct planning *p, const struct run_agent_options *o, const char *model)
{
	struct run_plan *plan = p->plan;
	const char *root = plan->places.mlgym_root;
	const struct warner *warner = p->options->warner;
	struct run_agent *agent;
	int r;

	for (size_t i = 0; i < plan->n_agents; i++)
		if (plan->agents[i].config && str_eq(plan->agents[i].spec, o->config))
			warner = NULL; /* pass on the warnings of each configuration only once */
	plan->agents = xrealloc(plan->agents, plan->n_agents + 1, sizeof(*plan->agents));
	agent = &plan->agents[plan->n_agents++];
	*agent = (struct run_agent){ .model = model, .spec = o->config };
	if (!chat_is_spec(model)) {
		bool speaks = model_speaks(model);
		bool said = plan->n_agents > 1 || speaks || plan_has_speaker(p);

		r = run_agent_check_options(o, root, said ? NULL : warner, p->err);
		if (r < 0 || !speaks)
			return r;
		return run_agent_load(agent, o, root, warner, p->err);
	}
	if (!plan->chat) {
		r = run_agent_service(
				o, plan->past.spent.cost, episode_retried, &plan->chat, p->err);
		if (r < 0)
			return r;
	}
	r = run_agent_open(agent, o, root, warner, plan->chat, p->err);
	if (r < 0)
		return r;
	if (run_agent_key_is_in(agent, p->options->suffix))
		return error_say(p->err, EINVAL,
				"--suffix contains the API key of %s: choose another, because "
				"folders' names are no secret",
				model);
	return 0;
}

/* Adds the agents (configurations of a language model) that a model plays with. A language model
 * plays with each agent at each temperature. Recorded replies have no temperature. Other models
 * have no agent. */
static int plan_open_model(struct planning *p, const char *model)
{
	const struct run_options *o = p->options;
	bool chat = chat_is_spec(model);
	size_t configs = chat || model_speaks(model) ? o->agent_configs.n : 0;
	size_t temperatures = chat ? o->n_temperatures : 0;

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

/* Refuses --tools original if no model plays with an agent's configuration. Warns if --agent was
 * given then. */
static int plan_check_agents(const struct planning *p)
{
	const struct run_agent_options *o = &p->options->agent;

	for (size_t i = 0; i < p->plan->n_agents; i++)
		if (p->plan->agents[i].config)
			return 0;
	if (o->given.config)
		warner_say(p->options->warner,
				"--agent has no effect, because no --model is a language model or a record "
				"of its replies");
	if (!o->given.tools || !o->tools)
		return 0;
	return error_say(p->err, EINVAL,
			"--tools %s needs a language model, or its recorded replies, as "
			"--model: only they play with an agent's commands",
			episode_tools[o->tools]);
}

static int plan_open_agents(struct planning *p)
{
	const struct run_options *o = p->options;
	int r;

	for (size_t i = 0; i < o->models.n; i++) {
		const char *model = o->models.items[i];

		if (o->replay_path && !str_eq(model, "replay"))
			return error_say(p->err, EINVAL,
					"--replay_path wants --model replay, not %s", model);
		if (o->replay_path)
			model = arena_printf(&p->plan->arena, "replay:%s", o->replay_path);
		r = plan_open_model(p, model);
		if (r < 0)
			return r;
	}
	p->plan->foreign = o->foreign;
	r = foreign_check(&o->foreign, p->plan->agents, p->plan->n_agents, p->err);
	if (r < 0)
		return r;
	run_agent_name_all(p->plan->agents, p->plan->n_agents);
	run_agent_warn_all(p->plan->agents, p->plan->n_agents, o->warner);
	return plan_check_agents(p);
}

/* Checks, before anything runs, that the model can play the task. *out_label is the model's name
 * in folder names, a heap string. */
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

	if (r < 0)
		return r;
	r = agent->config ? run_agent_check(agent, task, p->err) : 0;
	if (r < 0)
		return r;
	if (agent->chat) {
		*out_label = xstrdup(request.spec);
		return 0;
	}
	r = model_open(&request, &model, p->err);
	if (r < 0)
		return r == -EINVAL ? r : error_wrap(p->err, "--model %s", request.spec);
	if (model_is_interactive(model))
		p->plan->interactive = true;
	*out_label = xstrdup(model_label(model));
	model_close(model);
	return 0;
}

/* --- episodes --------------------------------------------------------------------------------- */

static void plan_add_episodes(struct planning *p, const struct episode_plan *one,
		const struct run_existing *existing)
{
	const struct run_options *o = p->options;
	struct run_plan *plan = p->plan;

	plan->episodes = xrealloc(
			plan->episodes, plan->n + (size_t)p->runs + 1, sizeof(*plan->episodes));
	for (int i = 0; i < p->runs; i++) {
		struct episode *e = &plan->episodes[plan->n++];
		struct episode_plan own = *one;

		own.seed = (o->n_seeds ? o->seeds[i / o->runs] : o->episode.seed) +
				(uint64_t)(i % o->runs);
		episode_init(e, &own);
		plan->n_found += run_existing_take(existing, e);
	}
}

static int plan_model(struct planning *p, const struct run_agent *agent, const char *name,
		const struct task *task, const struct fh_env_options *env)
{
	const struct run_options *o = p->options;
	struct run_plan *plan = p->plan;
	struct fh_env_options *own = arena_alloc(&plan->arena, sizeof(*own));
	struct episode_plan one = {
		.places = &plan->places,
		.env = own,
		.model = agent->model,
		.agent = agent->config ? agent : NULL,
		.foreign = o->foreign.command ? &p->plan->foreign : NULL,
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
	struct run_wanted wanted = { .plan = &one, .task = task, .task_hash = p->task_hash };
	struct run_existing existing = { .arena = ARENA_INIT };
	auto_free char *label = NULL;
	int r = plan_check_model(p, agent, name, task, &label);

	if (r < 0)
		return r;
	*own = *env;
	own->web_hosts = episode_web_hosts(&o->episode, agent->config);
	if (plan->n + (size_t)p->runs > EPISODES_MAX)
		return error_say(p->err, E2BIG, "more than %d episodes", EPISODES_MAX);
	wanted.label = label;
	r = o->skip_existing ? run_existing_read(&wanted, &existing, p->err) : 0;
	if (r < 0)
		return r;
	plan_add_episodes(p, &one, &existing);
	run_existing_release(&existing);
	return 0;
}

/* Sets p->task_hash, the hash of the task's files. Leaves it empty while the task's data is
 * missing: no run with it can have been played. */
static int plan_hash_task(struct planning *p, const struct task *task)
{
	*p->task_hash = '\0';
	for (size_t i = 0; i < task->n_datasets; i++)
		if (!dataset_is_there(&task->datasets[i]))
			return 0;
	return task_hash(task, p->task_hash, p->err);
}

static int plan_models(struct planning *p, const char *name, const struct task *task)
{
	const struct run_options *o = p->options;
	struct run_plan *plan = p->plan;
	struct fh_env_options env = p->env;
	bool kept = o->memory && task->memory && !plan->past.memory;
	int r = kept ? memory_check_task(task, p->err) : 0;

	if (r < 0)
		return r;
	env.task = name;
	r = o->skip_existing ? plan_hash_task(p, task) : 0;
	if (r < 0)
		return r;
	for (size_t i = 0; i < plan->n_agents; i++) {
		const struct run_agent *agent = &plan->agents[i];

		r = plan_model(p, agent, name, task, &env);
		if (r < 0 && !plan->all_tasks)
			return r;
		if (r < 0)
			warner_say(o->warner, "%s is left out for %s: %s", name, agent->model,
					p->err->message);
	}
	return 0;
}

static int plan_task(struct planning *p, const char *name)
{
	struct task *task;
	int r = task_load(&p->plan->places, name, p->options->episode.variant, &task, p->err);

	if (r < 0)
		return r;
	task_warnings_say(p->options->warner, task, &p->env);
	/*
	 * Replace an alias of a task by its id, so that reports and records always use the same
	 * name.
	 */
	if (!task->mlgym && !strchr(name, '/'))
		name = arena_printf(&p->plan->arena, "%s%s", task->id, name + strcspn(name, ":"));
	r = plan_models(p, name, task);
	task_free(task);
	return r;
}

/* --- the run ---------------------------------------------------------------------------------- */

/* Sets environment variables from .env, which holds API keys. Call it while the process has one
 * thread. */
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
	if (r < 0)
		return r;
	if (left_out.len)
		warner_say(o->warner,
				"a .env may not set these variables, so they are ignored: %s%s",
				buf_str(&left_out), left_out.truncated ? "..." : "");
	return 0;
}

static int plan_take_past(struct planning *p)
{
	struct run_plan *plan = p->plan;
	struct run_options *o = p->options;
	auto_free char *given = o->out ? realpath(o->out, NULL) : NULL;
	auto_free char *own = NULL;
	int r = run_past_open(o->resume, o->agent.given.cost_limit ? o->agent.cost_limit : -1,
			&plan->past, p->err);

	if (r < 0)
		return r;
	plan->out = path_dirname(plan->past.dir);
	own = realpath(plan->out, NULL);
	if (o->out && !(given && str_eq(given, own)))
		return error_say(p->err, EINVAL,
				"--resume continues in the run's own folder: remove --out");
	return run_past_apply(&plan->past, o, p->err);
}

static int plan_find_tasks(struct planning *p)
{
	struct run_plan *plan = p->plan;
	struct task *task;
	int r = run_tasks_find(p->options, &plan->places, &plan->arena, &p->tasks, &plan->all_tasks,
			p->err);

	if (r < 0 || !plan->past.dir)
		return r;
	r = task_load(&plan->places, p->tasks.items[0], NULL, &task, p->err);
	if (r < 0)
		return r;
	r = untrusted_check_task(
			&(struct untrusted_task){ .task = task, .given = &p->given->episode },
			p->err);
	task_free(task);
	return r;
}

/* Refuses seeds of a run that count up beyond the largest possible seed. */
static int plan_check_seeds(const struct planning *p)
{
	const struct run_options *o = p->options;
	uint64_t first = o->episode.seed, more = (uint64_t)o->runs - 1;

	for (size_t i = 0; i < o->n_seeds; i++)
		if (!i || o->seeds[i] > first)
			first = o->seeds[i];
	if (first <= SEED_MAX - more)
		return 0;
	return error_say(p->err, EINVAL,
			"%d runs from seed %" PRIu64 " on pass the largest seed, %" PRId64, o->runs,
			first, SEED_MAX);
}

static int plan_make(struct planning *p)
{
	const struct run_options *o = p->options;
	struct run_plan *plan = p->plan;
	int r;

	r = episode_env_options(&o->episode, &plan->arena, &p->env, p->err);
	if (r < 0)
		return r;
	p->env.memory = o->memory;
	p->env.memory_file = plan->past.memory;
	p->env.max_text_bytes = RECORDER_TEXT_BYTES;
	p->env.n_gpus = (size_t)o->gpus_per_agent;
	r = plan_check_seeds(p);
	if (r < 0)
		return r;
	r = episode_aliases(o->episode.aliases, plan->places.mlgym_root, o->warner, &plan->arena,
			&plan->aliases, p->err);
	if (r < 0)
		return r;
	plan->gpus_per_agent = o->gpus_per_agent;
	r = plan_find_tasks(p);
	if (r < 0)
		return r;
	r = plan_open_agents(p);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p->tasks.n; i++) {
		r = plan_task(p, p->tasks.items[i]);
		if (r < 0)
			return r;
	}
	return plan->n ? 0 : error_say(p->err, ENOENT, "no task can be played on this machine");
}

int run_plan_make(struct run_plan *plan, const struct run_options *given, struct fh_error *err)
{
	struct run_options own = *given;
	struct planning p = { .plan = plan, .given = given, .options = &own, .err = err };
	size_t n;
	int r = plan_load_variables(&p);

	if (r < 0)
		return r;
	r = own.resume ? plan_take_past(&p) : 0;
	if (r < 0)
		return r;
	plan->places.tasks_dir = own.episode.tasks_dir;
	r = mlgym_root(&plan->arena, own.episode.mlgym_root, NULL, &plan->places.mlgym_root, err);
	if (r < 0)
		return r;
	r = run_tasks_root(&own, &plan->arena, &plan->places.mlgym_root, err);
	if (r < 0)
		return r;
	r = own.sweep ? run_sweep_apply(&plan->arena, &plan->places, &own, err) : 0;
	if (r < 0)
		return r;
	plan->places.data_seed = own.episode.data_seed;
	n = (size_t)own.runs * (own.n_seeds ? own.n_seeds : 1);
	if (n > EPISODES_MAX)
		return error_say(err, E2BIG, "more than %d episodes", EPISODES_MAX);
	p.runs = (int)n;
	if (own.mounts.n)
		episode_add_mounts(&own.mounts, own.warner, &plan->arena, &own.episode.bind);
	if (!plan->out)
		plan->out = own.out ? xstrdup(own.out) : run_dir_default();
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
