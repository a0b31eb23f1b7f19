/* SPDX-License-Identifier: Apache-2.0 */
#include "task/mlgym.h"

#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/yaml.h"
#include "task/find.h"
#include "task/load_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PYTHON "/usr/bin/python3"

/* Most bytes of hints about missing files, so that they fit into an error message. */
#define MLGYM_MISSING_BYTES_MAX 800

#define SHORT_TIMEOUT_MS 25000
#define LONG_TIMEOUT_MS 3600000

/* Names of MLGym's task classes, indexed by enum mlgym_call; NULL-terminated. */
static const char *const mlgym_entrypoints[] = {
	[MLGYM_CSV] = "CSVSubmissionTasks",
	[MLGYM_PYTHON] = "PythonSubmissionTasks",
	[MLGYM_MODEL] = "ModelSubmissionTasks",
	[MLGYM_LM] = "LMSubmissionTasks",
	NULL,
};

const char *const mlgym_call_names[] = {
	[MLGYM_CSV] = "csv",
	[MLGYM_PYTHON] = "python",
	[MLGYM_MODEL] = "model",
	[MLGYM_LM] = "lm",
};

/* --- defaults --------------------------------------------------------------------------------- */

/* Returns the name of the metric that compares scores of an MLGym task. It is r2 if the published
 * scores have it, as in MLGym's tables, else the first metric. */
static const char *mlgym_metric_of(const struct node *root)
{
	const struct node *scores = node_get(root, "baseline_scores");

	if (scores && scores->kind == NODE_LIST && scores->n)
		scores = scores->items[0];
	if (!scores || scores->kind != NODE_MAP || !scores->n)
		return NULL;
	return node_get(scores, "r2") ? "r2" : scores->pairs[0].key->text;
}

static bool mlgym_less_is_better(const char *metric)
{
	static const char *const names[] = { "time", "loss", "val_loss", "test_loss", "rmse", "mse",
		"mae", "perplexity", "error" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcasecmp(metric, names[i]) == 0)
			return true;
	return false;
}

int mlgym_complete(struct task_loading *l)
{
	const struct node *name = node_get(node_get(l->root, "metric"), "name"), *base = NULL;
	const char *metric = name ? name->text : mlgym_metric_of(l->root);
	auto_buf struct buf yaml = BUF_INIT(4096);
	int r;

	if (l->root->kind != NODE_MAP)
		return node_complain(l->root, l->err, "expected a mapping with the keys of a task");
	if (!metric)
		return node_complain(l->root, l->err,
				"the task names no metric: add baseline_scores, or a key such as "
				"metric: {name: accuracy}");
	buf_add_str(&yaml,
			"network: host\ngrader: {kind: mlgym, submission: submission.csv}\n"
			"metric:\n  name: ");
	node_print_text(&yaml, metric, 4);
	buf_printf(&yaml, "\n  direction: %s\n",
			mlgym_less_is_better(metric) ? "minimize" : "maximize");
	r = yaml_parse(&l->task->arena, "MLGym's own", buf_str(&yaml), yaml.len, &base, l->err);
	if (r < 0)
		return r;
	l->root = node_overlay(&l->task->arena, base, l->root);
	return 0;
}

/* Reads a task's timeout from an environment variable. MLGym's code and its README name two
 * different variables; the code's comes first. */
static int64_t mlgym_timeout_of(const char *code, const char *readme, int64_t otherwise_ms)
{
	const char *text = getenv(code);
	int64_t ms;

	if (!text)
		text = getenv(readme);
	return text && str_to_ms(text, &ms) && ms >= 100 ? ms : otherwise_ms;
}

