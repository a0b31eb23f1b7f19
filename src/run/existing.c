/* SPDX-License-Identifier: Apache-2.0 */
#include "run/existing.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/yaml.h"
#include "model/model.h"
#include "run/args.h"
#include "run/episode_options.h"
#include "run/record.h"
#include "trajectory/compare.h"
#include "trajectory/export.h"
#include "trajectory/glance.h"
#include "trajectory/run_dir.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define EXISTING_RESULTS_BYTES_MAX (64L * 1024 * 1024)
/* Beginning of the line of a "resumed" event in events.jsonl. */
#define RESUMED "\n{\"event\":\"resumed\""

struct run_found {
	uint64_t seed;
	int number;
	const char *dir;
	struct glance glance;
};

static const char *existing_text_of(const struct pyjson *object, const char *key)
{
	return pyjson_text(pyjson_get(object, key));
}

/* --- comparing a recorded run with the planned one -------------------------------------------- */

/*
 * Makes the arguments that the planned run would record in args.yaml. They are written as YAML and
 * read again, so that API keys are hidden as in a record.
 */
static int existing_read_wanted(struct arena *a, const struct run_wanted *w,
		const struct run_name *name, struct run_args *out, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(YAML_FILE_BYTES_MAX);
	const struct episode_plan *p = w->plan;
	struct run_asked asked = {
		.plan = p,
		.name = name,
		.max_steps = p->env->max_steps ? p->env->max_steps : w->task->max_steps,
		.n_gpus = p->env->n_gpus,
	};
	struct chat_model *chat = NULL;
	int r;

	if (p->agent && p->agent->chat) {
		r = chat_model_open(p->agent->chat, &p->agent->options, &chat, err);
		if (r < 0)
			return r;
	}
	asked.chat = chat;
	run_args_add(&text, &asked);
	chat_model_close(chat);
	r = args_yaml_parse(a, ARGS_FILE, &text, out, err);
	if (r < 0)
		return r;
	out->model = model_resolve(a, out->model);
	return 0;
}

/* Returns true if a recorded event's hash `key` equals `wanted`, or if an older build recorded no
 * hash. */
static bool existing_has_hash(const struct pyjson *event, const char *key, const char *wanted)
{
	const char *recorded = existing_text_of(event, key);

	return !*recorded || str_eq(recorded, wanted);
}

/* Compares a recorded "open" or "resumed" event with the planned episode. Returns true if the
 * hashes of task and agent are equal. */
static bool existing_has_files(const struct run_wanted *w, const struct pyjson *event)
{
	const struct run_agent *agent = w->plan->agent;

	return existing_has_hash(event, "task_hash", w->task_hash) &&
			existing_has_hash(event, "agent_hash", agent ? agent->config->hash : "");
}

/*
 * Compares all "resumed" events of a recorded run with the planned episode. Returns true if the
 * hashes of task and agent are equal.
 */
static bool existing_was_resumed_alike(const struct run_wanted *w, const char *dir)
{
	auto_free char *path = path_join(dir, EXPORT_EVENTS);
	auto_buf struct buf log = BUF_INIT(EXPORT_EVENTS_BYTES_MAX);
	auto_arena struct arena arena = ARENA_INIT;
	const char *line;

	if (!w->plan->agent)
		/* A run without an agent can't have been resumed: only runs of language models
		 * can. */
		return true;
	if (fd_read_plain(path, &log, NULL) < 0 || log.truncated)
		return false;
	for (line = buf_str(&log); (line = strstr(line, RESUMED)); line++) {
		struct pyjson_source source = { path, line + 1, strcspn(line + 1, "\n"), 0 };
		const struct pyjson *event;

		if (pyjson_read(&arena, &source, &event, NULL) < 0 || !existing_has_files(w, event))
			return false;
	}
	return true;
}

static bool existing_is_same(const struct run_wanted *w, const struct run_args *wanted,
		const struct run_found *found)
{
	const struct glance *g = &found->glance;
	/* salt that the user fixed; 0: each episode draws a random salt */
	uint64_t salt = w->plan->env->judge_salt;
	auto_arena struct arena arena = ARENA_INIT;
	/* start from the wanted arguments, because older builds did not record all */
	struct run_args args = *wanted;

	if (!g->over || !existing_has_files(w, g->open) ||
			(salt && salt != episode_recorded_salt(g->reset)) ||
			episode_recorded_data_seed(g->open) != wanted->data_seed ||
			args_yaml_read(&arena, found->dir, &args, NULL) < 0)
		return false;
	args.model = model_resolve(&arena, args.model);
	return args_yaml_same(wanted, &args) && existing_was_resumed_alike(w, found->dir);
}

