/* SPDX-License-Identifier: Apache-2.0 */
#include "run/past.h"

#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "run/args.h"
#include "run/mlgym_root.h"
#include "run/record.h"
#include "run/untrusted.h"
#include "trajectory/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *past_opened(const struct run_past *p, const char *key)
{
	return pyjson_text(pyjson_get(p->recorded.open, key));
}

/*
 * Takes the recorded messages of the conversation, up to the model's reply for step p->n_steps.
 */
static int past_find_messages(struct run_past *p, struct fh_error *err)
{
	const struct traj *t = p->recorded.traj;
	size_t replies = 0;

	p->messages.messages = t->history;
	for (size_t i = 0; i < p->recorded.n_messages && replies < p->n_steps; i++) {
		const struct traj_message *m = &t->history[i];
		bool is_demo = m->is_demo && m->is_demo->boolean;

		replies += !is_demo && str_eq(pyjson_text(m->role), "assistant");
		p->messages.n = i + 1;
	}
	if (replies < p->n_steps)
		return error_say(err, EINVAL,
				"'%s' has %zu steps, but replies for only %zu: it can't be resumed",
				p->dir, p->n_steps, replies);
	if (!replies)
		p->messages.n = 0;
	return 0;
}

static int past_check(const struct run_past *p, double cost_limit, struct fh_error *err)
{
	const char *status = pyjson_text(p->recorded.traj->info.exit_status);
	bool by_cost = strstr(status, "(exit_cost)");
	bool may_cost_more = cost_limit == 0 || cost_limit > p->spent.cost;

	if (!chat_is_spec(past_opened(p, "model")))
		return error_say(err, EINVAL,
				"only runs of language models can be resumed, and '%s' was played by %s",
				p->dir, past_opened(p, "model"));
	if (p->recorded.over && !(by_cost && may_cost_more))
		return error_say(err, EINVAL, "'%s' needs no resuming, because it ended as '%s'%s",
				p->dir, status,
				by_cost ? "; a higher --per-instance-cost-limit continues it" : "");
	if (!p->recorded.reset)
		return error_say(err, EINVAL,
				"'%s' had not begun when it was stopped: run it again", p->dir);
	return 0;
}

static int past_read(struct run_past *p, double cost_limit, struct fh_error *err)
{
	const struct pyjson *seed;
	int64_t number;
	int r = export_read(p->dir, &p->recorded, err);

	if (r == -ENOENT && !path_exists(p->dir))
		return error_set(err, ENOENT, "resume '%s'", p->dir);
	if (r == -ENOENT)
		return error_say(err, ENOENT,
				"'%s' is not the folder of a run: it has no " EXPORT_EVENTS,
				p->dir);
	if (r < 0)
		return r;
	/* Take the model's costs from the record. They lack a reply that was under way when the
	 * recorded run was killed. */
	p->spent = run_record_stats(p->recorded.traj->info.model_stats);
	r = past_check(p, cost_limit, err);
	if (r < 0)
		return r;
	/*
	 * Leave out the last recorded step if a cost limit ended the run: this step only reports
	 * the limit.
	 */
	p->n_steps = p->recorded.n_played - p->recorded.over;
	r = past_find_messages(p, err);
	if (r < 0)
		return r;
	seed = pyjson_get(p->recorded.reset, "seed");
	if (seed && seed->kind == PYJSON_NUMBER)
		p->seed = strtoull(seed->text, NULL, 10);
	if (pyjson_i64(pyjson_get(p->recorded.open, "run"), &number) && number >= 0 &&
			number < INT32_MAX)
		p->number = (int)number;
	p->task_hash = past_opened(p, "task_hash");
	p->agent_hash = past_opened(p, "agent_hash");
	p->keys = episode_recorded_keys(p->recorded.open);
	p->memory = arena_printf(&p->arena, "%s/%s", p->dir, RUN_MEMORY_FILE);
	return 0;
}

int run_past_open(const char *dir, double cost_limit, struct run_past *out, struct fh_error *err)
{
	struct run_past p = { 0 };
	int r = path_absolute(dir, &p.dir, err);

	if (r < 0)
		return r;
	r = past_read(&p, cost_limit, err);
	if (r < 0)
		run_past_release(&p);
	else
		*out = p;
	return r;
}

void run_past_release(struct run_past *p)
{
	export_release(&p->recorded);
	arena_release(&p->arena);
	free(p->dir);
	*p = (struct run_past){ 0 };
}

/* --- options of a recorded run ---------------------------------------------------------------- */

struct past_apply {
	struct run_past *past;
	/* options of the resumed run to fill from its record; those that the user set stay */
	struct run_options *options;
	const struct run_args *args;
	/* recorded options that take effect only if the user repeats them on the command line */
	struct buf wishes;
};

