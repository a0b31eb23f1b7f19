/* SPDX-License-Identifier: Apache-2.0 */
#include "view/view.h"

#include "base/json.h"
#include "base/path.h"
#include "base/scope.h"
#include "cli/cmd.h"
#include "cli/interrupt.h"
#include "cmd/run_folders.h"
#include "cmd/view_token.h"
#include "trajectory/run_dir.h"
#include "view/view_export.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* fumehood view: shows recorded runs in a browser (src/view). */

struct view_command {
	struct view_options view;
	bool open, json;
	const char *export_to; /* NULL: serve the page */
};

/* Makes the places absolute, so that addresses of runs stay the same. A folder need not exist yet:
 * the page waits for its runs. */
static int view_read_places(
		struct command_context *ctx, struct view_command *c, struct fh_error *err)
{
	size_t n = ctx->n_args ? ctx->n_args : 1;
	auto_free char *own = run_dir_default();
	const char *const mine = own, *const *given = ctx->n_args ? ctx->args : &mine;
	const char **places = arena_array(ctx->arena, n, sizeof(*places));

	for (size_t i = 0; i < n; i++) {
		auto_free char *path = NULL;
		int r = path_absolute(given[i], &path, err);

		if (r < 0)
			return r;
		if (!path_exists(path) && c->export_to)
			return error_set(err, ENOENT, "open '%s'", given[i]);
		if (!path_exists(path))
			cmd_warn("'%s' does not exist yet: the page waits for its runs", given[i]);
		places[i] = arena_strdup(ctx->arena, path);
	}
	c->view.places = run_folders_once(ctx->arena, places, n);
	return 0;
}

static void view_open_browser(const char *address)
{
	char *copy = strdup(address), program[] = "xdg-open";
	char *const argv[] = { program, copy, NULL };
	pid_t pid;

	if (copy && posix_spawnp(&pid, program, NULL, NULL, argv, environ) != 0)
		cmd_warn("--open: xdg-open can't be started");
	free(copy);
}

static void view_listening(void *user, const char *address)
{
	const struct view_command *c = user;

	if (c->json) {
		auto_json json_t *line = json_pack("{s:s}", "address", address);

		cmd_print_json(line);
	} else {
		puts(address);
	}
	fflush(stdout);
	if (c->open)
		view_open_browser(address);
}

static void view_print_export(struct command_context *ctx, const char *path,
		const struct view_export_counts *counts)
{
	auto_json json_t *line = NULL;

	if (!ctx->json) {
		printf("%s: %zu run%s, %.1f MB\n", path, counts->runs, counts->runs == 1 ? "" : "s",
				(double)counts->bytes / 1e6);
		return;
	}
	line = json_pack("{s:o, s:I, s:I, s:b}", "file", json_text(path), "runs",
			(json_int_t)counts->runs, "size_bytes", (json_int_t)counts->bytes,
			"has_steps", counts->has_steps);
	cmd_print_json(line);
}

/* Writes the page into a file instead of serving it. */
static int view_write_page(struct command_context *ctx, const struct view_command *c)
{
	struct view_export_counts counts;
	struct fh_error err;
	int r = view_export_write(&c->view.places, c->export_to, &counts, &err);

	if (r == -ENOENT || r == -EFBIG)
		return cmd_refuse(&err);
	if (r < 0)
		return cmd_fail(&err);
	if (!counts.has_steps)
		cmd_warn("the records have more than 100 MB, so the page lacks their steps");
	view_print_export(ctx, c->export_to, &counts);
	if (c->open)
		view_open_browser(c->export_to);
	return CMD_OK;
}

static int view_main(struct command_context *ctx)
{
	struct view_command *c = ctx->options;
	struct fh_error err;

	if (view_token(ctx->arena, &c->view.token, &err) < 0 || view_read_places(ctx, c, &err) < 0)
		return cmd_refuse(&err);
	if (c->export_to)
		return view_write_page(ctx, c);
	if (interrupt_setup(&err) < 0)
		return cmd_fail(&err);
	c->view.stop_fd = interrupt_fd();
	c->json = ctx->json;
	c->view.listening = view_listening;
	c->view.user = c;
	return view_serve(&c->view, &err) < 0 ? cmd_fail(&err) : CMD_OK;
}

#define FIELD(f) offsetof(struct view_command, f)

static const struct cmd_option options[] = {
	{ "port", 'p', OPTION_INT, FIELD(view.port), "N",
			"port of this machine to listen on; 0 takes a free one", "0", .min = 0,
			.max = 65535 },
	{ "open", 'o', OPTION_FLAG, FIELD(open), .help = "open the page in a browser" },
	{ "export", 'e', OPTION_PATH, FIELD(export_to), "FILE",
			"write the page and the runs into FILE, which needs no server" },
	{},
};

const struct command command_view = {
	.name = "view",
	.summary = "show recorded runs in a browser",
	.arguments = "[DIR...]",
	.max_args = SIZE_MAX,
	.about = "Serves a page that shows the runs beneath the folders, or single records, also of "
		 "MLGym. Without DIR it shows trajectories/<user>. Runs appear when they begin, also in a "
		 "folder that does not exist yet.\n"
		 "Prints the page's address, which works on this machine only. It contains a secret "
		 "token: $FUMEHOOD_TOKEN, or a new one. The server only reads. Ctrl-C ends it. "
		 "docs/view.md has the details.",
	.examples = "fumehood view\n"
		    "fumehood view --open runs/    # opens the page in a browser\n"
		    "fumehood view --export run.html runs/one/events.jsonl    # one file to pass on",
	.options = options,
	.options_size = sizeof(struct view_command),
	.run = view_main,
};
