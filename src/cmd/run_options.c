/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_options.h"

#define FIELD(f) offsetof(struct run_options, f)

#define FOR_LANGUAGE_MODELS                                                                        \
	"is for language models; this version plays baseline, demo, actions:FILE and human: leave it out"
#define HAS_NO_CONTAINER "sandboxes are made without a container engine"
#define HAS_NO_GPU "episodes run on the CPU"

const struct cmd_option run_options[] = {
	{ "task", 0, OPTION_LIST, FIELD(tasks), "T[:V],...", "tasks to play, one after the other",
			.heading = "What to play" },
	EPISODE_OPTIONS(FIELD(episode)),
	{ "runs", 'n', OPTION_INT, FIELD(runs), "N",
			"episodes of each task, with seeds that count up", "1", .min = 1,
			.max = 1000000 },
	{ "jobs", 'j', OPTION_INT, FIELD(jobs), "N", "episodes that go on at the same time", "1",
			.min = 1, .max = 10000 },
	{ "model", 'm', OPTION_TEXT, FIELD(model), "M",
			"baseline (the task's own), demo (its demonstration), actions:FILE (JSON lines, a string "
			"each) or human; who runs out of actions submits",
			"baseline", .heading = "Who plays" },
	{ "out", 'o', OPTION_TEXT, FIELD(out), "DIR",
			"where folders of runs go (otherwise trajectories/<user>); those that are there stay",
			.heading = "What comes of it" },
	{ "suffix", 0, OPTION_TEXT, FIELD(suffix), "TEXT", "end of the folders' names" },
	{ "quiet", 'q', OPTION_FLAG, FIELD(quiet), NULL, "print nothing but the results" },
	{ "verbose", 'v', OPTION_FLAG, FIELD(verbose), NULL, "print every action" },
	LOG_OPTIONS(FIELD(log)),

	/* MLGym's. */
	{ "task_config_path", 0, OPTION_TEXT, FIELD(task_config), "FILE",
			.why = "a task by its file: `tasks/T.yaml` is `--task T`" },
	{ "model_name", 0, OPTION_TEXT, FIELD(model), "M" },
	{ "num_agents", 0, OPTION_INT, FIELD(agents), "N", .min = 1, .max = 10000,
			.why = "`--num_agents N` is `--runs N --jobs N`" },
	{ "container_type", .kind = OPTION_NOTED, .why = HAS_NO_CONTAINER },
	{ "container_name", .kind = OPTION_NOTED, .why = HAS_NO_CONTAINER },
	{ "image_name", .kind = OPTION_NOTED, .why = HAS_NO_CONTAINER },
	{ "aliases_file", .kind = OPTION_NOTED, .why = HAS_NO_CONTAINER },
	{ "gpus", .kind = OPTION_NOTED, .why = HAS_NO_GPU },
	{ "gpus_per_agent", .kind = OPTION_NOTED, .why = HAS_NO_GPU },
	{ "cache_baseline_scores", .kind = OPTION_NOTED,
			.why = "a baseline is scored once on a machine" },
	{ "skip_existing", .kind = OPTION_NOTED,
			.why = "runs that are there stay, and a new one gets the next number" },
	{ "benchmark", .kind = OPTION_NOTED, .why = "tasks are named by --task" },
	{ "print_config", .kind = OPTION_NOTED, .why = "a run keeps its settings in args.yaml" },
	{ "raise_exceptions", .kind = OPTION_NOTED, .why = "what fails is always said" },
	{ "log_verbose_to_console", .kind = OPTION_NOTED, .why = "--verbose prints every action" },
	{ "agent", .kind = OPTION_REFUSED, .why = FOR_LANGUAGE_MODELS },
	{ "agent_config_path", .kind = OPTION_REFUSED, .why = FOR_LANGUAGE_MODELS },
	{ "temperature", .kind = OPTION_REFUSED, .why = FOR_LANGUAGE_MODELS },
	{ "top_p", .kind = OPTION_REFUSED, .why = FOR_LANGUAGE_MODELS },
	{ "per_instance_cost_limit", .kind = OPTION_REFUSED, .why = FOR_LANGUAGE_MODELS },
	{ "total_cost_limit", .kind = OPTION_REFUSED, .why = FOR_LANGUAGE_MODELS },
	{ "host_url", .kind = OPTION_REFUSED, .why = FOR_LANGUAGE_MODELS },
	{ "api_key", .kind = OPTION_REFUSED, .why = FOR_LANGUAGE_MODELS },
	{ "api_version", .kind = OPTION_REFUSED, .why = FOR_LANGUAGE_MODELS },
	{ "completion_kwargs", .kind = OPTION_REFUSED, .why = FOR_LANGUAGE_MODELS },
	{ "stop", .kind = OPTION_REFUSED, .why = FOR_LANGUAGE_MODELS },
	{ "memory_enabled", .kind = OPTION_REFUSED, .why = FOR_LANGUAGE_MODELS },
	{ "replay_path", .kind = OPTION_REFUSED, .why = "is --model actions:FILE here" },
	{ "container_mounts", .kind = OPTION_REFUSED, .why = "is --bind SRC[:DST] here" },
	{ "environment_setup", .kind = OPTION_REFUSED,
			.why = "is not run here: a task brings what it needs" },
	{},
};
