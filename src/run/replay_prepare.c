/* SPDX-License-Identifier: Apache-2.0 */
#include "run/replay.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "run/args.h"
#include "run/episode_setup.h"
#include "run/mlgym_root.h"
#include "run/past.h"
#include "run/record.h"
#include "run/task_warnings.h"
#include "run/untrusted.h"
#include "task/load.h"
#include "trajectory/compare.h"
#include "trajectory/export_files.h"
#include "trajectory/glance.h"
#include "trajectory/run_dir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REMAINING "(Current Step: 0, Remaining Steps: "

/* Returns the folder of the recorded run, with events.jsonl and args.yaml, as a heap string. */
static char *replay_folder_of(const struct replay *r)
{
	return path_is_dir(r->path) ? xstrdup(r->path) : path_dirname(r->path);
}

static const char *replay_text(struct replay *r, const struct pyjson *event, const char *key)
{
	return arena_strdup(&r->arena, pyjson_text(pyjson_get(event, key)));
}

/* Takes task, seed and judge's salt from events.jsonl. A run of MLGym has no such file. */
static void replay_read_events(struct replay *r)
{
	auto_free char *dir = replay_folder_of(r);
	struct glance g = glance_at(&r->arena, dir);
	const struct pyjson *open = g.open;

	if (open) {
		const char *variant = replay_text(r, open, "variant");
		const char *agent = run_past_agent(open);

		r->env.task = arena_printf(&r->arena, "%s%s%s", replay_text(r, open, "task"),
				*variant ? ":" : "", variant);
		r->task_hash = replay_text(r, open, "task_hash");
		r->agent_hash = replay_text(r, open, "agent_hash");
		r->keys = episode_recorded_keys(open);
		r->agent_spec = agent ? arena_strdup(&r->arena, agent) : NULL;
		r->env.max_steps = episode_recorded_steps(open, r->env.max_steps);
		r->reward = episode_reward_of(replay_text(r, open, "reward"), r->reward);
		r->env.data_seed = episode_recorded_data_seed(open);
		r->env.output_bytes = episode_recorded_output(open);
		r->env.memory_file = arena_printf(&r->arena, "%s/%s", dir, RUN_MEMORY_FILE);
	}
	glance_seed(&g, &r->seed);
	r->env.judge_salt = episode_recorded_salt(g.reset);
	r->recorded_s = compare_time(g.reset ? pyjson_text(pyjson_get(g.reset, "time")) : NULL);
}

static int replay_choose_root(struct replay *r, const char *recorded, struct fh_error *err)
{
	const struct replay_options *o = r->options;
	int n = mlgym_root(&r->arena, o->episode.mlgym_root, r->is_next ? NULL : o->warner,
			&r->own_root, err);

	if (n < 0)
		return n;
	r->places.mlgym_root = r->own_root;
	r->place_is_known = o->episode.tasks_dir || o->episode.mlgym_root || recorded ||
			r->own_root;
	if (o->episode.mlgym_root || !recorded)
		return 0;
	r->places.mlgym_root = NULL;
	if (!*recorded) /* "" in the record: the run used no MLGym checkout */
		return 0;
	return mlgym_root_find(
			&r->arena, "the run's checkout", recorded, &r->places.mlgym_root, err);
}

static void replay_warn_of(const struct replay *r, const char *option, const char *recorded)
{
	warner_say(r->options->warner, "the run had --%s %s: without it there may be differences",
			option, recorded);
}

/* Reads the recorded args.yaml. It is untrusted: warns of the files and hosts that it names, and
 * ignores them. */