int run_existing_read(const struct run_wanted *w, struct run_existing *out, struct fh_error *err)
{
	const struct task *task = w->task;
	auto_free char *id =
			xasprintf("%s%s%s", task->id, *task->variant ? ":" : "", task->variant);
	struct run_name name = run_record_name(w->plan, w->label, id);
	auto_arena struct arena arena = ARENA_INIT;
	auto_free int *numbers = NULL;
	struct run_existing all = { .arena = ARENA_INIT };
	struct run_args wanted = { 0 };
	int r = existing_read_wanted(&arena, w, &name, &wanted, err);
	size_t n;

	if (r < 0)
		return r;
	n = run_dir_numbers(w->plan->out, &name, &numbers);
	all.items = arena_array(&all.arena, n + 1, sizeof(*all.items));
	for (size_t i = 0; i < n; i++) {
		auto_free char *dir = run_dir_path(w->plan->out, &name, numbers[i]);
		struct run_found found = { .number = numbers[i],
			.dir = arena_strdup(&all.arena, dir) };

		found.glance = glance_at(&all.arena, dir);
		if (existing_is_same(w, &wanted, &found) && glance_seed(&found.glance, &found.seed))
			all.items[all.n++] = found;
	}
	*out = all;
	return 0;
}

void run_existing_release(struct run_existing *all)
{
	arena_release(&all->arena);
	*all = (struct run_existing){ 0 };
}

/* --- results of a recorded run ---------------------------------------------------------------- */

/* Returns the object in results.json of a run whose events don't list its scores. NULL: the file
 * can't be read. */
static const struct pyjson *existing_read_results(struct arena *a, const char *dir)
{
	auto_free char *path = path_join(dir, EXPORT_RESULTS);
	auto_buf struct buf text = BUF_INIT(EXISTING_RESULTS_BYTES_MAX);
	const struct pyjson *results;

	if (fd_read_plain(path, &text, NULL) < 0 ||
			pyjson_read(a, &(struct pyjson_source){ path, buf_str(&text), text.len, 0 },
					&results, NULL) < 0)
		return NULL;
	return results;
}

static int existing_int_of(const struct pyjson *object, const char *key)
{
	int64_t v = 0;

	pyjson_i64(pyjson_get(object, key), &v);
	return v < 0 || v > INT_MAX ? 0 : (int)v;
}

/* Returns the time of a recorded event, in nanoseconds since 1970. */
static int64_t existing_ns_of(const struct pyjson *event)
{
	const char *text = existing_text_of(event, "time");
	const char *dot = strchr(text, '.');
	int64_t ms = dot ? strtol(dot + 1, NULL, 10) : 0;

	return compare_time(text) * NS_PER_S + ms * NS_PER_MS;
}

bool run_existing_take(const struct run_existing *all, struct episode *e)
{
	const struct run_found *found = all->items, *last = found + all->n;
	const struct pyjson *open, *end;
	auto_free char *traj = NULL;
	auto_arena struct arena arena = ARENA_INIT;

	while (found < last && found->seed != e->plan.seed)
		found++;
	if (found == last)
		return false;
	open = found->glance.open;
	end = found->glance.end;
	traj = run_dir_recorded_traj_name(open);
	e->phase = EPISODE_FOUND;
	e->number = found->number;
	e->steps = existing_int_of(end, "steps");
	e->max_steps = existing_int_of(open, "max_steps");
	xstrset(&e->variant, existing_text_of(open, "variant"));
	xstrset(&e->exit_status, existing_text_of(end, "exit_status"));
	e->traj = path_join(found->dir, traj);
	e->recorded = true;
	e->begun_ns = existing_ns_of(open);
	e->ended_ns = existing_ns_of(end);
	e->stats = run_record_stats(pyjson_get(end, "model_stats"));
	run_scores_read(&e->scores, open, existing_read_results(&arena, found->dir));
	return true;
}
