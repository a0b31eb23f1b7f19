/* SPDX-License-Identifier: Apache-2.0 */
#include "report/scan.h"

#include "base/fd.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "report/find.h"
#include "report/scan_inside.h"
#include "task/load.h"
#include "trajectory/traj.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCAN_RESULTS_BYTES_MAX (64L << 20)
#define SCAN_TASKS_MAX 1000 /* most tasks that are looked up */

struct scan_task {
	const char *name;
	const char *metric; /* NULL: there is no such task here */
	bool maximize;
};

void scan_tasks_release(struct scan_tasks *tasks)
{
	arena_release(&tasks->arena);
}

/* --- the metric of a record that does not name it --------------------------------------------- */

static const struct scan_task *scan_find_task(struct scan_tasks *tasks, const char *name)
{
	struct task_places places = { .tasks_dir = tasks->tasks_dir };
	struct task *task = NULL;
	struct scan_task *found;

	for (size_t i = 0; i < tasks->n; i++)
		if (str_eq(tasks->items[i].name, name))
			return &tasks->items[i];
	if (tasks->n >= SCAN_TASKS_MAX)
		return NULL;
	tasks->items = arena_grow(&tasks->arena, tasks->items, tasks->n, sizeof(*tasks->items));
	found = &tasks->items[tasks->n++];
	*found = (struct scan_task){ .name = arena_strdup(&tasks->arena, name) };
	if (task_name_is_valid(name) && task_read(&places, name, NULL, &task, NULL) == 0) {
		found->metric = arena_strdup(&tasks->arena, task->metric);
		found->maximize = task->maximize;
		task_free(task);
	}
	return found;
}

static bool scan_sounds_minimized(const char *metric)
{
	static const char *const words[] = { "loss", "time", "error", "rmse", "mae", "mse",
		"perplexity" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasestr(metric, words[i]))
			return true;
	return false;
}

/* MLGym's metrics where Fumehood's task of the same name has another. */
static const struct scan_task mlgym_tasks[] = {
	{ "3SATTime", "Time", false },
	{ "imageCaptioningCOCO", "BLEU Score", true },
	{ "naturalLanguageInferenceMNLI", "validation_accuracy", true },
};

const char *scan_metric_of_mlgym(const char *task, bool *out_maximize)
{
	for (size_t i = 0; i < ARRAY_SIZE(mlgym_tasks); i++)
		if (str_eq(mlgym_tasks[i].name, task)) {
			*out_maximize = mlgym_tasks[i].maximize;
			return mlgym_tasks[i].metric;
		}
	return NULL;
}

static const struct scan_task *scan_find_metric(struct scan_tasks *tasks, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(mlgym_tasks); i++)
		if (str_eq(mlgym_tasks[i].name, name))
			return &mlgym_tasks[i];
	return scan_find_task(tasks, name);
}

/* Finds the metric by the task's name. Else takes the first of the scores. */
static void scan_set_metric(struct scan *s, struct scan_tasks *tasks, const struct pyjson *scores,
		const struct pyjson *baseline)
{
	const struct scan_task *task = scan_find_metric(tasks, s->row->task);
	const struct pyjson *of = baseline && baseline->n ? baseline : NULL;

	if (task && task->metric) {
		s->row->metric = arena_strdup(s->arena, task->metric);
		s->row->maximize = task->maximize;
		return;
	}
	if (!of && scores && scores->kind == PYJSON_ARRAY)
		of = scores->first;
	if (!of || of->kind != PYJSON_OBJECT || !of->first)
		return;
	s->row->metric = arena_strndup(s->arena, of->first->key, strnlen(of->first->key, 64));
	s->row->maximize = !scan_sounds_minimized(s->row->metric);
	s->row->guessed = 1;
}

/* --- names of MLGym's folders and files ------------------------------------------------------- */

/* Finds "<word><number>" in a name. -1: it is not there. */
static int64_t scan_number_after(const char *name, const char *word)
{
	const char *at = strstr(name, word);

	return at && at[strlen(word)] >= '0' && at[strlen(word)] <= '9'
			? strtoll(at + strlen(word), NULL, 10)
			: -1;
}

