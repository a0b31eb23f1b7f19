/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_resume.h"

#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/yaml.h"
#include "trajectory/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *text_of(const struct pyjson *v)
{
	const char *text = v ? pyjson_string(v) : NULL;

	return text ? text : "";
}

static const char *opened(const struct run_past *p, const char *key)
{
	return text_of(pyjson_get(p->recorded.open, key));
}

static bool is_assistant(const struct traj_message *m)
{
	return str_eq(text_of(m->role), "assistant") && !(m->is_demo && m->is_demo->boolean);
}

/* Up to what led to the last step. */
static int find_messages(struct run_past *p, struct fh_error *err)
{
	const struct traj *t = p->recorded.traj;
	size_t said = 0;

	p->messages.messages = t->history;
	for (size_t i = 0; i < p->recorded.n_messages && said < p->n_steps; i++) {
		said += is_assistant(&t->history[i]);
		p->messages.n = i + 1;
	}
	if (said < p->n_steps)
		return error_say(err, EINVAL, "'%s' holds %zu steps, but what was said only of %zu",
				p->dir, p->n_steps, said);
	if (!said)
		p->messages.n = 0;
	return 0;
}

static int check(const struct run_past *p, struct fh_error *err)
{
	if (!chat_is_spec(opened(p, "model")))
		return error_say(err, EINVAL,
				"only runs of language models are resumed: '%s' was played by %s",
				p->dir, opened(p, "model"));
	if (p->recorded.over)
		return error_say(err, EINVAL, "'%s' needs no resuming: it ended as '%s'", p->dir,
				text_of(p->recorded.traj->info.exit_status));
	if (!p->recorded.reset)
		return error_say(err, EINVAL,
				"'%s' had not begun when it was stopped: run it again", p->dir);
	return 0;
}

/* As far as it is known: the process that was killed took its counts along. */
static struct chat_stats spent(const struct run_past *p)
{
	const struct pyjson *stats = p->recorded.traj->info.model_stats;
	struct chat_stats s = { 0 };

	pyjson_double(pyjson_get(stats, "total_cost"), &s.cost);
	pyjson_i64(pyjson_get(stats, "tokens_sent"), &s.tokens_sent);
	pyjson_i64(pyjson_get(stats, "tokens_received"), &s.tokens_received);
	pyjson_i64(pyjson_get(stats, "api_calls"), &s.calls);
	return s;
}

static int read_past(struct run_past *p, struct fh_error *err)
{
	const struct pyjson *seed;
	int64_t number;
	int r = export_read(p->dir, &p->recorded, err);

	if (r == 0)
		r = check(p, err);
	p->n_steps = p->recorded.n_played;
	if (r == 0)
		r = find_messages(p, err);
	if (r < 0)
		return r;
	p->spent = spent(p);
	seed = pyjson_get(p->recorded.reset, "seed");
	if (seed && seed->kind == PYJSON_NUMBER)
		p->seed = strtoull(seed->text, NULL, 10);
	if (pyjson_i64(pyjson_get(p->recorded.open, "run"), &number) && number >= 0 &&
			number < INT32_MAX)
		p->number = (int)number;
	p->task_hash = opened(p, "task_hash");
	return 0;
}

int run_past_open(const char *dir, struct run_past *out, struct fh_error *err)
{
	struct run_past p = { 0 };
	int r = path_absolute(dir, &p.dir, err);

	if (r == 0)
		r = read_past(&p, err);
	if (r < 0) {
		run_past_release(&p);
		return r;
	}
	*out = p;
	return 0;
}

void run_past_release(struct run_past *p)
{
	export_release(&p->recorded);
	arena_release(&p->arena);
	free(p->dir);
	*p = (struct run_past){ 0 };
}

/* --- as it was asked for ------------------------------------------------------------------------------------- */

static void take_number(const struct node *args, const char *path, double *out)
{
	const struct node *node = node_path(args, path);
	char *end;
	double v;

	if (!node || node->kind != NODE_SCALAR || !*node->text)
		return;
	v = strtod(node->text, &end);
	if (!*end)
		*out = v;
}

/* Beside the events, as run.c's args.yaml has it. */
static int apply_args(struct run_past *p, const struct command_context *ctx,
		struct run_agent_options *o, struct fh_error *err)
{
	auto_free char *path = path_join(p->dir, "args.yaml");
	const struct node *args;
	int r = yaml_load(&p->arena, path, &args, err);

	if (r < 0)
		return r;
	if (!cmd_given(ctx, "temperature"))
		take_number(args, "agent.model.temperature", &o->temperature);
	if (!cmd_given(ctx, "top-p"))
		take_number(args, "agent.model.top_p", &o->top_p);
	if (!cmd_given(ctx, "per-instance-cost-limit"))
		take_number(args, "agent.model.per_instance_cost_limit", &o->cost_limit);
	return 0;
}

static struct cmd_list one(struct arena *a, const char *text)
{
	const char **items = arena_alloc(a, sizeof(*items));

	*items = text;
	return (struct cmd_list){ .items = items, .n = 1 };
}

const char *run_past_agent(const struct pyjson *open)
{
	const char *path = text_of(pyjson_get(open, "agent_config_path"));
	const char *name = text_of(pyjson_get(open, "agent_config"));

	if (*path)
		return path;
	return *name ? name : NULL;
}

int run_past_apply(struct run_past *p, const struct command_context *ctx, struct run_options *o,
		struct fh_error *err)
{
	const char *variant = opened(p, "variant");
	const char *agent = run_past_agent(p->recorded.open);
	int64_t max_steps;

	o->tasks = one(&p->arena,
			arena_printf(&p->arena, "%s%s%s", opened(p, "task"), *variant ? ":" : "",
					variant));
	o->models = one(&p->arena, opened(p, "model"));
	o->episode.seed = p->seed;
	o->episode.judge_salt = episode_recorded_salt(p->recorded.reset);
	o->runs = 1;
	o->retry = 0;
	o->skip_existing = false;
	if (agent && !cmd_given(ctx, "agent"))
		o->agent.config = agent;
	if (pyjson_i64(pyjson_get(p->recorded.open, "max_steps"), &max_steps) && max_steps > 0 &&
			max_steps <= STEPS_MAX)
		o->episode.max_steps = (int)max_steps;
	for (int i = 0; episode_rewards[i]; i++)
		if (str_eq(episode_rewards[i], opened(p, "reward")))
			o->episode.reward = i;
	return apply_args(p, ctx, &o->agent, err);
}

/* --- while it is played again -------------------------------------------------------------------------------- */

struct model_turn run_past_turn(const struct run_past *p, size_t i)
{
	const struct traj_step *step = &p->recorded.traj->steps[i];

	return (struct model_turn){ .action = text_of(step->action),
		.response = text_of(step->response),
		.thought = text_of(step->thought) };
}

bool run_past_differs(const struct run_past *p, const struct fh_step *step)
{
	const struct pyjson *recorded = step->step
			? p->recorded.traj->steps[step->step - 1].observation
			: pyjson_get(p->recorded.reset, "observation");

	struct compare_text then = { text_of(recorded),
		compare_time(text_of(pyjson_get(p->recorded.reset, "time"))) };
	struct compare_text now = { step->observation ? step->observation : "", time(NULL) };

	return compare_texts(then, now) == COMPARE_DIFFERENT;
}
