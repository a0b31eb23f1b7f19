/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_CONFIG_H
#define TASK_CONFIG_H

#include "config/schema.h"
#include "sandbox/limits.h"
#include "task/task.h"

#include <stdint.h>

/* Structs for the contents of task.yaml and datasets/<id>.yaml. Names in these are not looked up
 * yet. */
struct metric_config {
	const char *name;
	enum { METRIC_MAXIMIZE, METRIC_MINIMIZE } direction;
};

struct grader_config {
	enum grader_kind kind;
	const char *submission;
	int64_t submission_bytes;
	int64_t timeout_ms;
	int64_t validations, players, shared_bytes;
	bool final;
	const char *answers, *id, *target;
	int csv_metric; /* index into csv_metrics of the grader's metric */
	struct texts range;
	const char *program, *player, *cpu_metric;
	struct texts args, functions;
};

/* names of the kinds of graders that a task of Fumehood's can have */
#define OWN_GRADER_KINDS [GRADER_CSV] = "csv", [GRADER_SCRIPT] = "script", [GRADER_DUEL] = "duel"

/* names of all kinds of graders, indexed by enum grader_kind; NULL-terminated */
extern const char *const grader_kinds[];
extern const char *const csv_metrics[];
/* names of the networks, indexed by enum sandbox_network; NULL-terminated */
extern const char *const network_names[];

struct solution_config {
	struct texts files;
	const char *command;
};

struct expect_config {
	struct texts baseline, solution;
};

struct published_config {
	enum { COMPARABLE_NO, COMPARABLE_YES } comparable;
	const char *why;
};

struct limits_config {
	struct sandbox_limits sandbox;
	int64_t output_bytes;
	int64_t wall_ms;
};

struct sandbox_config {
	struct texts bind;
	bool simulators;
};

struct task_config {
	const char *id, *name, *description;
	struct texts aliases;
	struct metric_config metric;
	struct grader_config grader;
	struct texts starter_code, dataset_configs;
	const char *sample_submission;
	const char *baseline;
	struct texts baseline_paths, baseline_files, packages;
	const struct node *baseline_scores;
	struct published_config published;
	struct solution_config solution;
	struct expect_config expect;
	const char *demo;
	int64_t training_timeout_ms, short_timeout_ms;
	int64_t max_steps;
	struct limits_config limits;
	enum sandbox_network network;
	struct sandbox_config sandbox;
	struct texts hidden, secret_files;
	const struct node *variants;
	const char *default_variant;
	/* keys of MLGym's task files; some have an effect only in a checkout of MLGym */
	const char *benchmark_name, *task_entrypoint, *requirements_path, *memory_path;
	struct texts evaluation_paths;
	bool evaluation_read_only, use_generic_conda;
};

extern const struct schema task_schema;

struct data_file_config {
	const char *path, *target, *sha256;
	bool hidden;
};

struct make_config {
	const char *program;
	struct texts modules, args;
	int64_t timeout_ms;
};

struct fetch_config {
	const char *huggingface, *path, *revision, *url, *to, *sha256;
};

struct layout_config {
	struct make_config make;
	struct texts packages;
};

struct dataset_config {
	const char *id, *name, *description, *location, *how_to_get;
	struct make_config make;
	struct struct_list fetch; /* files to fetch, a list of struct fetch_config */
	struct layout_config layout;
	struct struct_list files; /* files of the data set, a list of struct data_file_config */
};

extern const struct schema dataset_schema;

/* Keys of task.yaml that have an effect only in tasks of an MLGym checkout; NULL-terminated. */
extern const char *const task_keys_without_effect[];

#endif
