/* SPDX-License-Identifier: Apache-2.0 */
#include "task/config.h"

#define AT(config, f) offsetof(struct config##_config, f)

/* --- task.yaml -------------------------------------------------------------------------------- */

static const char *const directions[] = {
	[METRIC_MAXIMIZE] = "maximize", [METRIC_MINIMIZE] = "minimize", NULL
};

static const struct field metric_fields[] = {
	{ "name", FIELD_TEXT, AT(metric, name),
			"name of the metric, exactly as the grader gives it", .required = true },
	{ "direction", FIELD_CHOICE, AT(metric, direction), "whether more or less is better",
			.required = true, .choices = directions },
	{},
};

static const struct schema metric_schema = {
	.name = "metric",
	.help = "The metric that decides. A grader may give more metrics.",
	.size = sizeof(struct metric_config),
	.fields = metric_fields,
};

const char *const grader_kinds[] = { OWN_GRADER_KINDS, [GRADER_MLGYM] = "mlgym", NULL };

const char *const csv_metrics[] = { "accuracy", "f1", "rmse", "r2", "mae", "log_loss", "auc",
	"bleu", NULL };

static const struct field grader_fields[] = {
	{ "kind", FIELD_CHOICE, AT(grader, kind),
			"how submissions are scored: [graders.md](graders.md)", .required = true,
			.choices = grader_kinds },
	{ "submission", FIELD_TEXT, AT(grader, submission), "file of the workspace to score",
			.required = true },
	{ "submission_size", FIELD_BYTES, AT(grader, submission_bytes),
			"limit of its size; a larger file is refused", .preset = "64M", .min = 1,
			.max = 1L << 40 },
	{ "timeout", FIELD_DURATION, AT(grader, timeout_ms), "timeout of one scoring",
			.preset = "60s", .min = 100, .max = 86400e3 },
	{ "validations", FIELD_INT, AT(grader, validations),
			"how often an episode may `validate`; 0: no limit. Files that are refused for "
			"their form don't count: [graders.md](graders.md)",
			.preset = "0", .max = 1000000 },
	{ "final", FIELD_BOOL, AT(grader, final),
			"whether the end of an episode is scored by other hidden answers than its "
			"validates: [Final scores](#final-scores)",
			.preset = "false" },
	{ "answers", FIELD_TEXT, AT(grader, answers), "`csv`: the hidden file of answers",
			.takes = "path" },
	{ "id", FIELD_TEXT, AT(grader, id),
			"`csv`: column that identifies a row; without it, rows match by their order" },
	{ "target", FIELD_TEXT, AT(grader, target), "`csv`: column to score" },
	{ "metric", FIELD_CHOICE, AT(grader, csv_metric), "`csv`: metric to compute",
			.choices = csv_metrics },
	{ "range", FIELD_TEXTS, AT(grader, range),
			"`csv`: smallest and largest prediction; others are refused. Metrics of labels "
			"want whole numbers then: the classes",
			.takes = "`[least, most]`" },
	{ "program", FIELD_TEXT, AT(grader, program),
			"`script`, `duel`: Python program that judges", .takes = "path" },
	{ "args", FIELD_TEXTS, AT(grader, args), "`script`, `duel`: arguments of the program" },
	{ "functions", FIELD_TEXTS, AT(grader, functions),
			"`duel`: functions of the submission that the judge may call" },
	{ "player", FIELD_TEXT, AT(grader, player),
			"`duel`: program that runs the submission, instead of the built-in one, "
			"which it can import as `player`",
			.takes = "path" },
	{ "players", FIELD_INT, AT(grader, players),
			"`duel`: how many players run the submission, one after the other: "
			"[Two players](graders.md#two-players)",
			.preset = "1", .min = 1, .max = GRADER_PLAYERS_MAX },
	{ "shared_memory", FIELD_BYTES, AT(grader, shared_bytes),
			"`duel`: size of the memory that the judge shares with each player: "
			"[Shared memory](graders.md#shared-memory); 0: none",
			.preset = "0", .max = GRADER_SHARED_MAX },
	{ "cpu_metric", FIELD_TEXT, AT(grader, cpu_metric),
			"`duel`: metric to which the CPU time of the players is added, in seconds" },
	{},
};