/* Reads "<model>__<task>__<agent>__t-..._run_<number>", the name of a run's folder. */
static void scan_set_names(struct scan *s, const char *folder)
{
	const char *task = strstr(folder, "__"), *agent, *end;

	s->row->number = scan_number_after(folder, "_run_");
	if (!task)
		return;
	s->row->model = arena_strndup(s->arena, folder, (size_t)(task - folder));
	agent = strstr(task + 2, "__");
	if (!agent)
		return;
	s->row->task = arena_strndup(s->arena, task + 2, (size_t)(agent - task - 2));
	end = strstr(agent + 2, "__");
	if (end)
		s->row->agent = arena_strndup(s->arena, agent + 2, (size_t)(end - agent - 2));
}

/* Takes the task from the file's name if the folder does not tell it: "<task>_pi3_2026....traj". */
static void scan_set_file(struct scan *s, const char *file)
{
	const char *policy = strstr(file, "_pi"), *dot = strrchr(file, '.');
	int64_t step = scan_number_after(file, "_pi");
	size_t n = step >= 0 ? (size_t)(policy - file) : dot ? (size_t)(dot - file) : strlen(file);

	s->row->policy_step = step;
	if (!s->row->task)
		s->row->task = arena_strndup(s->arena, file, n);
	if (!s->row->model)
		s->row->model = step >= 0 ? "policy" : "unknown";
}

/* --- MLGym's files ---------------------------------------------------------------------------- */

static void scan_traj_step(struct scan *s, const struct traj_step *from)
{
	const char *observation = pyjson_text(from->observation);
	const char *seconds = pyjson_string(from->execution_time);
	struct scan_step *step;

	if (!from->action) {
		scan_add_broken_step(s);
		return;
	}
	step = scan_add_step(s);
	step->kind = action_letter_of(pyjson_text(from->action));
	step->timed_out = strstr(observation, "TIMED OUT") != NULL;
	step->scored = step->graded = strstr(observation, "Evaluation Score: ") != NULL;
	if (!pyjson_double(from->execution_time, &step->duration_s) && seconds)
		str_to_double(seconds, &step->duration_s);
	step->graded_s = step->graded ? step->duration_s : 0;
}

/* Gives the recorded scores to the steps that were scored. The last one is of the end. */
static void scan_traj_scores(struct scan *s, const struct pyjson *scores)
{
	const struct pyjson *v = scores ? scores->first : NULL;

	for (size_t i = 0; v && i < s->n_steps; i++) {
		struct scan_step *step = &s->steps[i];

		if (!step->scored && !(i + 1 == s->n_steps && !v->next))
			continue;
		step->scored = true;
		step->score = scan_value(v, s->row->metric);
		v = v->next;
	}
}

static int scan_results(
		struct scan *s, const char *path, const struct pyjson **out, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(SCAN_RESULTS_BYTES_MAX);
	struct pyjson_source source = { .name = path };
	const struct pyjson *results;
	int r = fd_read_plain(path, &text, err);

	if (r < 0)
		return r;
	source.data = buf_str(&text);
	source.n = text.len;
	r = pyjson_read(&s->own, &source, &results, err);
	if (r < 0 && found_is_policy(path_basename(path)) && scan_mend_policy(s, &source, out)) {
		scan_set_damage(s, err);
		return 0;
	}
	if (r < 0)
		return r;
	if (results->kind != PYJSON_OBJECT)
		return pyjson_complain(path, results, err, "expected an object");
	*out = results;
	return 0;
}

/* Reads a .traj, or what can be read of it. It needs no whole step if `results` has the scores. */
static int scan_read_traj(struct scan *s, const char *path, const struct pyjson *results,
		struct traj **out, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(TRAJ_BYTES_MAX);
	auto_traj struct traj *t = NULL;
	int r = fd_read_file(path, &text, err);

	if (r < 0)
		return r;
	r = traj_parse(path, buf_str(&text), text.len, &t, err);
	if (r < 0) {
		traj_salvage(buf_str(&text), text.len, &t);
		if (!t->n_steps && !results)
			return r;
		scan_set_damage(s, err);
	}
	*out = take_ptr(t);
	return 0;
}