int mlgym_load_plain(struct task_loading *l)
{
	const struct node *given_short = node_get(l->root, "short_timeout");
	const struct node *given_long = node_get(l->root, "training_timeout");
	struct task *task = l->task;

	if (!l->config.id)
		return node_complain(l->root, l->err, "'id' is missing");
	if (!task_name_is_valid(l->config.id))
		return node_complain(task_at(l, "id"), l->err, "'id' can't be the name of a task");
	task->id = l->config.id;
	task->mlgym = true;
	if (l->config.requirements_path && !l->config.use_generic_conda) {
		if (!path_stays_inside(l->config.requirements_path))
			return node_complain(task_at(l, "requirements_path"), l->err,
					"'%s' leads out of the checkout",
					l->config.requirements_path);
		task->requirements = arena_printf(
				&task->arena, "%s/%s", task->dir, l->config.requirements_path);
	}
	if (!given_short || node_is_null(given_short))
		task->short_timeout_ms = mlgym_timeout_of("MLGYM_AGENT_SHORT_TIMEOUT",
				"MLGYM_ACTION_SHORT_TIMEOUT", SHORT_TIMEOUT_MS);
	if (!given_long || node_is_null(given_long))
		task->training_timeout_ms = mlgym_timeout_of("MLGYM_AGENT_LONG_TIMEOUT",
				"MLGYM_ACTION_LONG_TIMEOUT", LONG_TIMEOUT_MS);
	return 0;
}

/* --- data sets -------------------------------------------------------------------------------- */

#define FIELD(f) offsetof(struct mlgym_dataset, f)
struct mlgym_dataset {
	const char *name, *description, *data_path;
	bool is_local;
	const struct node *train_split, *valid_split,
			/* keys of MLGym's task files that have no effect in MLGym either */
			*test_split;
};

static const struct field dataset_fields[] = {
	{ "name", FIELD_TEXT, FIELD(name), .required = true },
	{ "description", FIELD_TEXT, FIELD(description), .required = true },
	{ "data_path", FIELD_TEXT, FIELD(data_path), .required = true },
	{ "is_local", FIELD_BOOL, FIELD(is_local) },
	{ "train_split", FIELD_NODE, FIELD(train_split) },
	{ "valid_split", FIELD_NODE, FIELD(valid_split) },
	{ "test_split", FIELD_NODE, FIELD(test_split) },
	{},
};
#undef FIELD

static const struct schema mlgym_dataset_schema = {
	.name = "dataset",
	.size = sizeof(struct mlgym_dataset),
	.fields = dataset_fields,
};

/* Adds the files of an MLGym task's local data set to the workspace's data folder. */
static int mlgym_add_local(struct task_loading *l, const struct mlgym_dataset *config,
		const char *dir, struct task_files *files)
{
	const char *path = arena_printf(&l->task->arena, "%s/", config->data_path);
	const struct node *at = task_at(l, "dataset_configs");
	const struct node list = { .kind = NODE_LIST, .items = &at, .n = 1 };
	auto_buf struct buf told = BUF_INIT(MLGYM_MISSING_BYTES_MAX);
	int r;

	if (!path_is_dir(dir)) {
		if (l->missing_ok)
			return 0;
		mlgym_say_missing(l, config->data_path, &told);
		return error_say(l->err, ENODATA,
				"data set '%s' lacks its files: there is no folder %s%s",
				config->name, dir, buf_str(&told));
	}
	r = task_files_add(&l->folder, &list, &(struct texts){ .items = &path, .n = 1 }, files,
			l->err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < files->n; i++)
		files->items[i].read_only = true;
	return 0;
}

/* Warns that the task's programs load a data set from Hugging Face, which may need a network. */
static void mlgym_warn_of_remote(struct task_loading *l, const struct mlgym_dataset *config)
{
	task_warn(l,
			arena_printf(&l->task->arena,
					"data set '%s' of %s is not in the checkout: programs of each "
					"episode load '%s' from Hugging Face into $HF_HUB_CACHE, $HF_HOME "
					"or ~/.cache/huggingface",
					config->name, l->task->id, config->data_path));
}

static int mlgym_add_dataset(
		struct task_loading *l, size_t i, struct dataset *out, struct task_files *files)
{
	const char *name = l->config.dataset_configs.items[i];
	const struct node *at = task_at(l, "dataset_configs")->items[i];
	auto_free char *configs = path_join(l->task->dir, "configs");
	auto_free char *path = path_join(configs, name);
	struct arena *arena = &l->task->arena;
	struct mlgym_dataset config;
	struct warnings warnings = { 0 };
	const struct node *root = NULL;
	int r;

