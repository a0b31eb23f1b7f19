/* SPDX-License-Identifier: Apache-2.0 */
#include "task/config.h"

#define AT(config, f) offsetof(struct config##_config, f)

/* --- task.yaml -------------------------------------------------------------------------------- */

static const char *const directions[] = {
	[METRIC_MAXIMIZE] = "maximize", [METRIC_MINIMIZE] = "minimize", NULL
};

static const struct field metric_fields[] = {
	{ "name", FIELD_TEXT, AT(metric, name), "as the grader calls it, capitals and all",
			.required = true },
	{ "direction", FIELD_CHOICE, AT(metric, direction), "what is better", .required = true,
			.choices = directions },
	{},
};

static const struct schema metric_schema = {
	.name = "metric",
	.help = "The metric that decides; a grader may give others beside it.",
	.size = sizeof(struct metric_config),
	.fields = metric_fields,
};

const char *const grader_kinds[] = { [GRADER_CSV] = "csv",
	[GRADER_SCRIPT] = "script",
	[GRADER_DUEL] = "duel",
	[GRADER_MLGYM] = "mlgym",
	NULL };

const char *const csv_metrics[] = { "accuracy", "f1", "rmse", "r2", "mae", "log_loss", "auc",
	"bleu", NULL };

static const struct field grader_fields[] = {
	{ "kind", FIELD_CHOICE, AT(grader, kind), "how it is scored: [graders.md](graders.md)",
			.required = true, .choices = grader_kinds },
	{ "submission", FIELD_TEXT, AT(grader, submission),
			"the file of the workspace that is scored", .required = true },
	{ "submission_size", FIELD_BYTES, AT(grader, submission_bytes), "a larger one is refused",
			.preset = "64M", .min = 1, .max = 1L << 40 },
	{ "timeout", FIELD_DURATION, AT(grader, timeout_ms), "of scoring it once", .preset = "60s",
			.min = 100, .max = 86400e3 },
	{ "validations", FIELD_INT, AT(grader, validations),
			"how often an episode may `validate`; 0: as often as it likes",
			.preset = "0", .max = 1000000 },
	{ "answers", FIELD_TEXT, AT(grader, answers), "`csv`: the hidden answer file",
			.takes = "path" },
	{ "id", FIELD_TEXT, AT(grader, id), "`csv`: the column that rows are matched by" },
	{ "target", FIELD_TEXT, AT(grader, target), "`csv`: the column that is scored" },
	{ "metric", FIELD_CHOICE, AT(grader, csv_metric), "`csv`: what is worked out",
			.choices = csv_metrics },
	{ "program", FIELD_TEXT, AT(grader, program), "`script`, `duel`: the Python program",
			.takes = "path" },
	{ "args", FIELD_TEXTS, AT(grader, args), "`script`, `duel`: its arguments" },
	{ "functions", FIELD_TEXTS, AT(grader, functions),
			"`duel`: functions of the submission that the judge may ask for" },
	{ "player", FIELD_TEXT, AT(grader, player),
			"`duel`: a program to run the submission with, instead of ours",
			.takes = "path" },
	{},
};

static const struct schema grader_schema = {
	.name = "grader",
	.help = "How a submission is scored. `csv` wants `answers`, `id`, `target`, `metric`; `script` "
		"wants `program`; `duel` wants `program`, and `functions` or `player`. `mlgym` is that of "
		"tasks of a checkout of MLGym.",
	.size = sizeof(struct grader_config),
	.fields = grader_fields,
};

static const struct field solution_fields[] = {
	{ "files", FIELD_TEXTS, AT(solution, files), "what is put into the workspace",
			.takes = "list of paths" },
	{ "command", FIELD_TEXT, AT(solution, command),
			"shell command that makes the submission of them; `\"true\"` if they are it",
			.required = true },
	{},
};

static const struct schema solution_schema = {
	.name = "solution",
	.help = "A known good answer, which `fumehood task check --run` plays. No agent sees it.",
	.size = sizeof(struct solution_config),
	.fields = solution_fields,
};

static const char *const disks[] = { [DISK_MEMORY] = "memory", [DISK_DISK] = "disk", NULL };

