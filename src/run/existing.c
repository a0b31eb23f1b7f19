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

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define RESULTS_BYTES_MAX (64L * 1024 * 1024)
#define RESUMED "\n{\"event\":\"resumed\"" /* how such a line begins */

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

/* --- whether it is the same ----------------------------------------------------------------------------------- */

/* As they would be written of this one: read back, so that keys are hidden alike. */
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
	int r = 0;

	if (p->agent && p->agent->chat)
		r = chat_model_open(p->agent->chat, &p->agent->options, &chat, err);
	if (r < 0)
		return r;
	asked.chat = chat;
	run_args_add(&text, &asked);
	chat_model_close(chat);
	r = args_yaml_parse(a, ARGS_FILE, &text, out, err);
	if (r == 0)
		out->model = model_resolve(a, out->model);
	return r;
}

/* What an older build did not record is unknown, and so no other. */
static bool existing_agrees(const struct pyjson *event, const char *key, const char *wanted)
{
	const char *recorded = existing_text_of(event, key);

	return !*recorded || str_eq(recorded, wanted);
}

/* An `open` or `resumed`. */
static bool existing_has_same_files(const struct run_wanted *w, const struct pyjson *event)
{
	const struct run_agent *agent = w->plan->agent;

	return existing_agrees(event, "task_hash", w->task_hash) &&
			existing_agrees(event, "agent_hash", agent ? agent->config->hash : "");
}

/* It may have gone on with others. */
static bool existing_went_on_with_same_files(const struct run_wanted *w, const char *dir)
{
	auto_free char *path = path_join(dir, EXPORT_EVENTS);
	auto_buf struct buf log = BUF_INIT(EXPORT_EVENTS_BYTES_MAX);
	auto_arena struct arena arena = ARENA_INIT;
	const char *line;

	if (!w->plan->agent)
		return true; /* only runs of language models go on */
	if (fd_read_plain(path, &log, NULL) < 0 || log.truncated)
		return false;
	line = buf_str(&log);
	while ((line = strstr(line, RESUMED))) {
		struct pyjson_source source = { path, line + 1, strcspn(line + 1, "\n"), 0 };
		const struct pyjson *event;

		if (pyjson_read(&arena, &source, &event, NULL) < 0 ||
				!existing_has_same_files(w, event))
			return false;
		line++;
	}
	return true;
}

/* One that nobody asked for is drawn anew in each episode. */
static bool existing_has_same_salt(const struct run_wanted *w, const struct pyjson *reset)
{
	uint64_t wanted = w->plan->env->judge_salt;

	return !wanted || wanted == episode_recorded_salt(reset);
}

static bool existing_is_same(const struct run_wanted *w, const struct run_args *wanted,
		const struct run_found *found)
{
	const struct glance *g = &found->glance;
	auto_arena struct arena arena = ARENA_INIT;
	struct run_args args = *wanted; /* what an older build did not record */

	if (!g->over || !existing_has_same_files(w, g->open) ||
			!existing_has_same_salt(w, g->reset) ||
			args_yaml_read(&arena, found->dir, &args, NULL) < 0)
		return false;
	args.model = model_resolve(&arena, args.model);
	return args_yaml_same(wanted, &args) && existing_went_on_with_same_files(w, found->dir);
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

/* --- what it tells -------------------------------------------------------------------------------------------- */

/* Of its scores; the last line of its log has none. NULL: they can't be read. */
static const struct pyjson *existing_read_scores(struct arena *a, const char *dir)
{
	auto_free char *path = path_join(dir, EXPORT_RESULTS);
	auto_buf struct buf text = BUF_INIT(RESULTS_BYTES_MAX);
	const struct pyjson *results;

	if (fd_read_plain(path, &text, NULL) < 0 ||
			pyjson_read(a, &(struct pyjson_source){ path, buf_str(&text), text.len, 0 },
					&results, NULL) < 0)
		return NULL;
	return pyjson_get(results, "agent");
}

static int existing_int_of(const struct pyjson *object, const char *key)
{
	int64_t v = 0;

	pyjson_i64(pyjson_get(object, key), &v);
	return v < 0 || v > INT_MAX ? 0 : (int)v;
}

/* Since 1970, of an event. */
static int64_t existing_time_of(const struct pyjson *event)
{
	const char *text = existing_text_of(event, "time");
	const char *dot = strchr(text, '.');
	int64_t ms = dot ? strtol(dot + 1, NULL, 10) : 0;

	return compare_time(text) * NS_PER_S + ms * NS_PER_MS;
}

static void existing_tell(struct episode *e, const struct run_found *found)
{
	const struct pyjson *open = found->glance.open, *end = found->glance.end;
	auto_free char *traj = export_traj_name(
			existing_text_of(open, "task"), existing_text_of(open, "variant"));
	auto_arena struct arena arena = ARENA_INIT;

	e->number = found->number;
	e->steps = existing_int_of(end, "steps");
	e->max_steps = existing_int_of(open, "max_steps");
	xstrset(&e->variant, existing_text_of(open, "variant"));
	xstrset(&e->exit_status, existing_text_of(end, "exit_status"));
	e->traj = path_join(found->dir, traj);
	e->recorded = true;
	e->begun_ns = existing_time_of(open);
	e->ended_ns = existing_time_of(end);
	e->stats = run_record_stats(pyjson_get(end, "model_stats"));
	run_scores_read(&e->scores, open, existing_read_scores(&arena, found->dir));
}

bool run_existing_take(const struct run_existing *all, struct episode *e)
{
	for (size_t i = 0; i < all->n; i++) {
		if (all->items[i].seed != e->plan.seed)
			continue;
		existing_tell(e, &all->items[i]);
		e->phase = EPISODE_FOUND;
		return true;
	}
	return false;
}
