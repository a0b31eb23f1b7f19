/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/export_runs.h"

#include "base/path.h"
#include "base/scope.h"
#include "cli/cmd.h"
#include "cmd/report_rows.h"
#include "report/formats.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* fumehood export --format: runs in formats of other programs. */

/* --- which runs ------------------------------------------------------------------------------- */

static bool runs_has(const struct texts *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (str_eq(names->items[i], name ? name : "unknown"))
			return true;
	return !names->n;
}

static bool runs_is_chosen(const struct export_options *o, const struct run_row *row)
{
	bool better = row->maximize ? row->best > row->baseline : row->best < row->baseline;

	return !row->problem && !row->damage && runs_has(&o->models, row->model) &&
			runs_has(&o->tasks, row->task) && (!o->improved || better);
}

/* Takes the rows that are chosen. */
static const struct run_row **runs_choose(
		struct command_context *ctx, const struct run_rows *rows, size_t *out_n)
{
	const struct run_row **chosen =
			arena_array(ctx->arena, rows->n + 1, sizeof(const struct run_row *));
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (runs_is_chosen(ctx->options, &rows->items[i]))
			chosen[n++] = &rows->items[i];
	if (n)
		qsort(chosen, n, sizeof(const struct run_row *), inspect_compare);
	*out_n = n;
	return chosen;
}

/* --- one file of all runs --------------------------------------------------------------------- */

static int runs_fill(struct dump_out *out, const struct dump_format *format,
		const struct run_row **rows, size_t n, struct fh_error *err)
{
	if (format->begin)
		format->begin(out);
	for (size_t i = 0; i < n; i++) {
		struct dump_run run;
		struct fh_error why;
		int r;

		/* A record may have changed since its index was read. */
		if (dump_run_read(rows[i], &run, &why) < 0) {
			cmd_warn("a record is left out: %s", why.message);
			continue;
		}
		format->add(out, &run);
		dump_run_release(&run);
		r = dump_flush(out, err);
		if (r < 0)
			return r;
	}
	return dump_flush(out, err);
}

static int runs_write(const struct export_options *o, const struct dump_format *format,
		const struct run_row **rows, size_t n, struct fh_error *err)
{
	bool to_stdout = !o->out || str_eq(o->out, "-");
	struct dump_out out = { .fd = STDOUT_FILENO, .name = "standard output" };
	auto_whole struct fd_whole file = { 0 };
	int r = to_stdout ? 0 : fd_whole_open_out(o->out, 0666, &file, err);

	if (r < 0)
		return r;
	buf_init(&out.text, DUMP_BYTES_MAX);
	if (!to_stdout) {
		out.fd = file.fd;
		out.name = o->out;
	}
	r = runs_fill(&out, format, rows, n, err);
	buf_release(&out.text);
	if (r < 0)
		return r;
	return to_stdout ? 0 : fd_whole_end(&file, err);
}

/* --- logs of Inspect -------------------------------------------------------------------------- */

/* Prints which file has been written, and how many runs it has. */
static void runs_print_json(const char *key, const char *path, size_t n)
{
	auto_json json_t *line =
			json_pack("{s:o, s:I}", key, json_text(path), "runs", (json_int_t)n);

	cmd_print_json(line);
}

static void runs_print_log(struct command_context *ctx, const char *path, size_t n)
{
	if (ctx->json)
		runs_print_json("log", path, n);
	else
		puts(path);
}

static int runs_write_logs(struct command_context *ctx, const struct run_row **rows, size_t n,
		struct fh_error *err)
{
	const struct export_options *o = ctx->options;
	int r = path_mkdirs(o->out, 0777, err);

	if (r < 0)
		return r;
	for (size_t i = 0, end; i < n; i = end) {
		struct inspect_group group = { .runs = rows + i };
		const char *path;

		for (end = i + 1; end < n && inspect_same(rows[i], rows[end]);)
			end++;
		group.n = end - i;
		r = inspect_write(ctx->arena, o->out, &group, &path, err);
		if (r < 0)
			return r;
		runs_print_log(ctx, path, group.n);
	}
	return 0;
}

/* ---------------------------------------------------------------------------------------------- */

static int runs_export(struct command_context *ctx, const struct run_row **rows, size_t n,
		struct fh_error *err)
{
	const struct export_options *o = ctx->options;

	switch ((enum export_format)o->format) {
	case EXPORT_INSPECT:
		return runs_write_logs(ctx, rows, n, err);
	case EXPORT_CHAT:
		return runs_write(o, &dump_chat, rows, n, err);
	case EXPORT_STEPS:
		return runs_write(o, &dump_steps, rows, n, err);
	case EXPORT_CSV:
		return runs_write(o, &dump_steps_csv, rows, n, err);
	case EXPORT_TRAJ:
		break;
	}
	return error_say(err, EINVAL, "--format traj exports a single run: name one folder");
}

int export_runs(struct command_context *ctx)
{
	const struct export_options *o = ctx->options;
	bool to_stdout = !o->out || str_eq(o->out, "-");
	struct run_rows rows = { 0 };
	const struct run_row **chosen;
	struct fh_error err;
	size_t n;

	if (o->format == EXPORT_INSPECT && to_stdout)
		return cmd_misuse(ctx, "--format inspect needs --out FOLDER");
	if (ctx->json && to_stdout)
		return cmd_misuse(ctx, "--json needs --out: standard output has the runs");
	if (report_rows_read(ctx, o->tasks_dir, &rows, &err) < 0)
		return cmd_refuse(&err);
	report_rows_warn(&rows, true);
	chosen = runs_choose(ctx, &rows, &n);
	if (!n) {
		error_say(&err, ENOENT, "there are no such runs in '%s'", ctx->args[0]);
		return cmd_refuse(&err);
	}
	if (runs_export(ctx, chosen, n, &err) < 0)
		return cmd_fail(&err);
	if (o->format != EXPORT_INSPECT && ctx->json)
		runs_print_json("file", o->out, n);
	return CMD_OK;
}
