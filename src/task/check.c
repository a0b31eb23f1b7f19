/* SPDX-License-Identifier: Apache-2.0 */
#include "task/check.h"

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/node.h"
#include "sandbox/sandbox.h"
#include "task/config.h"
#include "task/dataset.h"
#include "task/load.h"
#include "task/requirements.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEMO_BYTES_MAX (4 * 1024 * 1024)
#define REQUIREMENTS_BYTES_MAX 65536

/* Adds a remark to the results of a task's check. If an equal remark is there, because it applies
 * to several variants, adds none. An equal note then becomes a problem if `problem` is true. */
void task_check_remark(struct task_check *check, bool problem, const char *format, ...)
{
	char text[FH_ERROR_MESSAGE_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	for (size_t i = 0; i < check->n; i++) {
		struct task_remark *remark = &check->remarks[i];

		if (!str_eq(remark->text, text))
			continue;
		check->n_problems += problem && !remark->problem;
		remark->problem = remark->problem || problem;
		return;
	}
	check->n_problems += problem;
	if (check->n < TASK_REMARKS_MAX)
		check->remarks[check->n++] = (struct task_remark){
			.problem = problem,
			.text = arena_strdup(&check->arena, text),
		};
}

#define problem(check, ...) task_check_remark(check, true, __VA_ARGS__)
#define note(check, ...) task_check_remark(check, false, __VA_ARGS__)

/* Adds a problem to the results of a task's check. The text names the line of a key in
 * task.yaml. */
static __attribute__((format(printf, 4, 5))) void check_problem_at(struct task_check *check,
		const struct task *task, const char *key, const char *format, ...)
{
	char text[FH_ERROR_MESSAGE_MAX];
	struct fh_error err;
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	node_complain(node_path(task->keys, key), &err, "%s", text);
	problem(check, "%s", err.message);
}

/* --- data ------------------------------------------------------------------------------------- */

static void check_data(struct task_check *check, const struct task *task)
{
	const struct node *description = node_get(task->keys, "description");

	for (size_t i = 0; i < task->n_datasets; i++) {
		struct fh_error err;

		if (dataset_verify(&task->datasets[i], &err) < 0)
			problem(check, "%s", err.message);
		if (!dataset_is_there(&task->datasets[i]))
			note(check,
					"data set '%s' is not looked at: it is made when the task is "
					"first played",
					task->datasets[i].id);
	}
	if (task->n_data && !strstr(description->text, "{dataset_docs}"))
		note(check, "the description has no {dataset_docs}: the agent is not told of its data");
}

/* --- secrets ---------------------------------------------------------------------------------- */

static void check_secret(struct task_check *check, const struct task *task, const char *secret)
{
	if (!secret)
		return;
	for (size_t i = 0; i < task->n_starter; i++)
		if (path_is_within(secret, task->starter[i].source))
			problem(check, "the agent would see %s, by starter_code", secret);
	for (size_t i = 0; i < task->n_data; i++)
		if (path_is_within(secret, task->data[i].source))
			problem(check, "the agent would see %s, by a data set (hidden: true keeps it)",
					secret);
}

static void check_secrets(struct task_check *check, const struct task *task)
{
	struct fh_error err;

	check_secret(check, task, task->grader.answers);
	if (task->grader.kind == GRADER_MLGYM)
		note(check, "the agent sees what scores it, as in MLGym");
	else
		check_secret(check, task, task->grader.program);
	for (size_t i = 0; i < task->n_hidden; i++)
		check_secret(check, task, task->hidden[i].source);
	for (size_t i = 0; i < task->n_solution; i++)
		check_secret(check, task, task->solution[i].source);
	for (size_t i = 0; i < task->n_baseline_files; i++)
		check_secret(check, task, task->baseline_files[i].source);
	/*
	 * Check that the task's folder can be hidden from agents, if it lies beneath a path that
	 * they see.
	 */
	if (sandbox_hide_check(task->dir, &err) < 0)
		problem(check, "%s", err.message);
}

/* --- the grader ------------------------------------------------------------------------------- */

/* True if the header line of a CSV file names this column, quoted or not. */
static bool check_has_column(const char *header, const char *name)
{
	size_t n = strlen(name);

	if (str_starts(header, "\xef\xbb\xbf"))
		header += 3;
	while (*header) {
		size_t length = strcspn(header, ",");
		const char *field = header + strspn(header, " \"");
		size_t width = strcspn(field, ",\"");

		while (width && field[width - 1] == ' ')
			width--;
		if (width == n && memcmp(field, name, n) == 0)
			return true;
		header += length + (header[length] == ',');
	}
	return false;
}

static void check_answers(struct task_check *check, const struct task *task)
{
	const struct task_grader *grader = &task->grader;
	const struct {
		const char *key, *name;
	} columns[] = { { "grader.id", grader->id_column },
		{ "grader.target", grader->target_column } };
	auto_close int fd = -1;
	char header[65536] = "", *rows;
	ssize_t n = 0;

	for (size_t i = 0; i < task->n_datasets; i++)
		if (!dataset_is_there(&task->datasets[i]))
			return;
	fd = fd_open_file(grader->answers, NULL);
	if (fd >= 0)
		n = fd_read_full(fd, header, sizeof(header) - 1);
	rows = header + strcspn(header, "\r\n");
	if (n <= 0)
		check_problem_at(check, task, "grader.answers", "%s can't be read, or is empty",
				grader->answers);
	else if (n < (ssize_t)sizeof(header) - 1 && !rows[strspn(rows, "\r\n")])
		check_problem_at(check, task, "grader.answers", "%s has no row after its header",
				grader->answers);
	*rows = '\0';
	for (size_t i = 0; *header && i < ARRAY_SIZE(columns); i++)
		if (columns[i].name && !check_has_column(header, columns[i].name))
			check_problem_at(check, task, columns[i].key, "%s has no column '%s'",
					grader->answers, columns[i].name);
}

static void check_grader(struct task_check *check, const struct task *task)
{
	const char *metric = task->grader.csv_metric;

	if (task->grader.kind != GRADER_CSV)
		return;
	check_answers(check, task);
	if (strcasecmp(metric, task->metric) != 0 &&
			!(str_eq(metric, "r2") && strcasecmp(task->metric, "rmse") == 0))
		check_problem_at(check, task, "metric.name",
				"the grader gives the metric '%s', but the task's metric is '%s'",
				metric, task->metric);
}

/* --- the rest --------------------------------------------------------------------------------- */

static bool check_has_file(
		const struct task_file *files, size_t n_files, const char *name, size_t n)
{
	for (size_t i = 0; i < n_files; i++)
		if (strlen(files[i].target) == n && strncmp(files[i].target, name, n) == 0)
			return true;
	return false;
}

/* Reports that the program of the baseline is missing in the workspace. */
static void check_baseline(struct task_check *check, const struct task *task)
{
	const char *path = task->baseline_command;
	size_t n;

	if (node_get(task->keys, "baseline") || !path)
		return;
	path += strlen("python3 ");
	n = strcspn(path, "/");
	if (!check_has_file(task->starter, task->n_starter, path, n) &&
			!check_has_file(task->baseline_files, task->n_baseline_files, path, n))
		check_problem_at(check, task, "baseline_paths",
				"%s is in neither starter_code nor baseline_files", path);
}

static void check_demo(struct task_check *check, const struct task *task)
{
	auto_buf struct buf text = BUF_INIT(DEMO_BYTES_MAX);
	struct fh_error err;
	const char *line;

	if (!task->demo)
		return;
	if (fd_read_file(task->demo, &text, &err) < 0) {
		problem(check, "%s", err.message);
		return;
	}
	line = buf_str(&text);
	for (int number = 1; *line; number++) {
		size_t n = strcspn(line, "\n");
		auto_json json_t *action = NULL;

		if (json_parse("demo", line, n, &action, NULL) < 0 || !json_is_string(action))
			problem(check, "%s:%d: expected a JSON string", task->demo, number);
		line += n + (line[n] == '\n');
	}
}

static void check_requirements(struct task_check *check, const struct task *task)
{
	auto_buf struct buf missing = BUF_INIT(REQUIREMENTS_BYTES_MAX);
	const char *python = check->python ? check->python : "this machine's Python";
	struct fh_error err;

	if (requirements_missing(task, check->python, &missing, &err) < 0)
		problem(check, "%s", err.message);
	else if (missing.len && node_get(task->keys, "variants"))
		note(check, "%s lacks %s, for the variant %s", python, buf_str(&missing),
				task_variant_name(task->variant));
	else if (missing.len)
		note(check, "%s lacks %s", python, buf_str(&missing));
}

static void check_keys(struct task_check *check, const struct task *task)
{
	auto_free char *readme = path_join(task->dir, "README.md");

	for (size_t i = 0; i < task->n_warnings; i++)
		note(check, "%s", task->warnings[i]);
	if (task->mlgym)
		return;
	for (const char *const *key = task_keys_without_effect; *key; key++)
		if (node_get(task->keys, *key))
			note(check, "'%s' has no effect here", *key);
	if (!task->solution_command)
		note(check, "no solution: nothing shows that the task can be done");
	if (!path_exists(readme))
		note(check, "no README.md");
}

static void (*const checks[])(struct task_check *check, const struct task *task) = {
	check_data,
	check_secrets,
	check_grader,
	check_baseline,
	check_demo,
	check_requirements,
	check_keys,
};

/* Adds the error with which loading a task failed to the results of the task's check. */
static void check_refusal(struct task_check *check, const struct fh_error *err)
{
	problem(check, "%s", err->message);
	if (!check->refusal.code)
		check->refusal = *err;
}

static void check_variant(const struct task_places *places, const char *spec, const char *variant,
		bool is_played, struct task_check *check)
{
	struct task *task = NULL;
	struct fh_error err;
	int r = task_load(places, spec, variant, &task, &err);

	if (r == -ENODATA)
		task_check_remark(check, is_played, "not checked, since data is missing: %s",
				err.message);
	else if (r < 0)
		check_refusal(check, &err);
	if (r < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		checks[i](check, task);
	task_free(task);
}

/*
 * Finds the name of the variant that `fumehood run` would play. NULL: there is none, and the error
 * is added to the remarks.
 */
static const char *check_find_played(const struct task_places *places, const char *spec,
		const char *variant, struct task_check *check)
{
	struct task *task;
	struct fh_error err;
	const char *name;

	if (task_read(places, spec, variant, &task, &err) < 0) {
		check_refusal(check, &err);
		return NULL;
	}
	name = arena_strdup(&check->arena, task_variant_name(task->variant));
	task_free(task);
	return name;
}

static void check_variants(const struct task_places *places, const struct task_found *found,
		char *const *variants, struct task_check *check)
{
	const char *spec = found->mlgym ? found->file : found->dir;
	const char *played = check_find_played(places, spec, found->variant, check);
	/*
	 * Use the data seed only for the variant that is played: others may have no generated data.
	 */
	struct task_places others = *places;

	others.data_seed = 0;
	for (char *const *variant = variants; *variant; variant++)
		check_variant(str_eq(played, *variant) ? places : &others, spec, *variant,
				str_eq(played, *variant), check);
}

int task_check(const struct task_places *places, const char *spec, const char *python,
		struct task_check *out, struct fh_error *err)
{
	struct task_found found;
	struct fh_error why;
	char **variants;
	int r;

	*out = (struct task_check){ .python = python };
	r = task_find(places, spec, &found, err);
	if (r < 0)
		return r;
	if (found.warning)
		note(out, "%s", found.warning);
	if (task_variants(places, found.mlgym ? found.file : found.dir, &variants, &why) < 0) {
		check_refusal(out, &why);
	} else {
		check_variants(places, &found, variants, out);
		xfree_strings(variants);
	}
	task_found_release(&found);
	return 0;
}

void task_check_release(struct task_check *check)
{
	arena_release(&check->arena);
}