static int scan_mlgym_traj(struct scan *s, struct scan_tasks *tasks, const char *path,
		const struct pyjson *results, struct fh_error *err)
{
	auto_traj struct traj *t = NULL;
	const struct pyjson *baseline = pyjson_get(results, "baseline"), *scores;
	int r = scan_read_traj(s, path, results, &t, err);

	if (r < 0)
		return r;
	scores = t->info.score ? t->info.score : pyjson_get(results, "agent");
	s->row->exit_status = scan_text(s, t->info.exit_status);
	s->row->complete = s->row->exit_status && *s->row->exit_status;
	if (!scores && s->row->damage)
		scores = scan_told_scores(s, t);
	if (!baseline && s->row->damage)
		baseline = scan_told_baseline(s, t);
	scan_set_metric(s, tasks, scores, baseline);
	s->row->baseline = scan_value(baseline, s->row->metric);
	for (size_t i = 0; i < t->n_steps; i++)
		scan_traj_step(s, &t->steps[i]);
	scan_traj_scores(s, scores);
	scan_set_stats(s, t->info.model_stats);
	scan_sum_steps(s);
	s->row->refused = s->row->integrity = -1; /* MLGym records neither */
	scan_set_scores(s, scores);
	return 0;
}

/* Takes a record that is a results.json alone. */
static void scan_results_scores(
		struct scan *s, struct scan_tasks *tasks, const struct pyjson *results)
{
	const struct pyjson *baseline = pyjson_get(results, "baseline");

	scan_set_metric(s, tasks, pyjson_get(results, "agent"), baseline);
	s->row->baseline = scan_value(baseline, s->row->metric);
}

/* The record names its task with the variant, "titanic:micro". */
static void scan_policy_json(struct scan *s, struct scan_tasks *tasks, const struct pyjson *root)
{
	const char *name = scan_text(s, pyjson_get(root, "task")), *whole;

	whole = name ? name : s->row->task;
	s->row->task = arena_strndup(s->arena, whole, strcspn(whole, ":"));
	scan_set_metric(s, tasks, NULL, NULL);
	s->row->task = whole;
	scan_policy(s, root);
}

static int scan_mlgym(
		struct scan *s, struct scan_tasks *tasks, const char *path, struct fh_error *err)
{
	auto_free char *dir = path_dirname(path), *beside = path_join(dir, "results.json");
	const char *file = path_basename(path);
	bool is_traj = !str_eq(file, "results.json");
	const struct pyjson *results = NULL;
	auto_free char *folder = path_normalise(dir);
	int r = 0;

	scan_set_names(s, path_basename(folder));
	scan_set_file(s, is_traj ? file : path_basename(folder));
	if (str_ends(file, ".json"))
		r = scan_results(s, path, &results, err);
	else if (path_exists(beside))
		scan_results(s, beside, &results, NULL);
	if (r < 0)
		return r;
	if (scan_is_policy(results)) {
		scan_policy_json(s, tasks, results);
		return 0;
	}
	if (is_traj && !pyjson_get(results, "agent") && str_ends(file, ".json"))
		results = NULL;
	if (is_traj && (!str_ends(file, ".json") || !results))
		r = scan_mlgym_traj(s, tasks, path, results, err);
	else
		scan_results_scores(s, tasks, results);
	if (r < 0)
		return r;
	scan_set_scores(s, pyjson_get(results, "agent"));
	s->row->judge = "MLGym";
	return 0;
}

/* ---------------------------------------------------------------------------------------------- */

void scan_record(struct arena *a, struct scan_tasks *tasks, const char *path, struct run_row *row)
{
	struct scan s = { .arena = a, .row = row };
	struct fh_error err = FH_ERROR_INIT;
	int r;

	*row = (struct run_row)RUN_ROW_INIT;
	row->path = arena_strdup(a, path);
	r = str_eq(path_basename(path), "events.jsonl") ? scan_events(&s, path, &err)
							: scan_mlgym(&s, tasks, path, &err);
	if (r < 0) {
		*row = (struct run_row)RUN_ROW_INIT;
		row->path = arena_strdup(a, path);
		row->problem = arena_strdup(a, err.message);
	}
	arena_release(&s.own);
}
