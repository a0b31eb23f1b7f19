/* SPDX-License-Identifier: Apache-2.0 */
#include "run/trial.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/env.h"
#include "env/open.h"
#include "grade/score.h"
#include "run/trial_inside.h"
#include "task/dataset.h"
#include "task/load.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TRIAL_STEPS 1000
/* judge's salt (it seeds random numbers) for the first seed; the next seeds have the salts 2, 3,
 * ... */
#define FIRST_SALT 1
/* Variable of the shell in which a baseline or a solution runs: the seed of their training. The
 * first seed leaves it unset, which the programs read as 0. */
#define SEED_VARIABLE "FUMEHOOD_TRAINING_SEED"
#define SEARCH_TIMEOUT_S 300 /* seconds after which the search for hidden files times out */

/* State while a task is tried out: its baseline and solution are played. */
struct trying {
	const struct trial *trial;
	struct fh_gym *gym;
	const struct task *task; /* the task with the data that the first seed selects */
	json_t *played;
	struct trial_side baseline, solution;
};

/* --- telling ---------------------------------------------------------------------------------- */

/* Finds a metric by its name, in upper or lower case. NULL: there is none. */
static const double *trial_find_metric(const struct fh_metric *metrics, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(metrics[i].name, name) == 0)
			return &metrics[i].value;
	return NULL;
}

static void trial_add_scores(
		json_t *played, const char *what, const struct fh_metric *metrics, size_t n)
{
	json_t *scores = json_object();

	for (size_t i = 0; i < n; i++)
		json_object_set_new(scores, metrics[i].name, score_json(&metrics[i]));
	json_object_set_new(played, what, scores);
}

/* Sets the member "problem" of `played` to "<what>: <message>", unless it is set. Returns false. */
static bool trial_failed(json_t *played, const char *what, const struct fh_error *err)
{
	auto_free char *text = xasprintf("%s: %s", what, err->message);

	if (!json_object_get(played, "problem"))
		json_object_set_new(played, "problem", json_text(text));
	return false;
}

/* Appends a percentage like "0.15% ": two significant digits, no exponent. */
static void trial_add_percent(struct buf *out, double percent)
{
	/*
	 * number of zeros from the one before the decimal point to the first other digit; -1: 10
	 * percent or more
	 */
	int zeros = percent < 10 ? (int)-floor(log10(percent)) : -1;

	buf_printf(out, "%.*f%% ", zeros + 1, percent);
}

/*
 * Adds a sentence like "0.15% better than published" to `played`. It compares the baseline's score
 * by the task's metric.
 */
static void trial_compare_with_published(struct attempt *a, const struct task *task, json_t *played)
{
	static const char *const words[] = { "worse than", "equal to", "better than" };
	const double *now = trial_find_metric(a->step.score, a->step.n_score, task->metric);
	const double *then = trial_find_metric(task->published, task->n_published, task->metric);
	/* large enough for a percentage: a double may have 309 digits */
	auto_buf struct buf text = BUF_INIT(512);
	int better;

	if (!now || !then)
		return;
	better = score_compare(*now, *then, task->maximize);
	if (better && *then != 0)
		trial_add_percent(&text, 100 * fabs((*now - *then) / *then));
	buf_printf(&text, "%s published", words[better + 1]);
	json_object_set_new(played, "compared", json_text(buf_str(&text)));
}

static struct fh_env_options trial_options_of(const struct task *task, const char *python)
{
	return FH_ENV_OPTIONS(.task = task->mlgym ? task->file : task->dir,
			.data_seed = task->data_seed, .variant = task->variant,
			.max_steps = TRIAL_STEPS, .python = python);
}

static int trial_open_gym(
		const struct task_places *places, struct fh_gym **out, struct fh_error *err)
{
	struct fh_gym_options options = FH_GYM_OPTIONS(.tasks_dir = places->tasks_dir,
			.mlgym_root = places->mlgym_root, .state_dir = places->state_dir);

	return fh_gym_open(&options, out, err);
}