	if (!path_stays_inside(name) || !path_exists(path))
		return node_complain(at, l->err, "there is no configs/%s", name);
	r = yaml_load(arena, arena_strdup(arena, path), &root, l->err);
	if (r < 0)
		return r;
	r = schema_read(arena, &mlgym_dataset_schema, root, &warnings, &config, l->err);
	if (r < 0)
		return r;
	task_warn_all(l, &warnings);
	*out = (struct dataset){
		.id = name,
		.name = config.name,
		.description = config.description,
		.dir = l->task->dir,
	};
	if (!config.is_local) {
		mlgym_warn_of_remote(l, &config);
		return 0;
	}
	out->dir = arena_printf(arena, "%s/%s", l->task->dir, config.data_path);
	return mlgym_add_local(l, &config, out->dir, files);
}

int mlgym_load_datasets(struct task_loading *l)
{
	struct task *task = l->task;
	size_t n = l->config.dataset_configs.n;
	struct dataset *datasets = arena_array(&task->arena, n, sizeof(*datasets));
	struct task_files files = { 0 };
	int r;

	for (size_t i = 0; i < n; i++) {
		r = mlgym_add_dataset(l, i, &datasets[i], &files);

		if (r < 0)
			return r;
	}
	r = l->missing_ok ? 0 : mlgym_check_data(l, datasets, n);
	if (r < 0)
		return r;
	task->datasets = datasets;
	task->n_datasets = n;
	task->data = files.items;
	task->n_data = files.n;
	return 0;
}

/* --- the evaluator of an MLGym task ----------------------------------------------------------- */

/* Returns the absolute path of the file in the MLGym checkout that the task copies to `path` in the
 * workspace. NULL: there is none. */
static const char *mlgym_source_of(struct task *task, const char *path)
{
	for (size_t i = 0; i < task->n_starter; i++) {
		const struct task_file *file = &task->starter[i];
		size_t n = strlen(file->target);

		if (str_eq(file->target, path))
			return file->source;
		if (strncmp(file->target, path, n) == 0 && path[n] == '/')
			return arena_printf(&task->arena, "%s%s", file->source, path + n);
	}
	return NULL;
}

static int mlgym_find_evaluators(struct task_loading *l)
{
	const struct texts *paths = &l->config.evaluation_paths;
	struct task *task = l->task;
	struct task_file *files = arena_array(&task->arena, paths->n, sizeof(*files));

	if (!paths->n)
		return node_complain(task_at(l, "evaluation_paths"), l->err,
				"'evaluation_paths' names no program that scores");
	for (size_t i = 0; i < paths->n; i++) {
		const struct node *at = task_at(l, "evaluation_paths")->items[i];

		if (!path_stays_inside(paths->items[i]))
			return node_complain(at, l->err, "'%s' is not a path in the workspace",
					paths->items[i]);
		files[i].target = paths->items[i];
		files[i].source = mlgym_source_of(task, paths->items[i]);
		if (!files[i].source || !path_exists(files[i].source))
			return node_complain(
					at, l->err, "'%s' is not in starter_code", paths->items[i]);
	}
	task->grader.evaluators = files;
	task->grader.n_evaluators = paths->n;
	task->grader.program = files[0].source;
	return 0;
}

static bool mlgym_is_evaluator(const struct task *task, const char *target)
{
	for (size_t i = 0; i < task->grader.n_evaluators; i++)
		if (str_eq(task->grader.evaluators[i].target, target))
			return true;
	return false;
}

/* Guesses which file the agent writes in a task of the class PythonSubmissionTasks. No key names
 * the file, but MLGym's tasks use a few names. */
