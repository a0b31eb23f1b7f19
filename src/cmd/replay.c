/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "cmd/episode_options.h"
#include "cmd/episode_setup.h"
#include "cmd/gpu_options.h"
#include "cmd/interrupt.h"
#include "cmd/run_args.h"
#include "cmd/run_episode.h"
#include "cmd/run_record.h"
#include "cmd/run_resume.h"
#include "cmd/term.h"
#include "trajectory/compare.h"
#include "trajectory/export.h"
#include "trajectory/glance.h"
#include "trajectory/run_dir.h"
#include "trajectory/traj.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * fumehood replay: the actions of a recorded run, played again in a fresh episode of the same task and seed, and
 * its observations beside the recorded ones.
 */
#define DIFF_LINES 20
#define LINE_BYTES_MAX (64L << 20)
#define REMAINING "(Current Step: 0, Remaining Steps: "

struct replay_options {
	struct episode_options episode;
	const char *task, *agent, *out;
	struct cmd_list gpus;
	bool compare, all;
};

struct replay {
	struct command_context *ctx;
	const struct replay_options *options;
	struct arena arena;
	struct task_places places;
	struct fh_env_options env;
	struct run_agent agent;
	const int *gpus;
	char *path; /* of the record */
	char *model;
	char *out;
	const char *aliases;    /* a file that its shells source; NULL: none */
	const char *agent_spec; /* NULL: none led it */
	const char *web_hosts;  /* of the record; NULL: it does not say */
	const char *task_hash;  /* the same */
	uint64_t seed;
	int64_t recorded_s, now_s; /* when it began, then and now; 0: the record does not say */
	int reward;
	struct traj *recorded, *now;
	struct episode episode;
};

/* --- what was recorded -------------------------------------------------------------------------------- */

/* The .traj of a run's folder. */
static int find_traj(const char *path, char **out, struct fh_error *err)
{
	__attribute__((cleanup(export_release))) struct exported e = { 0 };
	int r;

	if (!path_is_dir(path)) {
		*out = xstrdup(path);
		return 0;
	}
	r = export_read(path, &e, err);
	if (r == 0)
		*out = path_join(path, e.traj_name);
	return r;
}

static const char *text_of(const struct pyjson *v)
{
	const char *text = v ? pyjson_string(v) : NULL;

	return text ? text : "";
}

static void take_open(struct replay *r, const struct pyjson *event)
{
	const char *agent = run_past_agent(event);
	const char *variant = text_of(pyjson_get(event, "variant"));
	const char *reward = text_of(pyjson_get(event, "reward"));
	int64_t max_steps;

	r->env.task = arena_printf(&r->arena, "%s%s%s", text_of(pyjson_get(event, "task")),
			*variant ? ":" : "", variant);
	r->task_hash = arena_strdup(&r->arena, text_of(pyjson_get(event, "task_hash")));
	r->agent_spec = agent ? arena_strdup(&r->arena, agent) : NULL;
	if (pyjson_i64(pyjson_get(event, "max_steps"), &max_steps) && max_steps > 0 &&
			max_steps <= STEPS_MAX)
		r->env.max_steps = (int)max_steps;
	for (int i = 0; episode_rewards[i]; i++)
		if (str_eq(episode_rewards[i], reward))
			r->reward = i;
}

/* Its log, if it lies there: which task it was, and what was random. */
static void read_events(struct replay *r)
{
	auto_free char *dir = path_dirname(r->path);
	struct glance g = glance_at(&r->arena, dir);

	if (g.open)
		take_open(r, g.open);
	glance_seed(&g, &r->seed);
	if (g.open)
		r->env.memory_file = arena_printf(&r->arena, "%s/%s", dir, RUN_MEMORY_FILE);
	r->env.judge_salt = episode_recorded_salt(g.reset);
	r->recorded_s = compare_time(g.reset ? text_of(pyjson_get(g.reset, "time")) : NULL);
}

/* Where it was played, and under which name. What of this machine was shown to the agent, or asked for it, a
 * record can't ask for: it may be a stranger's. It is said. */
