/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/path.h"
#include "base/scope.h"
#include "cli/cmd.h"
#include "cli/pager.h"
#include "cli/term.h"
#include "cmd/report_rows.h"
#include "cmd/report_tables.h"
#include "report/effort.h"
#include "report/gather.h"
#include "report/mix.h"
#include "report/pair.h"
#include "report/paper.h"
#include "report/spread.h"
#include "report/summary.h"
#include "report/trouble.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* fumehood report: tables of the runs beneath folders. */

#define REPORT_BYTES_MAX (256L << 20)

enum report_format { REPORT_TEXT, REPORT_CSV, REPORT_JSON, REPORT_HTML, REPORT_MARKDOWN };

static const char *const formats[] = { "text", "csv", "json", "html", "md", NULL };

struct report_options {
	int format;
	const char *out, *tasks_dir;
	struct texts compare, tables;
	struct report_choice choice;
};

#define FIELD(f) offsetof(struct report_options, f)

static const struct cmd_option options[] = {
	{ "format", 'F', OPTION_CHOICE, FIELD(format), "FORMAT", "form of the report",
			.preset = "text", .choices = formats },
	{ "compare", 0, OPTION_LIST, FIELD(compare), "A B", "compare two models; also A,B",
			.min = 2 },
	{ "out", 'o', OPTION_PATH, FIELD(out), "FILE", "write the report to a file" },
	{ "model", 0, OPTION_LIST, FIELD(choice.models), "M",
			"only this model; repeat it, or write M,..., for several in this order" },
	{ "models", 0, OPTION_LIST, FIELD(choice.models), "M,..." },
	{ "task", 0, OPTION_LIST, FIELD(choice.tasks), "T",
			"only this task; repeat it, or write T,..., for several in this order" },
	{ "tasks", 0, OPTION_LIST, FIELD(choice.tasks), "T,..." },
	{ "tables", 't', OPTION_LIST, FIELD(tables), "ID,...",
			"only these tables, or `all` [text: those that answer most questions]" },
	{ "split", 0, OPTION_FLAG, FIELD(choice.split), NULL,
			"don't mix versions of a task, root file systems or judges" },
	{ "tasks-dir", 0, OPTION_PATH, FIELD(tasks_dir), "DIR",
			"folder of tasks that is searched first, for metrics of MLGym's records" },
	{},
};

static void report_write(struct buf *out, const struct report_doc *doc, enum report_format format,
		bool to_terminal)
{
	struct doc_style style = { .colours = to_terminal && term_colours(STDOUT_FILENO),
		.width = term_width(STDOUT_FILENO, 120) };

	switch (format) {
	case REPORT_TEXT:
		doc_write_text(out, doc, &style);
		break;
	case REPORT_CSV:
		doc_write_csv(out, doc);
		break;
	case REPORT_JSON:
		doc_write_json(out, doc);
		break;
	case REPORT_HTML:
		doc_write_html(out, doc);
		break;
	case REPORT_MARKDOWN:
		doc_write_markdown(out, doc);
		break;
	}
}

static int report_print(const struct report_options *o, struct buf *text, enum report_format format)
{
	struct fh_error err;

	if (text->truncated) {
		error_say(&err, EFBIG, "the report is too long: choose fewer models or tasks");
		return cmd_fail(&err);
	}
	if (o->out)
		return fd_write_out(o->out, buf_str(text), text->len, 0644, &err) < 0
				? cmd_fail(&err)
				: CMD_OK;
	if (format == REPORT_TEXT)
		pager_print(text);
	else
		fwrite(buf_str(text), 1, text->len, stdout);
	return CMD_OK;
}

static int report_main(struct command_context *ctx)
{
	const struct report_options *o = ctx->options;
	enum report_format format = ctx->json ? REPORT_JSON : (enum report_format)o->format;
	bool is_brief = !o->tables.n &&
			(format == REPORT_TEXT || (format == REPORT_MARKDOWN && o->compare.n));
	auto_buf struct buf text = BUF_INIT(REPORT_BYTES_MAX);
	struct report_doc doc = { .arena = ctx->arena, .title = "Report of runs" };
	struct run_rows rows = { 0 };
	struct report report;
	struct fh_error err;

	if (o->compare.n && o->compare.n != 2)
		return cmd_misuse(ctx, "--compare needs two models: A B");
	if (report_rows_read(ctx, o->tasks_dir, &rows, &err) < 0)
		return cmd_refuse(&err);
	report_rows_warn(&rows, false);
	report_gather(&report, &doc, &rows, &o->choice);
	if (!report.n_runs) {
		error_say(&err, ENOENT, "there are no runs to report in '%s'%s%s", ctx->args[0],
				report.unknown ? ": " : "", report.unknown ? report.unknown : "");
		return cmd_refuse(&err);
	}
	mix_table(&report);
	if (o->compare.n &&
			pair_tables(&report, o->compare.items[0], o->compare.items[1], &err) < 0)
		return cmd_refuse(&err);
	paper_tables(&report);
	spread_tables(&report);
	effort_tables(&report);
	trouble_table(&report, is_brief ? TROUBLE_ROWS_BRIEF : TROUBLE_ROWS);
	summary_table(&doc);
	if (is_brief)
		report_tables_keep_brief(&doc);
	else if (o->tables.n && report_tables_keep(&doc, &o->tables, &err) < 0)
		return cmd_refuse(&err);
	report_write(&text, &doc, format, !o->out);
	return report_print(o, &text, format);
}

extern const struct command command_report;

const struct command command_report = {
	.name = "report",
	.summary = "compare the runs of folders: scores, ranks, profiles, costs, errors",
	.arguments = "DIR...",
	.min_args = 1,
	.max_args = 1000,
	.about = "Reads all runs beneath the folders, Fumehood's and MLGym's, and prints the tables of "
		 "MLGym's paper and more. An index of the runs is kept in each folder, or in the state "
		 "folder if that can't be written. docs/report.md explains the tables.",
	.examples = "fumehood report trajectories/me\n"
		    "fumehood report --tables all trajectories/me\n"
		    "fumehood report trajectories/me --compare MODEL MODEL\n"
		    "fumehood report --format csv --out report.csv trajectories/me",
	.options = options,
	.options_size = sizeof(struct report_options),
	.run = report_main,
};