/*
 * Adds a recorded option to q->wishes, the options that the user has to repeat. Skips it if the
 * user gave the option, or if the record has none.
 */
static void past_wish(
		struct past_apply *q, const char *option, const char *given, const char *value)
{
	if (!given && value && *value)
		untrusted_wish(&q->wishes, option, value);
}

/* Returns true if the model's recorded URL is also its default here. The default is that of the
 * provider's environment variable, or the provider's own. */
static bool past_is_own_address(struct past_apply *q)
{
	struct arena *a = &q->past->arena;
	const char *own = run_args_shown_url(a, chat_address(past_opened(q->past, "model")));

	return str_eq(own, q->args->url);
}

static void past_wish_all(struct past_apply *q)
{
	const struct run_options *o = q->options;
	const struct episode_options *e = &o->episode;
	const struct run_args *args = q->args;
	const char *root = args->mlgym_root, *own = o->agent.own_root;
	auto_free char *real = own ? realpath(own, NULL) : NULL;
	auto_free char *recorded = root ? realpath(root, NULL) : NULL;

	/* Take no URL and no extra request fields from the untrusted record. Keys are sent to
	 * the URL, and fields can name other servers. Only the user may set them. */
	if (!past_is_own_address(q))
		past_wish(q, "url", o->agent.url, args->url);
	past_wish(q, "completion-kwargs", o->agent.extra, args->completion_kwargs);
	past_wish(q, "prices", o->agent.prices, args->prices);
	past_wish(q, "aliases-file", e->aliases, args->aliases);
	past_wish(q, "python", e->python, args->python);
	for (size_t i = 0; i < args->bind.n && !o->mounts.n && !e->bind.n; i++)
		past_wish(q, "bind", NULL, args->bind.items[i]);
	if (args->memory && !o->given.memory)
		untrusted_wish(&q->wishes, "memory-enabled", NULL);
	if (!real || !str_eq(real, recorded))
		past_wish(q, "mlgym-root", e->mlgym_root, root);
}

/*
 * Returns the --web-hosts of a resumed run. NULL, the agent's default, only if the user named the
 * agent and the recorded run could use no further hosts. Otherwise "none": recorded hosts become a
 * wish, which the user has to repeat (untrusted.h).
 */
static const char *past_web_hosts(struct past_apply *q)
{
	const char *hosts = q->args->web_hosts;

	if (q->options->agent.given.config && (!hosts || str_eq(hosts, "papers")))
		return NULL;
	if (hosts && !str_eq(hosts, "none"))
		past_wish(q, "web-hosts", NULL, hosts);
	return "none";
}

static void past_apply_cost_limit(struct past_apply *q)
{
	double limit = q->args->cost_limit;

	if (limit <= 0)
		warner_say(q->options->warner,
				"the record sets no limit on costs: --per-instance-cost-limit sets "
				"one");
	else if (limit > q->options->agent.cost_limit)
		warner_say(q->options->warner,
				"the recorded limit on costs is %g dollars: "
				"--per-instance-cost-limit sets another",
				limit);
	q->options->agent.cost_limit = limit;
}

static void past_apply_model(struct past_apply *q)
{
	struct run_agent_options *o = &q->options->agent;
	const struct run_args *args = q->args;

	if (!o->given.temperature)
		o->temperature = args->temperature;
	if (!o->given.top_p)
		o->top_p = args->top_p;
	if (!o->given.cost_limit)
		past_apply_cost_limit(q);
	if (!o->max_tokens)
		o->max_tokens = args->max_tokens;
	if (!o->context)
		o->context = args->context_tokens;
	if (!o->stop.n)
		o->stop = args->stop;
	if (!o->given.stream)
		o->stream = args->stream;
	if (!o->given.tools)
		o->tools = args->original_tools;
	if (!o->version)
		o->version = args->api_version;
}

static void past_apply_environment(struct past_apply *q)
{
	struct run_options *o = q->options;
	const struct run_args *args = q->args;

	if (!o->given.gpus_per_agent) {
		o->gpus_per_agent = (int)args->gpus.n;
		if (o->gpus_per_agent)
			warner_say(o->warner,
					"the run had %d GPUs, so it takes %d again: --gpus-per-agent sets "
					"another number",
					o->gpus_per_agent, o->gpus_per_agent);
	}
	/*
	 * Use no MLGym checkout if the record has "": the run used none. The current folder may be
	 * a checkout, but is not used then.
	 */
	if (!o->episode.mlgym_root && args->mlgym_root && !*args->mlgym_root)
		o->episode.mlgym_root = "";
	if (!o->episode.tasks_dir)
		o->episode.tasks_dir = args->tasks_dir;
	if (!o->episode.web_hosts)
		o->episode.web_hosts = past_web_hosts(q);
}

/*
 * Fail if the record left out an option's value, because it may be secret, and the user gave none.
 */