void trial_check_imports(const struct trial *trial, struct task_check *check)
{
	struct fh_env_options options;
	auto_free char *warning = NULL;
	struct fh_gym *gym = NULL;
	struct task *task = NULL;
	struct fh_error err;
	int r;

	if (task_load(trial->places, trial->spec, NULL, &task, NULL) < 0)
		/* don't report this here: task_check() reports why the task can't be loaded */
		return;
	options = trial_options_of(task, trial->python);
	r = task->mlgym ? trial_open_gym(trial->places, &gym, &err) : 0;
	if (gym)
		r = env_check_imports(gym, &options, &warning, &err);
	if (r < 0)
		/* With this machine's Python, a missing module is only a remark, not a fault of
		 * the task. */
		task_check_remark(check, trial->python != NULL, "%s", err.message);
	else if (warning)
		task_check_remark(check, false, "%s", warning);
	fh_gym_close(gym);
	task_free(task);
}

/* --- playing ---------------------------------------------------------------------------------- */

/* Adds a score of the baseline or the solution. If the task expects another score, adds a
 * problem. */
static void trial_add_score(struct trying *t, struct trial_side *side, const char *what,
		const struct fh_metric *metrics, size_t n)
{
	const double *score = trial_find_metric(metrics, n, t->task->metric);
	struct fh_error err;

	if (!json_object_get(t->played, side->name))
		trial_add_scores(t->played, side->name, metrics, n);
	if (score && trial_side_add(side, t->task->metric, *score, &err) < 0)
		trial_failed(t->played, what, &err);
}

/*
 * Adds the baseline's score to the report. Plays the baseline, unless this is the first seed:
 * fh_env_open() has played it with that.
 */
static bool trial_try_baseline(struct trying *t, struct attempt *a, bool first, const char *what)
{
	struct fh_env_info info;

	if (!a->task->baseline_command)
		return true;
	if (first && !a->task->baseline_is_published) {
		fh_env_info(a->env, &info);
		trial_add_score(t, &t->baseline, what, info.baseline, info.n_baseline);
		return true;
	}
	if (attempt_baseline(a) < 0)
		return trial_failed(t->played, what, &a->err);
	trial_add_score(t, &t->baseline, what, a->step.score, a->step.n_score);
	if (a->task->baseline_is_published && !json_object_get(t->played, "compared"))
		trial_compare_with_published(a, a->task, t->played);
	return true;
}

static int trial_play_and_grade_twice(struct trying *t, struct attempt *a)
{
	bool same = true;
	int r = a->task->grader.kind == GRADER_CSV ? attempt_validate_twice(a)
						   : attempt_grade_twice(a, &same);

	if (r < 0)
		return r;
	if (!same)
		json_object_set_new(t->played, "note",
				json_text("the solution makes another submission each time, so "
					  "that gradings were not compared"));
	return 0;
}

/* Returns true if the score is a CPU time. A single one tells little, since it depends on what else
 * the machine does. */
static bool trial_measures_time(const struct task *task)
{
	return task->grader.cpu_metric && str_eq(task->metric, task->grader.cpu_metric);
}

/*
 * Plays the solution. With the first seed its submission is graded twice, except in tasks of MLGym.
 */
static bool trial_try_solution(struct trying *t, struct attempt *a, bool first, const char *what)
{
	const double *baseline, *solution;
	int r;

	if (!a->task->solution_command)
		return true;
	r = first && a->task->grader.kind != GRADER_MLGYM ? trial_play_and_grade_twice(t, a)
							  : attempt_solution(a);
	if (r < 0)
		return trial_failed(t->played, what, &a->err);
	trial_add_score(t, &t->solution, what, a->step.score, a->step.n_score);
	if (a->step.validated && !json_object_get(t->played, "validated"))
		trial_add_scores(t->played, "validated", a->step.validated, a->step.n_validated);
	baseline = trial_find_metric(a->step.baseline, a->step.n_baseline, a->task->metric);
	solution = trial_find_metric(a->step.score, a->step.n_score, a->task->metric);
	if (trial_measures_time(a->task))
		return true; /* trial_compare_times() compares the means at the end */
	if (!baseline || !solution ||
			trial_sides_compare(a->task, *baseline, *solution, &a->err) < 0)
		return trial_failed(t->played, what, &a->err);
	return true;
}

/* Compares the mean CPU times of the baseline and the solution. */
static void trial_compare_times(struct trying *t)
{
	struct fh_error err;

	if (t->baseline.scores.n && t->solution.scores.n &&
			trial_sides_compare(t->task, t->baseline.scores.mean,
					t->solution.scores.mean, &err) < 0)
		trial_failed(t->played, "the solution", &err);
}

