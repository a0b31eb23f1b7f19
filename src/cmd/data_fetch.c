/* SPDX-License-Identifier: Apache-2.0 */
#include "data/fetch.h"

#include "base/json.h"
#include "base/path.h"
#include "base/scope.h"
#include "cli/interrupt.h"
#include "cli/term.h"
#include "cmd/data_sets.h"
#include "cmd/data_progress.h"
#include "cmd/episode_options.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* fumehood data fetch: brings the files of data sets. */

struct fetch_options {
	struct data_options data;
	const char *python;
	double timeout_s;
};

struct fetch_output {
	bool is_json;
	bool draws; /* progress is drawn, because stderr is a terminal */
	struct data_progress progress;
	json_t *files; /* list of the files as JSON objects, for --json */
};

static const char *const origins[] = {
	[DATA_KEPT] = "kept",
	[DATA_CACHED] = "cache",
	[DATA_FETCHED] = "server",
};

static void data_fetch_on_file(void *user, const struct data_file *file)
{
	static const char *const verbs[] = {
		[DATA_KEPT] = "found",
		[DATA_CACHED] = "copied from the cache of huggingface_hub:",
		[DATA_FETCHED] = "fetched",
	};
	struct fetch_output *out = user;
	const struct lock_entry *entry = &file->entry;
	auto_buf struct buf size = BUF_INIT(64);

	data_progress_clear(&out->progress);
	data_add_size(&size, entry->size_bytes);
	if (out->is_json)
		json_array_append_new(out->files,
				json_pack("{s:o, s:s, s:I, s:o, s:o}", "file",
						json_text(file->name), "from",
						origins[file->origin], "size_bytes",
						(json_int_t)entry->size_bytes, "sha256",
						json_text(entry->sha256), "revision",
						json_text(*entry->revision ? entry->revision
									   : NULL)));
	else
		fprintf(stderr, "%s %s, %s\n", verbs[file->origin], file->name, buf_str(&size));
}

static void data_fetch_on_progress(
		void *user, const char *name, int64_t done_bytes, int64_t size_bytes)
{
	struct fetch_output *out = user;

	if (out->draws)
		data_progress_draw(&out->progress, name, done_bytes, size_bytes);
}

/* While a program lays out the files, lets the first signal end this process at once. The program
 * ends with it, and an unfinished layout has nothing worth keeping. */
static void data_fetch_on_layout(void *user, bool begins)
{
	struct fetch_output *out = user;

	interrupt_at_once(begins);
	if (begins && !out->is_json)
		fprintf(stderr, "laying out the files\n");
}

static int data_fetch_run(struct command_context *ctx, const struct dataset *set,
		struct fetch_output *out, struct fh_error *err)
{
	const struct fetch_options *o = ctx->options;
	const struct data_fetch_options options = {
		.python = o->python,
		.stall_ms = (int64_t)(o->timeout_s * 1000),
		.cancel_fd = interrupt_fd(),
		.user = out,
		.file = data_fetch_on_file,
		.progress = data_fetch_on_progress,
		.layout = data_fetch_on_layout,
	};
	int r = data_fetch(set, &options, err);

	data_progress_clear(&out->progress);
	return r;
}

static int data_fetch_each(struct command_context *ctx, const struct dataset *set)
{
	struct fetch_output out = {
		.is_json = ctx->json, .draws = term_redraws(STDERR_FILENO), .files = json_array()
	};
	auto_json json_t *line = json_pack("{s:o, s:o, s:o}", "data", json_text(set->id), "folder",
			json_text(set->dir), "files", out.files);
	struct fh_error err = FH_ERROR_INIT;
	int r;

	if (interrupt_wanted())
		return interrupt_status();
	r = data_fetch_run(ctx, set, &out, &err);
	if (r == -ECANCELED)
		error_say(&err, ECANCELED,
				"data set '%s': interrupted; the same command goes on from here",
				set->id);
	if (r < 0)
		json_object_set_new(line, "error", json_text(err.message));
	if (ctx->json)
		cmd_print_json(line);
	if (r == -ECANCELED) {
		cmd_fail(&err);
		return interrupt_status();
	}
	if (r < 0)
		return cmd_refuse(&err);
	if (!ctx->json && !dataset_is_there(set))
		printf("%s: it is made when a task first uses it\n", set->id);
	else if (!ctx->json)
		printf("%s: %s\n", set->id, set->dir);
	return CMD_OK;
}

static int data_fetch_main(struct command_context *ctx)
{
	const struct fetch_options *o = ctx->options;
	struct fh_error err = FH_ERROR_INIT;

	if (o->timeout_s < 1 || o->timeout_s > 86400)
		return cmd_misuse(ctx, "--timeout wants a time from 1s to 24h");
	if (interrupt_setup(&err) < 0)
		return cmd_fail(&err);
	return data_for_each(ctx, data_fetch_each);
}

#define FIELD(f) offsetof(struct fetch_options, f)

static const struct cmd_option options[] = {
	{ "python", 0, OPTION_TEXT, FIELD(python), "ENV",
			"a Python environment of this machine (venv, conda) that has the packages "
			"to lay out the data" },
	{ "timeout", 't', OPTION_SECONDS, FIELD(timeout_s), "TIME",
			"give up a connection that brings nothing for this time", .preset = "30s" },
	DATA_TASKS_DIR_OPTION,
	{},
};

extern const struct command command_data_fetch;

const struct command command_data_fetch = {
	.name = "fetch",
	.summary = "bring the data of tasks to this machine",
	.arguments = "D...",
	.min_args = 1,
	.max_args = 1000,
	.about = "D is a data set, or a task: T:VARIANT, or T with all of its variants. Files come from "
		 "Hugging Face and other servers, or from the cache of huggingface_hub. For files that "
		 "only you may fetch, as those of Kaggle, it says where to put them.\n"
		 "Ctrl-C keeps parts of files, and the same command continues them.\n"
		 "Variables: HF_ENDPOINT is another server than Hugging Face's. HF_TOKEN is a token for "
		 "it. HF_HOME and HF_HUB_CACHE are folders of huggingface_hub. HF_HUB_OFFLINE=1 "
		 "forbids to ask servers.",
	.options = options,
	.options_size = sizeof(struct fetch_options),
	.examples = "fumehood data fetch cifar10 --python ~/venv\n"
		    "fumehood data fetch titanicSurvival:full   # says what to get from Kaggle",
	.run = data_fetch_main,
};