static int replay_read_args(struct replay *r, struct fh_error *err)
{
	const struct episode_options *e = &r->options->episode;
	auto_free char *dir = replay_folder_of(r);
	struct run_args args = { .temperature = 0, .top_p = 0.95, .cost_limit = 3 };
	struct fh_error why;
	int n = args_yaml_read(&r->arena, dir, &args, &why);

	if (n < 0 && n != -ENOENT)
		warner_say(r->options->warner, "the arguments of the run can't be read: %s",
				why.message);
	r->agent.options.temperature = args.temperature;
	r->agent.options.top_p = args.top_p;
	r->agent.options.cost_limit = args.cost_limit;
	n = replay_choose_root(r, args.mlgym_root, err);
	if (n < 0)
		return n;
	r->places.tasks_dir = e->tasks_dir ? e->tasks_dir : args.tasks_dir;
	r->env.n_gpus = args.gpus.n;
	for (size_t i = 0; i < args.bind.n && !e->bind.n; i++)
		replay_warn_of(r, "bind", args.bind.items[i]);
	if (args.python && *args.python && !e->python)
		replay_warn_of(r, "python", args.python);
	if (args.aliases && *args.aliases && !e->aliases)
		replay_warn_of(r, "aliases-file", args.aliases);
	r->web_hosts = args.web_hosts;
	r->original_tools = r->options->tools_given ? r->options->tools != 0 : args.original_tools;
	return 0;
}

/* Takes task and step limit of a run that MLGym recorded from its .traj. The file's path names
 * the task. The first message names the limit. */
static int replay_read_traj(struct replay *r, struct fh_error *err)
{
	const char *name = path_basename(r->path);
	const char *first = r->recorded->n_history > 1
			? pyjson_text(r->recorded->history[1].content)
			: "";
	const char *steps = strstr(first, REMAINING);

	if (!r->env.task && !r->options->task && !r->place_is_known)
		return error_say(err, EINVAL,
				"'%s' was recorded by MLGym, since no %s lies beside it: give "
				"--mlgym-root with the checkout that has its task '%.*s', or --task "
				"with one of ours",
				r->path, EXPORT_EVENTS, (int)strcspn(name, "."), name);
	if (!r->env.task)
		r->env.task = arena_strndup(&r->arena, name, strcspn(name, "."));
	if (!r->env.max_steps && steps)
		r->env.max_steps = (int)strtol(steps + strlen(REMAINING), NULL, 10);
	return 0;
}

/* Replaces recorded values by the options that the user gave. */
static void replay_take_options(struct replay *r)
{
	const struct replay_options *o = r->options;
	const struct episode_options *e = &o->episode;

	if (o->task)
		r->env.task = o->task;
	if (o->agent)
		r->agent_spec = o->agent;
	if (e->max_steps)
		r->env.max_steps = e->max_steps;
	if (e->given.seed)
		r->seed = e->seed;
	if (e->judge_salt)
		r->env.judge_salt = e->judge_salt;
	if (e->given.data_seed)
		r->env.data_seed = e->data_seed;
	r->places.data_seed = r->env.data_seed;
	if (e->given.reward)
		r->reward = e->reward;
	r->env.reward = (enum fh_reward_kind)r->reward;
	r->env.max_text_bytes = RECORDER_TEXT_BYTES;
	r->model = arena_printf(&r->arena, "replay:%s", r->path);
	r->out = o->out ? xstrdup(o->out) : run_dir_default();
}

/* Loads the agent's configuration, which has commands and prompts. If the record names it, not the
 * user, a failure is only a warning. */
static int replay_load_agent(struct replay *r, struct fh_error *err)
{
	struct warnings warnings = { 0 };
	struct agent_config_options o = {
		.spec = r->agent_spec,
		.root = r->places.mlgym_root,
		.warnings = r->places.mlgym_root ? &warnings : NULL,
		.recorded = !r->options->agent,
		.original_tools = r->original_tools,
		.own_root = r->own_root,
	};
	int n = r->agent_spec ? agent_config_load(&o, &r->agent.config, err) : 0;

	if (n < 0 && r->options->agent)
		return n;
	if (n < 0) {
		/* Pass on no warnings: their text belonged to the agent's configuration. */
		warner_say(r->options->warner,
				"the agent's configuration can't be used: %s. So its commands and "
				"the conversation are missing: --agent gives another",
				err->message);
	} else {
		for (size_t i = 0; i < warnings.n; i++)
			warner_say(r->is_next && r->options->agent ? NULL : r->options->warner,
					"%s", warnings.items[i]);
		if (r->agent.config)
			episode_say_tools(r->agent.config, r->is_next ? NULL : r->options->warner);
	}
	if (!r->agent.config && r->options->tools_given && r->options->tools)
		return error_say(err, EINVAL,
				"--tools %s: '%s' is played without an agent's commands (--agent gives them)",
				episode_tools[r->options->tools], r->name);
	return 0;
}