static const struct schema grader_schema = {
	.name = "grader",
	.help = "How submissions are scored. `csv` needs `answers`, `id`, `target` and `metric`; `script` needs "
		"`program`; `duel` needs `program`, and `functions` or `player`. `mlgym` is for tasks of a "
		"checkout of MLGym.",
	.size = sizeof(struct grader_config),
	.fields = grader_fields,
};

static const struct field solution_fields[] = {
	{ "files", FIELD_TEXTS, AT(solution, files), "files to put into the workspace",
			.takes = "list of paths" },
	{ "command", FIELD_TEXT, AT(solution, command),
			"shell command that makes the submission from the files; `\"true\"` if they are the submission",
			.required = true },
	{},
};

static const struct schema solution_schema = {
	.name = "solution",
	.help = "A known good answer, which `fumehood task check --run` plays. No agent sees it.",
	.size = sizeof(struct solution_config),
	.fields = solution_fields,
};

static const struct field expect_fields[] = {
	{ "baseline", FIELD_TEXTS, AT(expect, baseline), "score of the baseline",
			.takes = "`[mean, sd]`" },
	{ "solution", FIELD_TEXTS, AT(expect, solution), "score of the solution",
			.takes = "`[mean, sd]`" },
	{},
};

static const struct schema expect_schema = {
	.name = "expect",
	.help = "Scores by `metric`, each a mean and a standard deviation, with which `fumehood task check --run` "
		"compares those that it gets.",
	.size = sizeof(struct expect_config),
	.fields = expect_fields,
};

static const char *const answers[] = { [COMPARABLE_NO] = "no", [COMPARABLE_YES] = "yes", NULL };

static const struct field published_fields[] = {
	{ "comparable", FIELD_CHOICE, AT(published, comparable),
			"whether scores of this task can be compared with published ones",
			.required = true, .choices = answers },
	{ "why", FIELD_TEXT, AT(published, why),
			"sentences for people: what is the same, what differs", .required = true },
	{},
};

static const struct schema published_schema = {
	.name = "published",
	.help = "Scores that others published for this task, such as `baseline_scores`. `fumehood task show` "
		"and the task's page show it.",
	.size = sizeof(struct published_config),
	.fields = published_fields,
};

static const char *const disks[] = { [DISK_MEMORY] = "memory", [DISK_DISK] = "disk", NULL };

static const struct field limits_fields[] = {
	{ "memory", FIELD_BYTES, AT(limits, sandbox.memory_bytes),
			"memory of all processes, and of written files if `disk_on` is `memory`; 0: no limit",
			.preset = "4G" },
	{ "pids", FIELD_INT, AT(limits, sandbox.pids),
			"number of processes and threads; 0: no limit", .preset = "512",
			.max = 1 << 22 },
	{ "cpus", FIELD_NUMBER, AT(limits, sandbox.cpus),
			"CPU time in cores, as in 1.5; 0: no limit", .preset = "0", .max = 4096 },
	{ "disk", FIELD_BYTES, AT(limits, sandbox.disk_bytes),
			"size of all written files; 0: no limit", .preset = "2G" },
	{ "files", FIELD_INT, AT(limits, sandbox.disk_files),
			"number of written files; 0: no limit", .preset = "200000",
			.max = 1 << 30 },
	{ "disk_on", FIELD_CHOICE, AT(limits, sandbox.disk_on),
			"the place of written files; those in memory count as memory",
			.preset = "memory", .choices = disks },
	{ "output", FIELD_BYTES, AT(limits, output_bytes),
			"size of a step's output; the rest is cut", .preset = "1M", .min = 1024,
			.max = 1 << 30 },
	{ "wall", FIELD_DURATION, AT(limits, wall_ms),
			"time of an episode, with the agent's thinking; 0: no limit",
			.preset = "0s", .max = 30 * 86400e3 },
	{},
};