static int past_check_hidden(struct past_apply *q, struct fh_error *err)
{
	const struct run_agent_options *o = &q->options->agent;
	const struct run_args *args = q->args;
	const char *missing = NULL;

	for (size_t i = 0; i < args->stop.n && !o->stop.n; i++)
		if (run_args_is_hidden(args->stop.items[i]))
			missing = "stop";
	if (run_args_is_hidden(args->completion_kwargs) && !o->extra)
		missing = "completion-kwargs";
	if (run_args_is_hidden(args->url) && !o->url && !past_is_own_address(q))
		missing = "url";
	if (!missing)
		return 0;
	return error_say(err, EINVAL,
			"the record leaves out the value of --%s, because it may be secret: "
			"give the option again",
			missing);
}

/*
 * Sets options of the resumed run from the recorded arguments. Options that are not in the record
 * keep their values.
 */
static int past_apply_args(struct run_past *p, struct run_options *o, struct fh_error *err)
{
	struct run_args args = {
		.temperature = o->agent.temperature,
		.top_p = o->agent.top_p,
		.cost_limit = o->agent.cost_limit,
		.gpus = { .n = (size_t)o->gpus_per_agent },
	};
	struct past_apply q = { .past = p, .options = o, .args = &args };
	int r = args_yaml_read(&p->arena, p->dir, &args, err);

	if (r < 0)
		return r;
	if (args.agent_command && *args.agent_command)
		return error_say(err, EINVAL,
				"a run of --agent-command can't be resumed: the state of its "
				"program is gone; run it anew, without --resume");
	r = past_check_hidden(&q, err);
	if (r < 0)
		return r;
	buf_init(&q.wishes, UNTRUSTED_WISHES_BYTES_MAX);
	past_wish_all(&q);
	past_apply_environment(&q);
	r = untrusted_refuse(&q.wishes, err);
	buf_release(&q.wishes);
	if (r < 0)
		return r;
	past_apply_model(&q);
	return 0;
}

static struct texts past_list_of(struct arena *a, const char *text)
{
	const char **items = arena_alloc(a, sizeof(*items));

	*items = text;
	return (struct texts){ .items = items, .n = 1 };
}

const char *run_past_agent(const struct pyjson *open)
{
	const char *path = pyjson_text(pyjson_get(open, "agent_config_path"));
	const char *name = pyjson_text(pyjson_get(open, "agent_config"));

	if (*path)
		return path;
	return *name ? name : NULL;
}

int run_past_apply(struct run_past *p, struct run_options *o, struct fh_error *err)
{
	const char *variant = past_opened(p, "variant");
	const char *agent = run_past_agent(p->recorded.open);
	int r = mlgym_root(&p->arena, o->episode.mlgym_root, NULL, &o->agent.own_root, err);

	if (r < 0)
		return r;
	o->tasks = past_list_of(&p->arena,
			arena_printf(&p->arena, "%s%s%s", past_opened(p, "task"),
					*variant ? ":" : "", variant));
	o->models = past_list_of(&p->arena, past_opened(p, "model"));
	o->episode.seed = p->seed;
	o->episode.judge_salt = episode_recorded_salt(p->recorded.reset);
	o->episode.data_seed = episode_recorded_data_seed(p->recorded.open);
	o->episode.output_bytes = episode_recorded_output(p->recorded.open);
	o->episode.max_steps = episode_recorded_steps(p->recorded.open, o->episode.max_steps);
	o->episode.reward = episode_reward_of(past_opened(p, "reward"), o->episode.reward);
	o->runs = 1;
	o->retry = 0;
	o->skip_existing = false;
	o->agent.recorded = agent && !o->agent.given.config;
	if (o->agent.recorded)
		o->agent.config = agent;
	else
		/* don't compare hashes of the agent: the user chose another */
		p->agent_hash = NULL;
	return past_apply_args(p, o, err);
}

/* --- comparing with the record while it is played again --------------------------------------- */

struct model_turn run_past_turn(const struct run_past *p, size_t i)
{
	const struct traj_step *step = &p->recorded.traj->steps[i];

	return (struct model_turn){ .action = pyjson_text(step->action),
		.response = pyjson_text(step->response),
		.thought = pyjson_text(step->thought),
		.timeout_s = step->timeout_s };
}

bool run_past_differs(const struct run_past *p, const struct fh_step *step)
{
	const struct pyjson *reset = p->recorded.reset;
	const struct pyjson *recorded = step->step
			? p->recorded.traj->steps[step->step - 1].observation
			: pyjson_get(reset, "observation");
	struct compare_text then = { pyjson_text(recorded),
		compare_time(pyjson_text(pyjson_get(reset, "time"))) };
	struct compare_text now = { step->observation ? step->observation : "", time(NULL) };

	return compare_texts(then, now) == COMPARE_DIFFERENT;
}