/* Reports the environment's warning, and looks for hidden files before anything is played. */
static bool trial_look_around(struct trying *t, struct attempt *a)
{
	auto_buf struct buf command = BUF_INIT(FH_ACTION_BYTES_MAX);
	auto_trial_hidden struct trial_hidden *hidden = NULL;

	if (fh_env_warning(a->env))
		json_object_set_new(t->played, "note", json_text(fh_env_warning(a->env)));
	/* Skip the search for hidden files: tasks of MLGym show the agent the program that scores
	 * it. */
	if (a->task->grader.kind == GRADER_MLGYM)
		return true;
	if (fh_env_reset(a->env, NULL, &a->step, &a->err) < 0)
		return trial_failed(t->played, "the starter", &a->err);
	hidden = trial_hidden_new(a->task, &command);
	if (attempt_step(a, buf_str(&command), SEARCH_TIMEOUT_S) < 0 ||
			trial_hidden_compare(hidden, a->step.observation, &a->err) < 0)
		return trial_failed(t->played, "an episode", &a->err);
	return true;
}

static bool trial_is_generated(const struct task *task)
{
	for (size_t i = 0; i < task->n_datasets; i++)
		if (task->datasets[i].make)
			return true;
	return false;
}

/* Plays the task once more with the seed at index `i`. It is a seed of the training and the judge,
 * and of the data if that is generated. */
static bool trial_try_seed(struct trying *t, int i)
{
	const struct trial *trial = t->trial;
	struct task_places places = *trial->places;
	bool generated = trial_is_generated(t->task), ok;
	uint64_t seed = (uint64_t)i + (generated ? places.data_seed : 0);
	auto_free char *variable = xasprintf(SEED_VARIABLE "=%d", i);
	const char *variables[] = { variable };
	auto_free char *with = i == 0 ? xstrdup("")
				      : xasprintf(" with the %s seed %" PRIu64,
							generated ? "data" : "judge's", seed);
	auto_free char *baseline = xasprintf("the baseline%s", with);
	auto_free char *solution = xasprintf("the solution%s", with);
	struct attempt a = { .err = FH_ERROR_INIT };
	auto_task struct task *task = NULL;
	struct fh_env_options options;

	if (generated)
		places.data_seed = seed;
	if (task_load(&places, trial->spec, NULL, &task, &a.err) < 0)
		return trial_failed(t->played, "the task", &a.err);
	a.task = task;
	options = trial_options_of(task, trial->python);
	options.judge_salt = FIRST_SALT + (uint64_t)i;
	options.variables = variables;
	options.n_variables = i == 0 ? 0 : ARRAY_SIZE(variables);
	if (fh_env_open(t->gym, &options, &a.env, &a.err) < 0)
		return trial_failed(t->played, baseline, &a.err);
	ok = i > 0 || trial_look_around(t, &a);
	ok = ok && trial_try_baseline(t, &a, i == 0, baseline);
	ok = ok && trial_try_solution(t, &a, i == 0, solution);
	fh_env_close(a.env);
	return ok;
}

int trial_play(const struct trial *trial, json_t *played, struct fh_error *err)
{
	auto_task struct task *task = NULL;
	struct trying t = { .trial = trial, .played = played };
	int r = task_load(trial->places, trial->spec, NULL, &task, err);

	if (r < 0)
		return r;
	t.task = task;
	t.baseline = (struct trial_side){ .name = "baseline", .expect = &task->expect_baseline };
	t.solution = (struct trial_side){ .name = "solution", .expect = &task->expect_solution };
	r = trial_open_gym(trial->places, &t.gym, err);
	if (r < 0)
		return r;
	json_object_set_new(played, "metric", json_text(task->metric));
	if (!task->baseline_command || task->baseline_is_published)
		/* Another machine computed these scores. */
		trial_add_scores(played, "published", task->published, task->n_published);
	if (!task->baseline_command)
		json_object_set_new(played, "note",
				json_text("the baseline is not played: no 'baseline_paths' name "
					  "its program"));
	for (int i = 0; i < trial->n_seeds || i == 0; i++)
		if (!trial_try_seed(&t, i))
			break;
	fh_gym_close(t.gym);
	if (trial_measures_time(task))
		trial_compare_times(&t);
	if (trial->n_seeds > 1)
		json_object_set_new(played, "seeds", trial_sides_json(&t.baseline, &t.solution));
	return !json_object_get(played, "problem");
}