static const struct schema limits_schema = {
	.name = "limits",
	.help = "Resources of an episode.",
	.size = sizeof(struct limits_config),
	.fields = limits_fields,
};

static const struct field sandbox_fields[] = {
	{ "bind", FIELD_TEXTS, AT(sandbox, bind),
			"paths to mount read-only at DST; SRC is a path of this machine, or of the task's folder",
			.takes = "list of `SRC[:DST]`" },
	{ "simulators", FIELD_BOOL, AT(sandbox, simulators),
			"whether the workspace, and the folder of the grader's program, have the Python module `simulators`: [simulators.md](simulators.md)",
			.preset = "false" },
	{},
};

static const struct schema sandbox_schema = {
	.name = "sandbox",
	.help = "Files of this machine that an episode sees.",
	.size = sizeof(struct sandbox_config),
	.fields = sandbox_fields,
};

const char *const network_names[] = { [NETWORK_NONE] = "none", [NETWORK_HOST] = "host", NULL };

static const struct field task_fields[] = {
	{ "id", FIELD_TEXT, AT(task, id), "the folder's name" },
	{ "aliases", FIELD_TEXTS, AT(task, aliases),
			"other names by which the task is found; lists and records have the id",
			.takes = "list of ids" },
	{ "name", FIELD_TEXT, AT(task, name), "name for people", .required = true },
	{ "description", FIELD_TEXT, AT(task, description),
			"text for the agent; `{dataset_docs}` and `{training_timeout}` (seconds) are filled in",
			.required = true },
	{ "metric", FIELD_STRUCT, AT(task, metric), "metric that decides", .required = true,
			.schema = &metric_schema },
	{ "grader", FIELD_STRUCT, AT(task, grader), "how submissions are scored", .required = true,
			.schema = &grader_schema },
	{ "starter_code", FIELD_TEXTS, AT(task, starter_code),
			"files of the workspace at the start", .takes = "list of paths" },
	{ "dataset_configs", FIELD_TEXTS, AT(task, dataset_configs),
			"data sets to put into the workspace's `data/`; MLGym's form `datasets/ID.yaml` works too",
			.takes = "list of ids" },
	{ "sample_submission", FIELD_TEXT, AT(task, sample_submission),
			"another file for the workspace", .takes = "path" },
	{ "baseline", FIELD_TEXT, AT(task, baseline),
			"shell command that makes the baseline's submission in a fresh episode. Default: `python3` with the first of `baseline_paths`" },
	{ "baseline_paths", FIELD_TEXTS, AT(task, baseline_paths),
			"Python program of the workspace that makes the baseline's submission" },
	{ "baseline_files", FIELD_TEXTS, AT(task, baseline_files),
			"files that the baseline has in its workspace, and no agent gets",
			.takes = "list of paths" },
	{ "packages", FIELD_TEXTS, AT(task, packages),
			"Python packages that baseline and solution need, by their names on PyPI. If a package is missing, a run warns, and `task check --run --all` leaves the variant out" },
	{ "baseline_scores", FIELD_NODE, AT(task, baseline_scores),
			"published scores: numbers by metric (MLGym: a list of such mappings); they are the baseline if there is no command",
			.takes = "mapping" },
	{ "published", FIELD_STRUCT, AT(task, published),
			"whether scores can be compared with published ones",
			.schema = &published_schema },
	{ "solution", FIELD_STRUCT, AT(task, solution), "known good answer",
			.schema = &solution_schema },
	{ "expect", FIELD_STRUCT, AT(task, expect), "stated scores", .schema = &expect_schema },
	{ "demo", FIELD_TEXT, AT(task, demo), "recorded actions, one JSON string per line",
			.takes = "path" },
	{ "training_timeout", FIELD_DURATION, AT(task, training_timeout_ms),
			"timeout of a command that trains (runs Python)", .preset = "1h",
			.min = 100, .max = 30 * 86400e3 },
	{ "short_timeout", FIELD_DURATION, AT(task, short_timeout_ms),
			"timeout of any other command", .preset = "25s", .min = 100,
			.max = 86400e3 },
	{ "max_steps", FIELD_INT, AT(task, max_steps), "steps of an episode", .preset = "50",
			.min = 1, .max = 1000000 },
	{ "limits", FIELD_STRUCT, AT(task, limits), "resources of an episode",
			.schema = &limits_schema },
	{ "network", FIELD_CHOICE, AT(task, network), "network of an episode", .preset = "none",
			.choices = network_names },
	{ "sandbox", FIELD_STRUCT, AT(task, sandbox), "files of this machine that an episode sees",
			.schema = &sandbox_schema },
	{ "hidden", FIELD_TEXTS, AT(task, hidden),
			"files for the grader's program alone, beside it",
			.takes = "list of paths" },
	{ "secret_files", FIELD_TEXTS, AT(task, secret_files),
			"more of `hidden`, under MLGym's name", .takes = "list of paths" },
	{ "variants", FIELD_NODE, AT(task, variants),
			"variants by name, each with keys that replace the task's",
			.takes = "mapping" },
	{ "default_variant", FIELD_TEXT, AT(task, default_variant),
			"variant to play when none is named" },
	{ "benchmark_name", FIELD_TEXT, AT(task, benchmark_name), "label for people" },
	{ "task_entrypoint", FIELD_TEXT, AT(task, task_entrypoint),
			"for a checkout of MLGym ([mlgym.md](mlgym.md)); no effect elsewhere: see `grader`" },
	{ "evaluation_paths", FIELD_TEXTS, AT(task, evaluation_paths), "as `task_entrypoint`" },
	{ "evaluation_read_only", FIELD_BOOL, AT(task, evaluation_read_only),
			"as `task_entrypoint`" },
	{ "memory_path", FIELD_TEXT, AT(task, memory_path),
			"file for the agent's memory with `run --memory-enabled`. It need not exist. Links must not lead out of the task's folder",
			.takes = "path" },
	{ "requirements_path", FIELD_TEXT, AT(task, requirements_path),
			"for a checkout of MLGym: warns of packages that this machine lacks ([mlgym.md](mlgym.md))" },
	{ "use_generic_conda", FIELD_BOOL, AT(task, use_generic_conda),
			"for a checkout of MLGym; `true` ignores `requirements_path`",
			.preset = "true" },
	{},
};