static const struct field limits_fields[] = {
	{ "memory", FIELD_BYTES, AT(limits, sandbox.memory_bytes),
			"of all processes, and of the files "
			"where they are kept in memory; 0: no limit",
			.preset = "4G" },
	{ "pids", FIELD_INT, AT(limits, sandbox.pids), "processes and threads; 0: no limit",
			.preset = "512", .max = 1 << 22 },
	{ "cpus", FIELD_NUMBER, AT(limits, sandbox.cpus),
			"cores' worth of time, 1.5 say; 0: no limit", .preset = "0", .max = 4096 },
	{ "disk", FIELD_BYTES, AT(limits, sandbox.disk_bytes), "of what is written; 0: no limit",
			.preset = "2G" },
	{ "files", FIELD_INT, AT(limits, sandbox.disk_files), "how many; 0: no limit",
			.preset = "200000", .max = 1 << 30 },
	{ "disk_on", FIELD_CHOICE, AT(limits, sandbox.disk_on),
			"where written files are kept; in memory they count as that",
			.preset = "memory", .choices = disks },
	{ "output", FIELD_BYTES, AT(limits, output_bytes), "what is kept of a step's output",
			.preset = "1M", .min = 1024, .max = 1 << 30 },
	{ "wall", FIELD_DURATION, AT(limits, wall_ms),
			"most time of an episode, its agent's thinking included; 0: no limit",
			.preset = "0s", .max = 30 * 86400e3 },
	{},
};

static const struct schema limits_schema = {
	.name = "limits",
	.help = "What an episode may use.",
	.size = sizeof(struct limits_config),
	.fields = limits_fields,
};

static const struct field sandbox_fields[] = {
	{ "bind", FIELD_TEXTS, AT(sandbox, bind),
			"seen inside at DST, read-only; SRC is a path of this machine, or of the task's "
			"folder",
			.takes = "list of `SRC[:DST]`" },
	{},
};

static const struct schema sandbox_schema = {
	.name = "sandbox",
	.help = "What an episode is in.",
	.size = sizeof(struct sandbox_config),
	.fields = sandbox_fields,
};

const char *const network_names[] = { [NETWORK_NONE] = "none", [NETWORK_HOST] = "host", NULL };