static void read_args(struct replay *r)
{
	const struct replay_options *o = r->options;
	auto_free char *dir = path_dirname(r->path);
	struct run_args args = { .temperature = 0, .top_p = 0.95, .cost_limit = 3 };
	const struct run_args_list *bind = &args.bind;

	args_yaml_read(&r->arena, dir, &args, NULL);
	r->agent.options.temperature = args.temperature;
	r->agent.options.top_p = args.top_p;
	r->agent.options.cost_limit = args.cost_limit;
	r->places.mlgym_root =
			mlgym_root(o->episode.mlgym_root ? o->episode.mlgym_root : args.mlgym_root);
	r->places.tasks_dir = o->episode.tasks_dir ? o->episode.tasks_dir : args.tasks_dir;
	r->env.n_gpus = args.gpus.n;
	for (size_t i = 0; i < bind->n && !o->episode.bind.n; i++)
		cmd_warn("the run was shown --bind %s: without it there may be differences",
				bind->items[i]);
	if (args.aliases && *args.aliases && !o->episode.aliases)
		cmd_warn("the run had --aliases-file %s: without it there may be differences",
				args.aliases);
	r->web_hosts = args.web_hosts;
}

/* A recording of MLGym's is called after its task; how many steps there were its first message says. */
static void read_traj(struct replay *r)
{
	const char *name = path_basename(r->path);
	const char *first = r->recorded->n_history > 1 ? text_of(r->recorded->history[1].content)
						       : "";
	const char *steps = strstr(first, REMAINING);

	if (!r->env.task)
		r->env.task = arena_strndup(&r->arena, name, strcspn(name, "."));
	if (!r->env.max_steps && steps)
		r->env.max_steps = (int)strtol(steps + strlen(REMAINING), NULL, 10);
}

/* What the command line says wins over what was recorded. */
static void take_options(struct replay *r)
{
	const struct replay_options *o = r->options;
	const struct command_context *ctx = r->ctx;

	if (o->task)
		r->env.task = o->task;
	if (o->agent)
		r->agent_spec = o->agent;
	r->aliases = episode_aliases(o->episode.aliases, r->places.mlgym_root, &r->arena);
	if (o->episode.max_steps)
		r->env.max_steps = o->episode.max_steps;
	if (cmd_given(ctx, "seed"))
		r->seed = o->episode.seed;
	if (o->episode.judge_salt)
		r->env.judge_salt = o->episode.judge_salt;
	if (cmd_given(ctx, "reward"))
		r->reward = o->episode.reward;
	r->env.variant = o->episode.variant;
	r->env.reward = (enum fh_reward_kind)r->reward;
	r->out = o->out ? xstrdup(o->out) : run_dir_default();
}

/* Who was led by a configuration is led by it again: its commands are there, and the conversation is made
 * anew. */
static int load_agent(struct replay *r, struct fh_error *err)
{
	struct agent_config_options o = { .spec = r->agent_spec, .root = r->places.mlgym_root };
	struct warnings warnings = { 0 };
	int n;

	if (!r->agent_spec)
		return 0;
	if (o.root)
		o.warnings = &warnings;
	n = agent_config_load(&o, &r->agent.config, err);
	if (n == 0 || r->options->agent)
		return n;
	cmd_warn("the agent's configuration can't be used: %s. Without it there are neither its commands nor the "
		 "conversation; --agent gives another",
			err->message);
	return 0;
}

/* That nothing was asked holds; what was asked is said, as a bind is. */
static void choose_web_hosts(struct replay *r)
{
	const struct episode_options *o = &r->options->episode;

	r->env.web_hosts = episode_web_hosts(o, r->agent.config);
	if (!r->web_hosts || o->web_hosts || str_eq(r->web_hosts, r->env.web_hosts))
		return;
	if (str_eq(r->web_hosts, "none"))
		r->env.web_hosts = NULL;
	else
		cmd_warn("the run could ask --web-hosts %s: without it there may be differences",
				r->web_hosts);
}

/* As many as it had, whichever are free. */
static int choose_gpus(struct replay *r, struct fh_error *err)
{
	const struct cmd_list *gpus = &r->options->gpus;

	if (!gpus->n)
		return 0;
	r->env.n_gpus = 0;
	if (gpus->n == 1 && str_eq(gpus->items[0], "none"))
		return 0;
	r->env.n_gpus = gpus->n;
	return gpu_options_read(gpus, &r->arena, &r->gpus, err);
}

static int prepare(struct replay *r, struct fh_error *err)
{
	const struct replay_options *o = r->options;
	int n;

	n = find_traj(r->ctx->args[0], &r->path, err);
	if (n < 0)
		return n;
	n = traj_read(r->path, &r->recorded, err);
	if (n < 0)
		return n;
	r->model = xasprintf("replay:%s", r->path);
	read_events(r);
	read_args(r);
	read_traj(r);
	take_options(r);
	n = episode_binds(&o->episode.bind, &r->arena, &r->env.binds, err);
	r->env.n_binds = o->episode.bind.n;
	if (n == 0)
		n = choose_gpus(r, err);
	if (n == 0)
		n = load_agent(r, err);
	choose_web_hosts(r);
	return n;
}