const struct schema task_schema = {
	.name = "task",
	.help = "`tasks/<id>/task.yaml`.",
	.size = sizeof(struct task_config),
	.fields = task_fields,
};

const char *const task_keys_without_effect[] = { "task_entrypoint", "evaluation_paths",
	"evaluation_read_only", "requirements_path", "use_generic_conda", NULL };

/* --- the file datasets/<id>.yaml -------------------------------------------------------------- */

static const struct field file_fields[] = {
	{ "path", FIELD_TEXT, AT(data_file, path), "path in the data set's folder",
			.required = true },
	{ "target", FIELD_TEXT, AT(data_file, target),
			"path in the workspace's `data/`; default: `path`" },
	{ "sha256", FIELD_TEXT, AT(data_file, sha256),
			"hash of a file, compared by `fumehood task check` and `fumehood data verify`" },
	{ "hidden", FIELD_BOOL, AT(data_file, hidden), "keeps the file out of the workspace",
			.preset = "false" },
	{},
};

static const struct schema file_schema = {
	.name = "file",
	.help = "A file or folder of a data set.",
	.size = sizeof(struct data_file_config),
	.fields = file_fields,
};

static const struct field make_fields[] = {
	{ "program", FIELD_TEXT, AT(make, program),
			"Python program, relative to the folder that holds `datasets`",
			.required = true, .takes = "path" },
	{ "modules", FIELD_TEXTS, AT(make, modules), "Python modules that it imports, likewise",
			.takes = "list of paths" },
	{ "args", FIELD_TEXTS, AT(make, args), "arguments of the program" },
	{ "timeout", FIELD_DURATION, AT(make, timeout_ms), "timeout of the program", .preset = "5m",
			.min = 100, .max = 86400e3 },
	{},
};