/* Chooses the web hosts that the agent's tools may use: those that the user gave. Otherwise takes
 * the default of the agent that the user named, unless the record says "none". Warns if the
 * recorded run could use other hosts. */
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
				"the run could reach --web-hosts %s: without it there may be "
				"differences",
				wanted);
}

/* Checks that the task can be loaded and may be played. Passes its warnings to the user. */
static int replay_check_task(const struct replay *r, struct fh_error *err)
{
	const char *given = r->options->task;
	struct untrusted_task check = {
		.given = &r->options->episode,
		.is_given = given && strchr(given, '/'),
	};
	auto_task struct task *task = NULL;
	int n = task_load(&r->places, r->env.task, r->env.variant, &task, err);

	if (n < 0)
		return n;
	check.task = task;
	n = untrusted_check_task(&check, err);
	if (n < 0)
		return n;
	task_warnings_say(r->options->warner, task, &r->env);
	return 0;
}

/*
 * Chooses the GPUs of the replay. Without --gpus it takes any free ones, as many as the recorded
 * run had.
 */
static int replay_choose_gpus(struct replay *r, struct fh_error *err)
{
	const struct texts *gpus = &r->options->gpus;
	bool none = gpus->n == 1 && str_eq(gpus->items[0], "none");

	if (!gpus->n && r->env.n_gpus)
		warner_say(r->options->warner,
				"the run had %zu GPUs, so the replay takes %zu too: --gpus none "
				"plays it without",
				r->env.n_gpus, r->env.n_gpus);
	if (gpus->n)
		r->env.n_gpus = none ? 0 : gpus->n;
	return gpus->n && !none ? episode_gpus(gpus, &r->arena, &r->gpus, err) : 0;
}

/* Checks before the replay that its files can be written, and notes the record's size. */
static int replay_check_files(struct replay *r, struct fh_error *err)
{
	auto_free char *dir = replay_folder_of(r);
	auto_free char *events = path_join(dir, EXPORT_EVENTS);
	struct stat st;

	if (access(dir, W_OK) < 0)
		return error_set(err, errno, "write %s into '%s'", REPLAY_FILES, dir);
	if (stat(path_exists(events) ? events : r->path, &st) < 0)
		return error_set(err, errno, "look at '%s'", r->path);
	r->record_bytes = st.st_size;
	return 0;
}

int replay_write_files(
		struct replay *r, const struct replay_verdicts *verdicts, struct fh_error *err)
{
	auto_free char *dir = replay_folder_of(r);

	if (r->files.failed.code)
		warner_say(r->options->warner, "the files after step %d are left out: %s",
				r->files.steps < 0 ? 0 : r->files.steps, r->files.failed.message);
	return replay_files_write(&r->files, dir, r->record_bytes, verdicts->first, err);
}

int replay_prepare(struct replay *r, struct fh_error *err)
{
	int n = episode_env_options(&r->options->episode, &r->arena, &r->env, err);

	if (n < 0)
		return n;
	n = export_record(r->name, &r->path, err);
	if (n < 0)
		return n;
	n = export_traj(r->path, &r->recorded, err);
	if (n < 0)
		return n;
	if (!r->recorded->n_steps)
		return error_say(err, EINVAL, "there is no step to play in '%s'", r->path);
	n = r->options->files ? replay_check_files(r, err) : 0;
	if (n < 0)
		return n;
	replay_read_events(r);
	n = replay_read_args(r, err);
	if (n < 0)
		return n;
	n = replay_read_traj(r, err);
	if (n < 0)
		return n;
	replay_take_options(r);
	n = episode_aliases(r->options->episode.aliases, r->places.mlgym_root, r->options->warner,
			&r->arena, &r->aliases, err);
	if (n < 0)
		return n;
	n = replay_check_task(r, err);
	if (n < 0)
		return n;
	n = replay_choose_gpus(r, err);
	if (n < 0)
		return n;
	n = replay_load_agent(r, err);
	if (n < 0)
		return n;
	replay_choose_web_hosts(r);
	return 0;
}