/* --- playing it ----------------------------------------------------------------------------------------- */

static int wait_for_it(struct replay *r, struct fh_gym *gym, struct fh_error *err)
{
	struct pollfd fds[] = { { .fd = fh_gym_fd(gym), .events = POLLIN },
		{ .fd = r->episode.stopping ? -1 : interrupt_fd(), .events = POLLIN } };
	struct fh_env *done;
	int n;

	if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
		return error_set(err, errno, "wait for the episode");
	if (interrupt_wanted() && !r->episode.stopping)
		episode_stop(&r->episode);
	n = fh_gym_wait(gym, 0, &done, 1, err);
	if (n > 0)
		episode_advance(&r->episode);
	return n;
}

static int play(struct replay *r, struct fh_error *err)
{
	struct episode_plan plan = {
		.env = &r->env,
		.places = &r->places,
		.model = r->model,
		.agent = r->agent.config ? &r->agent : NULL,
		.out = r->out,
		.aliases = r->aliases,
		.suffix = "replay",
		.reward = episode_rewards[r->reward],
		.seed = r->seed,
		.task_hash = r->options->task ? NULL : r->task_hash,
		.stop_fd = -1,
	};
	struct fh_gym_options options = {
		.tasks_dir = r->places.tasks_dir,
		.mlgym_root = r->places.mlgym_root,
		.n_gpus = r->env.n_gpus,
		.gpu_numbers = r->gpus,
		.n_gpu_numbers = r->gpus ? r->env.n_gpus : 0,
	};
	int n = fh_gym_open(&options, &plan.gym, err);

	if (n < 0 && r->env.n_gpus && !r->gpus)
		return error_wrap(err, "the run had %zu GPUs (--gpus none plays it without)",
				r->env.n_gpus);
	if (n < 0)
		return n;
	r->now_s = time(NULL);
	episode_init(&r->episode, &plan);
	episode_start(&r->episode);
	while (r->episode.phase != EPISODE_ENDED && n >= 0)
		n = wait_for_it(r, plan.gym, err);
	if (r->episode.failed) {
		*err = r->episode.error;
		n = err->code;
	}
	fh_gym_close(plan.gym);
	return n < 0 ? n : traj_read(r->episode.traj, &r->now, err);
}

/* --- comparing -------------------------------------------------------------------------------------------- */

struct verdicts {
	size_t n[3];    /* by enum compare_verdict */
	size_t missing; /* steps that only one of both has */
};

static struct compare_text then(const struct replay *r, const struct pyjson *v)
{
	return (struct compare_text){ text_of(v), r->recorded_s };
}

static struct compare_text now(const struct replay *r, const struct pyjson *v)
{
	return (struct compare_text){ text_of(v), r->now_s };
}

/* What a step was like: what it showed, and the state that it began in. */
static enum compare_verdict compare_step(const struct replay *r, size_t i)
{
	const struct traj_step *a = &r->recorded->steps[i], *b = &r->now->steps[i];
	enum compare_verdict shown = compare_texts(then(r, a->observation), now(r, b->observation));
	enum compare_verdict state = a->state ? compare_texts(then(r, a->state), now(r, b->state))
					      : COMPARE_EQUAL;

	return shown > state ? shown : state;
}

static void print_step(const struct replay *r, size_t i, enum compare_verdict v)
{
	const struct traj_step *a = &r->recorded->steps[i], *b = &r->now->steps[i];
	auto_buf struct buf line = BUF_INIT(LINE_BYTES_MAX), diff = BUF_INIT(LINE_BYTES_MAX);
	bool colours = term_colours(STDOUT_FILENO);
	const char *style = v == COMPARE_DIFFERENT ? TERM_RED : TERM_GREEN;

	if (v != COMPARE_DIFFERENT && !r->options->all)
		return;
	str_add_printable(&line, text_of(a->action));
	printf("%4zu %s%-10s%s %.*s\n", i + 1, term_style(colours, style), compare_verdicts[v],
			term_style(colours, TERM_RESET), (int)strcspn(buf_str(&line), "\n"),
			buf_str(&line));
	if (v != COMPARE_DIFFERENT)
		return;
	compare_diff(&diff, then(r, a->observation), now(r, b->observation), DIFF_LINES);
	if (!diff.len)
		compare_diff(&diff, then(r, a->state), now(r, b->state), DIFF_LINES);
	buf_clear(&line);
	str_add_printable(&line, buf_str(&diff));
	fputs(buf_str(&line), stdout);
}

static struct verdicts compare(const struct replay *r)
{
	size_t a = r->recorded->n_steps, b = r->now->n_steps;
	struct verdicts all = { .missing = a > b ? a - b : b - a };

