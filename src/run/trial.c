/* SPDX-License-Identifier: Apache-2.0 */
#include "run/trial.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "env/env.h"
#include "env/open.h"
#include "grade/score.h"
#include "task/load.h"

#include <fumehood/env.h>

#include <errno.h>
#include <math.h>
#include <string.h>

/* Plays a task's baseline and its solution as an agent would. */
#define STEPS 1000

struct attempt {
	struct fh_env *env;
	struct fh_step step;
	struct fh_error err;
};

static int trial_do_step(struct attempt *a, const char *command, double timeout_s)
{
	int r = fh_env_step(a->env, &(struct fh_action){ .text = command, .timeout_s = timeout_s },
			&a->step, &a->err);

	if (r < 0)
		return r;
	if (a->step.outcome != FH_OUTCOME_OK || a->step.exit_code != 0)
		return error_say(&a->err, EINVAL, "`%.200s` ended with %s, status %d: %.600s",
				command, fh_outcome_name(a->step.outcome), a->step.exit_code,
				a->step.observation);
	return 0;
}

static int trial_play_episode(struct attempt *a, const struct task *task,
		const struct task_file *files, size_t n_files, const char *command)
{
	int r = fh_env_reset(a->env, 0, &a->step, &a->err);

	if (r < 0)
		return r;
	r = env_put_files(a->env, files, n_files, &a->err);
	if (r < 0)
		return r;
	r = trial_do_step(a, command, (double)task->training_timeout_ms / 1000);
	if (r < 0)
		return r;
	r = fh_env_submit(a->env, &a->step, &a->err);
	if (r < 0 || a->step.score)
		return r;
	return error_say(&a->err, EINVAL, "it can't be scored: %s",
			a->step.grade_error ? a->step.grade_error : "nothing was submitted");
}

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

static bool trial_failed(json_t *played, const char *what, const struct fh_error *err)
{
	auto_free char *text = xasprintf("%s: %s", what, err->message);

	json_object_set_new(played, "problem", json_text(text));
	return false;
}

static bool trial_play_solution(struct attempt *a, const struct task *task, json_t *played)
{
	const double *baseline, *solution;

	if (trial_play_episode(a, task, task->solution, task->n_solution, task->solution_command) <
			0)
		return trial_failed(played, "the solution", &a->err);
	trial_add_scores(played, "solution", a->step.score, a->step.n_score);
	baseline = trial_find_metric(a->step.baseline, a->step.n_baseline, task->metric);
	solution = trial_find_metric(a->step.score, a->step.n_score, task->metric);
	if (baseline && solution && score_compare(*solution, *baseline, task->maximize) > 0)
		return true;
	json_object_set_new(played, "problem",
			json_text("the solution is no better than the baseline"));
	return false;
}

/* Appends "0.15% ", with two digits that count and without an exponent. */
static void trial_add_percent(struct buf *out, double percent)
{
	int zeros = percent < 10 ? (int)-floor(log10(percent)) : -1; /* after the point */

	buf_printf(out, "%.*f%% ", zeros + 1, percent);
}

/* Adds "0.15% better than published" to `played`, by the task's metric. */
static void trial_compare_with_published(struct attempt *a, const struct task *task, json_t *played)
{
	static const char *const words[] = { "worse than", "equal to", "better than" };
	const double *now = trial_find_metric(a->step.score, a->step.n_score, task->metric);
	const double *then = trial_find_metric(task->published, task->n_published, task->metric);
	auto_buf struct buf text = BUF_INIT(512); /* a double has up to 309 digits */
	int better;

	if (!now || !then)
		return;
	better = score_compare(*now, *then, task->maximize);
	if (better && *then != 0)
		trial_add_percent(&text, 100 * fabs((*now - *then) / *then));
	buf_printf(&text, "%s published", words[better + 1]);
	json_object_set_new(played, "compared", json_text(buf_str(&text)));
}

/* Plays the program of a published baseline: the published score is from another machine. */
static bool trial_play_published(struct attempt *a, const struct task *task, json_t *played)
{
	trial_add_scores(played, "published", task->published, task->n_published);
	if (!task->baseline_command) {
		json_object_set_new(played, "note",
				json_text("the baseline is not played: no 'baseline_paths' name "
					  "its program"));
		return true;
	}
	if (trial_play_episode(a, task, NULL, 0, task->baseline_command) < 0)
		return trial_failed(played, "the baseline", &a->err);
	trial_add_scores(played, "baseline", a->step.score, a->step.n_score);
	trial_compare_with_published(a, task, played);
	return true;
}

static struct fh_env_options trial_options_of(const struct task *task, const char *python)
{
	return (struct fh_env_options){
		.task = task->mlgym ? task->file : task->dir,
		.data_seed = task->data_seed,
		.variant = task->variant,
		.max_steps = STEPS,
		.python = python,
	};
}

static bool trial_play_task(
		struct fh_gym *gym, const struct task *task, const char *python, json_t *played)
{
	struct fh_env_options options = trial_options_of(task, python);
	struct attempt a = { .err = FH_ERROR_INIT };
	struct fh_env_info info;
	bool ok = true;

	if (fh_env_open(gym, &options, &a.env, &a.err) < 0)
		return trial_failed(played, "the baseline", &a.err);
	fh_env_info(a.env, &info);
	json_object_set_new(played, "metric", json_text(task->metric));
	if (fh_env_warning(a.env))
		json_object_set_new(played, "note", json_text(fh_env_warning(a.env)));
	/* fh_env_open() played the baseline already, unless the task publishes its score. */
	if (!task->baseline_command || task->baseline_is_published)
		ok = trial_play_published(&a, task, played);
	else
		trial_add_scores(played, "baseline", info.baseline, info.n_baseline);
	if (ok && task->solution_command)
		ok = trial_play_solution(&a, task, played);
	fh_env_close(a.env);
	return ok;
}

static int trial_open_gym(
		const struct task_places *places, struct fh_gym **out, struct fh_error *err)
{
	struct fh_gym_options options = { .tasks_dir = places->tasks_dir,
		.mlgym_root = places->mlgym_root,
		.state_dir = places->state_dir };

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
		return; /* task_check() reports why the task can't be loaded */
	options = trial_options_of(task, trial->python);
	r = task->mlgym ? trial_open_gym(trial->places, &gym, &err) : 0;
	if (gym)
		r = env_check_imports(gym, &options, &warning, &err);
	if (r < 0)
		/* With this machine's Python a missing module is a remark, and no fault of the
		 * task. */
		task_check_remark(check, trial->python != NULL, "%s", err.message);
	else if (warning)
		task_check_remark(check, false, "%s", warning);
	fh_gym_close(gym);
	task_free(task);
}

int trial_play(const struct trial *trial, json_t *played, struct fh_error *err)
{
	struct fh_gym *gym = NULL;
	struct task *task = NULL;
	bool ok;
	int r = task_load(trial->places, trial->spec, NULL, &task, err);

	if (r < 0)
		return r;
	r = trial_open_gym(trial->places, &gym, err);
	if (r < 0) {
		task_free(task);
		return r;
	}
	ok = trial_play_task(gym, task, trial->python, played);
	fh_gym_close(gym);
	task_free(task);
	return ok;
}