static const struct field task_fields[] = {
	{ "id", FIELD_TEXT, AT(task, id), "the folder's name" },
	{ "name", FIELD_TEXT, AT(task, name), "for people", .required = true },
	{ "description", FIELD_TEXT, AT(task, description),
			"what the agent is told; `{dataset_docs}` and `{training_timeout}` (seconds) are filled in",
			.required = true },
	{ "metric", FIELD_STRUCT, AT(task, metric), "what decides", .required = true,
			.schema = &metric_schema },
	{ "grader", FIELD_STRUCT, AT(task, grader), "how a submission is scored", .required = true,
			.schema = &grader_schema },
	{ "starter_code", FIELD_TEXTS, AT(task, starter_code), "what the workspace holds at first",
			.takes = "list of paths" },
	{ "dataset_configs", FIELD_TEXTS, AT(task, dataset_configs),
			"data sets, which come into the workspace's `data/`; `datasets/ID.yaml`, as MLGym "
			"writes it, is taken too",
			.takes = "list of ids" },
	{ "sample_submission", FIELD_TEXT, AT(task, sample_submission),
			"one more file for the workspace", .takes = "path" },
	{ "baseline", FIELD_TEXT, AT(task, baseline),
			"shell command run in the workspace of a fresh episode, whose submission is then scored; "
			"not given: `python3` and the first of `baseline_paths`" },
	{ "baseline_paths", FIELD_TEXTS, AT(task, baseline_paths),
			"Python program of the workspace that makes the baseline's submission" },
	{ "baseline_scores", FIELD_NODE, AT(task, baseline_scores),
			"published scores, metrics with numbers (MLGym: a list of such mappings); they "
			"are the baseline where there is no command to run",
			.takes = "mapping" },
	{ "solution", FIELD_STRUCT, AT(task, solution), "a known good answer",
			.schema = &solution_schema },
	{ "demo", FIELD_TEXT, AT(task, demo), "recorded actions, a JSON string a line",
			.takes = "path" },
	{ "training_timeout", FIELD_DURATION, AT(task, training_timeout_ms),
			"longest time of a command that trains (runs Python)", .preset = "1h",
			.min = 100, .max = 30 * 86400e3 },
	{ "short_timeout", FIELD_DURATION, AT(task, short_timeout_ms),
			"longest time of any other command", .preset = "25s", .min = 100,
			.max = 86400e3 },
	{ "max_steps", FIELD_INT, AT(task, max_steps), "of an episode", .preset = "50", .min = 1,
			.max = 1000000 },
	{ "limits", FIELD_STRUCT, AT(task, limits), "what an episode may use",
			.schema = &limits_schema },
	{ "network", FIELD_CHOICE, AT(task, network), "what an episode can reach", .preset = "none",
			.choices = network_names },
	{ "sandbox", FIELD_STRUCT, AT(task, sandbox), "what an episode sees beside its own files",
			.schema = &sandbox_schema },
	{ "hidden", FIELD_TEXTS, AT(task, hidden),
			"files for the grader's program alone, beside it",
			.takes = "list of paths" },
	{ "secret_files", FIELD_TEXTS, AT(task, secret_files), "MLGym's name for more of `hidden`",
			.takes = "list of paths" },
	{ "variants", FIELD_NODE, AT(task, variants),
			"names of variants, each with the keys that it puts over those of the task",
			.takes = "mapping" },
	{ "default_variant", FIELD_TEXT, AT(task, default_variant),
			"the one that is played when none is named" },
	{ "benchmark_name", FIELD_TEXT, AT(task, benchmark_name), "a label, for people" },
	{ "task_entrypoint", FIELD_TEXT, AT(task, task_entrypoint),
			"of a checkout of MLGym: [mlgym.md](mlgym.md); else it changes nothing: see "
			"`grader`" },
	{ "evaluation_paths", FIELD_TEXTS, AT(task, evaluation_paths), "the same" },
	{ "evaluation_read_only", FIELD_BOOL, AT(task, evaluation_read_only), "the same" },
	{ "memory_path", FIELD_TEXT, AT(task, memory_path),
			"file that `run --memory-enabled` keeps the agent's memory in; it need not be "
			"there, and no link in it leads out of the task's folder, or nowhere",
			.takes = "path" },
	{ "requirements_path", FIELD_TEXT, AT(task, requirements_path),
			"of a checkout of MLGym: what this machine lacks of it is said ([mlgym.md](mlgym.md))" },
	{ "use_generic_conda", FIELD_BOOL, AT(task, use_generic_conda),
			"the same; `true`: `requirements_path` is not looked at",
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

/* --- datasets/<id>.yaml ----------------------------------------------------------------------- */

static const struct field file_fields[] = {
	{ "path", FIELD_TEXT, AT(data_file, path), "where it lies in the data set's folder",
			.required = true },
	{ "target", FIELD_TEXT, AT(data_file, target),
			"where it comes to lie in the workspace's `data/`; not given: `path`" },
	{ "sha256", FIELD_TEXT, AT(data_file, sha256),
			"of a file, compared by `fumehood task check`" },
	{ "hidden", FIELD_BOOL, AT(data_file, hidden), "does not come into the workspace",
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
	{ "args", FIELD_TEXTS, AT(make, args), "its arguments" },
	{ "timeout", FIELD_DURATION, AT(make, timeout_ms), "it is ended after this time",
			.preset = "5m", .min = 100, .max = 86400e3 },
	{},
};

static const struct schema make_schema = {
	.name = "make",
	.help = "How a data set is made at its first use on a machine: in a sandbox without network, "
		"with `FUMEHOOD_DATA_KEY` in its environment. What it has written into its folder "
		"and `files` names is kept in `<state>/data`.",
	.size = sizeof(struct make_config),
	.fields = make_fields,
};

static const struct field dataset_fields[] = {
	{ "id", FIELD_TEXT, AT(dataset, id), "the file's name without `.yaml`" },
	{ "name", FIELD_TEXT, AT(dataset, name), "for people", .required = true },
	{ "description", FIELD_TEXT, AT(dataset, description),
			"what the agent is told of it in place of `{dataset_docs}`",
			.required = true },
	{ "files", FIELD_STRUCTS, AT(dataset, files), "what it holds", .required = true,
			.schema = &file_schema },
	{ "location", FIELD_TEXT, AT(dataset, location),
			"its folder, relative to the one that holds `datasets`; not given: a folder of `<state>/data`" },
	{ "make", FIELD_STRUCT, AT(dataset, make),
			"the program that makes them, instead of a `location`",
			.schema = &make_schema },
	{ "how_to_get", FIELD_TEXT, AT(dataset, how_to_get),
			"a sentence for who does not have the files yet; `{home}` is the folder that holds `datasets`" },
	{},
};

const struct schema dataset_schema = {
	.name = "dataset",
	.help = "`datasets/<id>.yaml`, beside `tasks` or in the task's own folder.",
	.size = sizeof(struct dataset_config),
	.fields = dataset_fields,
};