static const struct schema make_schema = {
	.name = "make",
	.help = "Makes the files when the data set is first used on a machine. The program runs in a sandbox without "
		"network, with `FUMEHOOD_DATA_KEY` in its environment. Files of its folder that `files` names are kept "
		"in `<state>/data`.",
	.size = sizeof(struct make_config),
	.fields = make_fields,
};

static const struct field fetch_fields[] = {
	{ "huggingface", FIELD_TEXT, AT(fetch, huggingface),
			"repository on Hugging Face: `datasets/OWNER/NAME`, or `OWNER/NAME` of a model" },
	{ "path", FIELD_TEXT, AT(fetch, path), "file of that repository" },
	{ "revision", FIELD_TEXT, AT(fetch, revision), "branch, tag or commit of that repository",
			.preset = "main" },
	{ "url", FIELD_TEXT, AT(fetch, url), "address of the file, if it is elsewhere" },
	{ "to", FIELD_TEXT, AT(fetch, to),
			"name of the fetched file; default: the last part of `path` or `url`" },
	{ "sha256", FIELD_TEXT, AT(fetch, sha256), "hash of the file" },
	{},
};

static const struct schema fetch_schema = {
	.name = "fetch",
	.help = "A file that `fumehood data fetch` brings: [data.md](data.md). Without `huggingface` and `url` the user "
		"brings it, and it needs `to`.",
	.size = sizeof(struct fetch_config),
	.fields = fetch_fields,
};

static const struct field layout_fields[] = {
	{ "program", FIELD_TEXT, AT(layout, make.program),
			"Python program, relative to the folder that holds `datasets`",
			.required = true, .takes = "path" },
	{ "modules", FIELD_TEXTS, AT(layout, make.modules),
			"Python modules that it imports, likewise", .takes = "list of paths" },
	{ "args", FIELD_TEXTS, AT(layout, make.args),
			"arguments of the program; fetched files are in `/fetched`" },
	{ "packages", FIELD_TEXTS, AT(layout, packages),
			"Python packages that it needs, by their names on PyPI" },
	{ "timeout", FIELD_DURATION, AT(layout, make.timeout_ms), "timeout of the program",
			.preset = "1h", .min = 100, .max = 86400e3 },
	{},
};

static const struct schema layout_schema = {
	.name = "layout",
	.help = "Makes `files` from fetched files. The program runs as that of [make](#make) does, without a key.",
	.size = sizeof(struct layout_config),
	.fields = layout_fields,
};

static const struct field dataset_fields[] = {
	{ "id", FIELD_TEXT, AT(dataset, id), "the file's name without `.yaml`" },
	{ "name", FIELD_TEXT, AT(dataset, name), "name for people", .required = true },
	{ "description", FIELD_TEXT, AT(dataset, description),
			"text for the agent, in place of `{dataset_docs}`", .required = true },
	{ "files", FIELD_STRUCTS, AT(dataset, files), "files of the data set", .required = true,
			.schema = &file_schema },
	{ "location", FIELD_TEXT, AT(dataset, location),
			"folder of the files, relative to the one that holds `datasets`; default: a folder of `<state>/data`" },
	{ "make", FIELD_STRUCT, AT(dataset, make),
			"program that makes the files, instead of a `location`",
			.schema = &make_schema },
	{ "fetch", FIELD_STRUCTS, AT(dataset, fetch), "files that `fumehood data fetch` brings",
			.schema = &fetch_schema },
	{ "layout", FIELD_STRUCT, AT(dataset, layout),
			"program that makes the files from fetched ones",
			.schema = &layout_schema },
	{ "how_to_get", FIELD_TEXT, AT(dataset, how_to_get),
			"sentence for users who lack the files; `{home}` is the folder that holds `datasets`, `{fetched}` the one of fetched files" },
	{},
};

const struct schema dataset_schema = {
	.name = "dataset",
	.help = "`datasets/<id>.yaml`, beside `tasks` or in the task's own folder.",
	.size = sizeof(struct dataset_config),
	.fields = dataset_fields,
};