	for (size_t i = 0; i < a && i < b; i++) {
		enum compare_verdict v = compare_step(r, i);

		all.n[v]++;
		if (!r->ctx->json)
			print_step(r, i, v);
	}
	return all;
}

static void print_summary(const struct replay *r, const struct verdicts *all)
{
	auto_buf struct buf line = BUF_INIT(LINE_BYTES_MAX);
	struct pyjson_writer w = PYJSON_WRITER_INIT(&line, PYJSON_LINE);

	if (!r->ctx->json) {
		if (r->options->compare)
			printf("%zu steps equal, %zu after normalisation, %zu different, %zu missing\n",
					all->n[COMPARE_EQUAL], all->n[COMPARE_NORMALISED],
					all->n[COMPARE_DIFFERENT], all->missing);
		printf("%s: %s\n", r->episode.exit_status, r->episode.traj);
		return;
	}
	pyjson_put_object(&w, NULL);
	pyjson_put_text(&w, "task", r->env.task);
	pyjson_put_text(&w, "exit_status", r->episode.exit_status);
	pyjson_put_i64(&w, "steps", r->episode.steps);
	for (size_t i = 0; r->options->compare && i < ARRAY_SIZE(all->n); i++)
		pyjson_put_i64(&w, compare_verdicts[i], (int64_t)all->n[i]);
	if (r->options->compare)
		pyjson_put_i64(&w, "missing", (int64_t)all->missing);
	pyjson_put_text(&w, "trajectory", r->episode.traj);
	pyjson_end_object(&w);
	printf("%s\n", buf_str(&line));
}

/* --- the command -------------------------------------------------------------------------------------------- */

static void release(struct replay *r)
{
	episode_release(&r->episode);
	run_agent_release(&r->agent);
	traj_free(r->recorded);
	traj_free(r->now);
	free(r->path);
	free(r->model);
	free(r->out);
	arena_release(&r->arena);
}

static int run_replay(struct command_context *ctx)
{
	__attribute__((cleanup(release))) struct replay r = { .ctx = ctx, .options = ctx->options };
	struct verdicts all = { 0 };
	struct fh_error err;

	log_setup(&(struct log_options){ .level = LOG_WARN, .fd = STDERR_FILENO });
	if (prepare(&r, &err) < 0)
		return cmd_refuse(&err);
	if (interrupt_setup(&err) < 0 || play(&r, &err) < 0)
		return cmd_fail(&err);
	if (r.options->compare)
		all = compare(&r);
	print_summary(&r, &all);
	if (interrupt_wanted())
		return interrupt_status();
	return all.n[COMPARE_DIFFERENT] || all.missing ? CMD_FAILED : CMD_OK;
}

#define FIELD(f) offsetof(struct replay_options, f)

static const struct cmd_option options[] = {
	{ "compare", 'c', OPTION_FLAG, FIELD(compare), NULL,
			"say which observations differ, and how; exit status 1 if any does" },
	{ "all", 'a', OPTION_FLAG, FIELD(all), NULL, "with --compare: name equal steps, too" },
	{ "task", 0, OPTION_TEXT, FIELD(task), "T[:V]", "instead of the recorded one" },
	{ "agent", 0, OPTION_TEXT, FIELD(agent), "FILE",
			"the configuration that led it, for its commands and prompts (otherwise the recorded one)" },
	{ "out", 'o', OPTION_TEXT, FIELD(out), "DIR",
			"where the folder of the new run goes (otherwise trajectories/<user>)" },
	EPISODE_OPTIONS(FIELD(episode)),
	{ "gpus", 0, OPTION_LIST, FIELD(gpus), "N,...",
			"NVIDIA's GPUs that the episode has, 2 for /dev/nvidia2; none: it has none (otherwise "
			"as many as the run had, any that are free)" },
	{},
};

const struct command command_replay = {
	.name = "replay",
	.summary = "play the actions of a recorded run again",
	.arguments = "RUN",
	.min_args = 1,
	.max_args = 1,
	.about = "Plays the actions of a recorded run (a .traj, or the folder of a run) in a fresh episode of the "
		 "same task with the same seed, and records that. No model is asked.\n"
		 "With --compare observations and states are laid beside the recorded ones. What no two runs have "
		 "in common, such as times and process ids, is put aside (\"normalised\").",
	.examples = "fumehood replay --compare trajectories/me/*_run_0\n"
		    "fumehood replay --compare --mlgym-root MLGym --agent configs/agents/default.yaml old.traj",
	.options = options,
	.options_size = sizeof(struct replay_options),
	.run = run_replay,
};
