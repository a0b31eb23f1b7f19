/* SPDX-License-Identifier: Apache-2.0 */
#include "data/verify.h"

#include "base/json.h"
#include "base/scope.h"
#include "cmd/data_sets.h"

#include <errno.h>
#include <stdio.h>

/* The commands `fumehood data verify`, which compares files with their hashes, and `fumehood data
 * where`. */

static const char *const states[] = {
	[DATA_RIGHT] = "right",
	[DATA_UNKNOWN] = "no hash is known",
	[DATA_MISSING] = "missing",
	[DATA_DIFFERS] = "differs",
};

struct verify_output {
	bool is_json;
	json_t *files; /* list of the files as JSON objects, for --json */
};

static void data_verify_tell(void *user, const struct data_verdict *verdict)
{
	struct verify_output *out = user;

	if (out->is_json)
		json_array_append_new(out->files,
				json_pack("{s:o, s:s, s:o, s:o}", "file", json_text(verdict->path),
						"state", states[verdict->state], "sha256",
						json_text(verdict->sha256), "expected",
						json_text(verdict->expected)));
	else if (verdict->state == DATA_DIFFERS)
		printf("differs: %s has the sha256 %s, not %s\n", verdict->path, verdict->sha256,
				verdict->expected);
	else
		printf("%s: %s\n", states[verdict->state], verdict->path);
}

static int data_verify_each(struct command_context *ctx, const struct dataset *set)
{
	auto_json json_t *files = json_array();
	auto_json json_t *line = NULL;
	struct verify_output out = { .is_json = ctx->json, .files = files };
	struct fh_error err = FH_ERROR_INIT;
	bool is_there = dataset_is_there(set);
	size_t wrong = 0;

	if (!is_there && !ctx->json)
		printf("%s: it is made when a task first uses it\n", set->id);
	if (is_there && data_verify(set, data_verify_tell, &out, &wrong, &err) < 0)
		return cmd_refuse_subject(ctx, "data", set->id, &err);
	if (wrong) {
		error_say(&err, EIO, "data set '%s': %zu file%s missing or different", set->id,
				wrong, wrong == 1 ? " is" : "s are");
		cmd_fail(&err);
	}
	line = json_pack("{s:o, s:b, s:O}", "data", json_text(set->id), "ok", !wrong, "files",
			files);
	if (wrong)
		json_object_set_new(line, "error", json_text(err.message));
	if (ctx->json)
		cmd_print_json(line);
	return wrong ? CMD_FAILED : CMD_OK;
}

static int data_verify_main(struct command_context *ctx)
{
	return data_for_each(ctx, data_verify_each);
}

static int data_where_each(struct command_context *ctx, const struct dataset *set)
{
	auto_json json_t *line = json_pack("{s:o, s:o, s:b, s:o}", "data", json_text(set->id),
			"folder", json_text(set->dir), "ready", !dataset_missing(set), "fetched",
			json_text(set->n_sources ? set->fetched : NULL));

	if (ctx->json)
		cmd_print_json(line);
	else
		printf("%s\n", set->dir);
	return CMD_OK;
}

static int data_where_main(struct command_context *ctx)
{
	return data_for_each(ctx, data_where_each);
}

static const struct cmd_option options[] = {
	DATA_TASKS_DIR_OPTION,
	{},
};

extern const struct command command_data_verify, command_data_where;

const struct command command_data_verify = {
	.name = "verify",
	.summary = "compare data with its hashes",
	.arguments = "D...",
	.min_args = 1,
	.max_args = 1000,
	.about = "D is a data set, or a task: T or T:VARIANT. A hash is that of `datasets/D.yaml`, else "
		 "that of the first fetch, in `<state>/data.lock`.",
	.options = options,
	.options_size = sizeof(struct data_options),
	.examples = "fumehood data verify cifar10",
	.run = data_verify_main,
};

const struct command command_data_where = {
	.name = "where",
	.summary = "print the folders of data",
	.arguments = "D...",
	.min_args = 1,
	.max_args = 1000,
	.about = "D is a data set, or a task: T or T:VARIANT. The folder need not exist yet.",
	.options = options,
	.options_size = sizeof(struct data_options),
	.examples = "ls $(fumehood data where titanic)",
	.run = data_where_main,
};