static const char *mlgym_python_submission(struct task *task)
{
	static const char *const names[] = { "strategy.py", "heuristic.py", "submission.py" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (mlgym_source_of(task, names[i]))
			return names[i];
	for (size_t i = 0; i < task->n_starter; i++)
		if (str_ends(task->starter[i].target, ".py") &&
				!mlgym_is_evaluator(task, task->starter[i].target))
			return task->starter[i].target;
	return "target.py";
}

/* In an MLGym task of the class for Python, adds the starter's files to those of the evaluator.
 * Leaves out the file that the agent writes. */
static void mlgym_own_the_rest(struct task *task)
{
	struct task_grader *g = &task->grader;
	struct task_file *files = arena_array(
			&task->arena, g->n_evaluators + task->n_starter, sizeof(*files));
	size_t n = g->n_evaluators;

	memcpy(files, g->evaluators, n * sizeof(*files));
	for (size_t i = 0; i < task->n_starter; i++) {
		const struct task_file *file = &task->starter[i];

		if (!str_eq(file->target, g->submission) && !mlgym_is_evaluator(task, file->target))
			files[n++] = *file;
	}
	g->evaluators = files;
	g->n_evaluators = n;
}

static int mlgym_find_call(const struct task_loading *l, enum mlgym_call *out)
{
	const char *name = l->config.task_entrypoint;

	for (enum mlgym_call i = 0; mlgym_entrypoints[i]; i++) {
		if (!name || str_eq(mlgym_entrypoints[i], name)) {
			*out = i;
			return 0;
		}
	}
	return node_complain(task_at(l, "task_entrypoint"), l->err,
			"unknown class '%s'; there are: %s, %s, %s, %s", name, mlgym_entrypoints[0],
			mlgym_entrypoints[1], mlgym_entrypoints[2], mlgym_entrypoints[3]);
}

int mlgym_load_grader(struct task_loading *l)
{
	struct task *task = l->task;
	struct task_grader *g = &task->grader;
	const struct node *given = task_at(l, "grader.submission");
	int r;

	if (l->config.grader.kind != GRADER_MLGYM)
		return task_load_grader(l);
	*g = (struct task_grader){ .kind = GRADER_MLGYM,
		.submission_bytes = l->config.grader.submission_bytes,
		.submission = l->config.grader.submission,
		.validations = (int)l->config.grader.validations,
		.timeout_ms = task->training_timeout_ms };
	if (node_get(node_get(l->root, "grader"), "timeout"))
		g->timeout_ms = l->config.grader.timeout_ms;
	r = mlgym_find_call(l, &g->call);
	if (r < 0)
		return r;
	r = mlgym_find_evaluators(l);
	if (r < 0)
		return r;
	for (size_t i = 0; l->config.evaluation_read_only && i < task->n_starter; i++)
		if (mlgym_is_evaluator(task, task->starter[i].target))
			task->starter[i].read_only = true;
	if (g->call != MLGYM_CSV && str_eq(given->file, "MLGym's own"))
		g->submission = g->call == MLGYM_PYTHON ? mlgym_python_submission(task) : "";
	if (!path_stays_inside(*g->submission ? g->submission : "x"))
		return node_complain(given, l->err, "'%s' is not a path in the workspace",
				g->submission);
	if (g->call == MLGYM_PYTHON)
		mlgym_own_the_rest(task);
	return 0;
}

/* --- binds ------------------------------------------------------------------------------------ */

int mlgym_load_binds(struct task_loading *l)
{
	struct task *task = l->task;
	auto_free char *python = realpath(PYTHON, NULL);
	struct sandbox_bind *binds;
	int r = task_load_binds(l);

	if (r < 0 || !python)
		return r;
	binds = arena_array(&task->arena, task->n_binds + 1, sizeof(*binds));
	binds[0] = (struct sandbox_bind){ arena_strdup(&task->arena, python), MLGYM_CONDA_PYTHON };
	if (task->n_binds)
		memcpy(binds + 1, task->binds, task->n_binds * sizeof(*binds));
	task->binds = binds;
	task->n_binds++;
	return 0;
}

/* --- the description of an MLGym task --------------------------------------------------------- */

#define DESCRIPTION_BYTES_MAX (4 * 1024 * 1024)
#define DATASET_DOCS "{dataset_docs}"

/* Replaces {dataset_docs} in an MLGym task's description, and turns doubled braces into single
 * ones. */
void mlgym_load_description(struct task_loading *l)
{
	auto_buf struct buf out = BUF_INIT(DESCRIPTION_BYTES_MAX);
	const char *at = l->config.description;

	while (*at) {
		if (!str_starts(at, DATASET_DOCS)) {
			at += (*at == '{' || *at == '}') && at[1] == *at;
			buf_add_char(&out, *at++);
			continue;
		}
		for (size_t i = 0; i < l->task->n_datasets; i++) {
			for (const char *c = l->task->datasets[i].name; *c; c++)
				buf_add_char(&out,
						*c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A')
								       : *c);
			buf_printf(&out, ":\n%s\n\n", l->task->datasets[i].description);
		}
		at += strlen(DATASET_DOCS);
	}
	l->task->description = arena_strdup(&l->task->arena, buf_str(&out));
}
