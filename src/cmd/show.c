/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/pager.h"
#include "cli/term.h"
#include "cmd/record_json.h"
#include "cmd/transcript.h"
#include "run/foreign.h"
#include "trajectory/export_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * fumehood show: prints a record for people. A .traj has no exit codes, and no reasons for missing
 * scores.
 */

#define SHOW_BYTES_MAX (1024L * 1024 * 1024)

struct show_options {
	int step;
	bool full;
};

#define FIELD(f) offsetof(struct show_options, f)

static const struct cmd_option options[] = {
	{ "step", 's', OPTION_INT, FIELD(step), "N", "show only this step, with its whole text",
			.min = 1, .max = 1000000 },
	{ "full", 'f', OPTION_FLAG, FIELD(full), NULL, "show all lines of long texts, not 20" },
	{},
};

struct show {
	char *path; /* path of the record */
	struct exported run;
	struct arena arena;
	struct transcript_style style;
};

static int show_open(const char *name, struct show *s, struct fh_error *err)
{
	int r = export_record(name, &s->path, err);

	if (r < 0)
		return r;
	return path_is_dir(s->path) ? export_read(s->path, &s->run, err)
				    : traj_read(s->path, &s->run.traj, err);
}

static void show_release(struct show *s)
{
	export_release(&s->run);
	arena_release(&s->arena);
	free(s->path);
}

/* Makes "accuracy 0.79, f1 0.5" from a recorded score. NULL if the value is not a score. */
static const char *show_metrics(struct show *s, const struct pyjson *score)
{
	auto_buf struct buf out = BUF_INIT(65536);

	if (!score || score->kind != PYJSON_OBJECT || !score->first)
		return NULL;
	for (const struct pyjson *v = score->first; v; v = v->next) {
		double value;

		buf_printf(&out, "%s%s ", out.len ? ", " : "", v->key);
		if (pyjson_double(v, &value))
			buf_printf(&out, "%.5g", value);
		else
			buf_add_str(&out, v->text ? v->text : "?");
	}
	return arena_strdup(&s->arena, buf_str(&out));
}

/* The recorded "info" of a step, counted from 0. NULL: the record has none. */
static const struct pyjson *show_info(const struct show *s, size_t step)
{
	return step + 1 < s->run.n_told ? pyjson_get(s->run.told[step + 1], "info") : NULL;
}

static struct transcript_step show_step_of(struct show *s, size_t i)
{
	const struct traj_step *step = &s->run.traj->steps[i];
	const struct pyjson *info = show_info(s, i);
	const char *thought = pyjson_text(step->thought), *said = pyjson_text(step->response);
	struct transcript_step out = {
		.thought = *thought || str_eq(said, pyjson_text(step->action)) ? thought : said,
		.action = pyjson_text(step->action),
		.output = pyjson_text(step->observation),
		.duration_s = -1,
		.exit_code = -1,
		.outcome = pyjson_string(pyjson_get(info, "outcome")),
		.score = show_metrics(s, pyjson_get(info, "score")),
		.refused = pyjson_string(pyjson_get(info, "grade_error")),
		.integrity = pyjson_string(pyjson_get(info, "integrity")),
	};
	int64_t code;

	pyjson_double(step->execution_time, &out.duration_s);
	if (pyjson_i64(pyjson_get(info, "exit_code"), &code))
		out.exit_code = (int)code;
	return out;
}

/* --- for people ------------------------------------------------------------------------------ */

static void show_add_heading(struct buf *out, const struct show *s, const char *text)
{
	buf_printf(out, "\n%s--- %s ---%s\n", term_style(s->style.colours, TERM_YELLOW), text,
			term_style(s->style.colours, TERM_RESET));
}

static char *show_task(const struct show *s)
{
	const char *variant = pyjson_text(pyjson_get(s->run.open, "variant"));
	const char *task = pyjson_string(pyjson_get(s->run.open, "task"));

	if (!task)
		return xasprintf("%s", path_basename(s->path));
	return xasprintf("%s%s%s", task, *variant ? ":" : "", variant);
}

/* Appends the scores of the episode's end and of its best validate. Appends nothing before the end,
 * or if the task's grader lacks the key `final`. */
static void show_add_final(struct buf *out, struct show *s)
{
	size_t n = s->run.traj->n_steps;
	const struct pyjson *final = n ? pyjson_get(show_info(s, n - 1), "final") : NULL;
	const char *validated = show_metrics(s, pyjson_get(final, "validated"));
	const char *score = show_metrics(s, pyjson_get(final, "score"));
	double gap;

	if (!final)
		return;
	buf_printf(out, "score that counts: %s\n", score ? score : "none");
	if (validated)
		buf_printf(out, "best validate: %s\n", validated);
	if (pyjson_double(pyjson_get(final, "gap"), &gap))
		buf_printf(out, "gap between them: %+.5g\n", gap);
}

/* Appends "rows, played by openai:m: submitted", and the scores of the run. */
static void show_add_summary(struct buf *out, struct show *s)
{
	const struct traj *t = s->run.traj;
	const char *model = pyjson_string(pyjson_get(s->run.open, "model"));
	const char *status = pyjson_text(t->info.exit_status);
	const char *baseline = show_metrics(s, s->run.baseline);
	auto_free char *task = show_task(s);
	auto_buf struct buf text = BUF_INIT(SHOW_BYTES_MAX);

	buf_printf(&text, "%s%s%s: %s after %zu step%s\n", task, model ? ", played by " : "",
			model ? model : "", *status ? status : "without an end", t->n_steps,
			t->n_steps == 1 ? "" : "s");
	if (baseline)
		buf_printf(&text, "baseline: %s\n", baseline);
	for (const struct pyjson *v = t->info.score ? t->info.score->first : NULL; v; v = v->next) {
		const char *score = show_metrics(s, v);

		if (score)
			buf_printf(&text, "score: %s\n", score);
	}
	show_add_final(&text, s);
	buf_add_str(out, term_style(s->style.colours, TERM_BOLD));
	transcript_add_text(out, s->style, buf_str(&text), "", "");
	buf_add_str(out, term_style(s->style.colours, TERM_RESET));
}

/* The task's text that the model got: the first message that is not a demonstration. */
static const char *show_assignment(const struct show *s)
{
	const struct traj *t = s->run.traj;

	if (s->run.reset)
		return pyjson_text(pyjson_get(s->run.reset, "observation"));
	for (size_t i = 0; i < t->n_history; i++) {
		const struct traj_message *m = &t->history[i];

		if (str_eq(pyjson_text(m->role), "user") && !(m->is_demo && m->is_demo->boolean))
			return pyjson_text(m->content);
	}
	return "";
}

/* Shows the conversation of a program that played as the agent. The step shows only what it
 * printed. */
static void show_add_calls(struct buf *out, const struct show *s)
{
	const struct traj *t = s->run.traj;

	if (!str_eq(pyjson_text(pyjson_get(s->run.open, "agent_config")), FOREIGN_CONFIG))
		return;
	for (size_t i = 0; i < t->n_history && s->run.n_messages; i++) {
		auto_free char *heading =
				xasprintf("the agent's call: %s", pyjson_text(t->history[i].role));

		show_add_heading(out, s, heading);
		transcript_add_text(out, s->style, pyjson_text(t->history[i].content), "", "");
	}
}

/* Reads the fault at index i. Appends its reply to `reply`, to which the verdict points. Returns
 * false if the fault did not come after the first `step` steps. */
static bool show_read_fault(const struct show *s, size_t i, size_t step, struct buf *reply,
		struct conversation_verdict *out)
{
	const struct pyjson *fault = s->run.faults[i].event;

	if (s->run.faults[i].step != step)
		return false;
	export_add_reply(reply, fault);
	*out = (struct conversation_verdict){
		.fault = export_is_blocked(fault) ? FH_FAULT_BLOCKED : FH_FAULT_FORMAT,
		.reply = buf_str(reply),
		.complaint = pyjson_text(pyjson_get(fault, "complaint")),
	};
	return true;
}

/* Shows the replies after the first `step` steps that led to none. */
static void show_add_faults(struct buf *out, const struct show *s, size_t step)
{
	for (size_t i = 0; i < s->run.n_faults; i++) {
		auto_buf struct buf reply = BUF_INIT(SHOW_BYTES_MAX);
		struct conversation_verdict verdict;

		if (show_read_fault(s, i, step, &reply, &verdict))
			transcript_add_rejection(out, s->style, &verdict);
	}
}

static void show_add_step(struct buf *out, struct show *s, size_t i)
{
	struct transcript_step step = show_step_of(s, i);
	const struct pyjson *event = i + 1 < s->run.n_told ? s->run.told[i + 1] : NULL;
	auto_free char *heading = xasprintf("step %zu of %zu%s", i + 1, s->run.traj->n_steps,
			pyjson_get(event, "by") ? ", by a person" : "");

	show_add_heading(out, s, heading);
	show_add_faults(out, s, i);
	transcript_add_turn(out, s->style, &step);
	transcript_add_result(out, s->style, &step);
}

/* --- for programs ---------------------------------------------------------------------------- */

/* Puts the replies after the first `step` steps that led to none, as "rejected". */
static void show_put_faults(struct pyjson_writer *w, const struct show *s, size_t step)
{
	pyjson_put_array(w, "rejected");
	for (size_t i = 0; i < s->run.n_faults; i++) {
		auto_buf struct buf reply = BUF_INIT(SHOW_BYTES_MAX);
		struct conversation_verdict verdict;

		if (!show_read_fault(s, i, step, &reply, &verdict))
			continue;
		pyjson_put_object(w, NULL);
		pyjson_put_text(w, "kind",
				verdict.fault == FH_FAULT_BLOCKED ? "blocked" : "format");
		pyjson_put_text(w, "reply", verdict.reply);
		pyjson_put_text(w, "complaint", verdict.complaint);
		pyjson_end_object(w);
	}
	pyjson_end_array(w);
}

static void show_put_step(struct pyjson_writer *w, struct show *s, size_t i)
{
	const struct traj_step *step = &s->run.traj->steps[i];
	const struct pyjson *info = show_info(s, i);

	pyjson_put_object(w, NULL);
	pyjson_put_i64(w, "step", (int64_t)i + 1);
	show_put_faults(w, s, i);
	pyjson_put_value(w, "thought", step->thought);
	pyjson_put_value(w, "action", step->action);
	pyjson_put_value(w, "observation", step->observation);
	pyjson_put_value(w, "duration_s", step->execution_time);
	if (info)
		pyjson_put_value(w, "info", info);
	else
		pyjson_put_null(w, "info");
	pyjson_end_object(w);
}

static void show_add_json(struct buf *out, struct show *s, size_t first, size_t end)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(out, PYJSON_LINE);
	const struct traj *t = s->run.traj;

	pyjson_put_object(&w, NULL);
	record_json_put(&w, s->path, &s->run);
	if (t->info.score)
		pyjson_put_value(&w, "scores", t->info.score);
	else
		pyjson_put_null(&w, "scores");
	pyjson_put_array(&w, "steps");
	for (size_t i = first; i < end; i++)
		show_put_step(&w, s, i);
	pyjson_end_array(&w);
	show_put_faults(&w, s, t->n_steps);
	pyjson_end_object(&w);
	buf_add_char(out, '\n');
}

/* --- the command ----------------------------------------------------------------------------- */

static int show_print(struct command_context *ctx, struct show *s)
{
	const struct show_options *o = ctx->options;
	size_t n = s->run.traj->n_steps, first = o->step ? (size_t)o->step - 1 : 0;
	auto_buf struct buf out = BUF_INIT(SHOW_BYTES_MAX);
	struct fh_error err;

	if (o->step && first >= n) {
		error_say(&err, EINVAL, "--step %d: there are %zu steps in '%s'", o->step, n,
				s->path);
		return cmd_refuse_subject(ctx, "run", ctx->args[0], &err);
	}
	s->style = (struct transcript_style){ .colours = term_colours(STDOUT_FILENO),
		.full = o->full || o->step };
	if (ctx->json)
		show_add_json(&out, s, first, o->step ? first + 1 : n);
	else if (o->step)
		show_add_step(&out, s, first);
	else {
		show_add_summary(&out, s);
		show_add_heading(&out, s, "task");
		transcript_add_text(&out, s->style, show_assignment(s), "", "");
		show_add_calls(&out, s);
		for (size_t i = 0; i < n; i++)
			show_add_step(&out, s, i);
		show_add_faults(&out, s, n);
	}
	if (ctx->json)
		fwrite(buf_str(&out), 1, out.len, stdout);
	else
		pager_print(&out);
	return CMD_OK;
}

static int show_main(struct command_context *ctx)
{
	struct show s = { .arena = ARENA_INIT };
	struct fh_error err;
	int status = show_open(ctx->args[0], &s, &err) < 0
			? cmd_refuse_subject(ctx, "run", ctx->args[0], &err)
			: show_print(ctx, &s);

	show_release(&s);
	return status;
}

const struct command command_show = {
	.name = "show",
	.summary = "show a recorded run as a conversation",
	.arguments = "RUN",
	.min_args = 1,
	.max_args = 1,
	.about = "RUN is the folder of a run, its events.jsonl, or a .traj, also of MLGym. The run may "
		 "still go on, or have been killed.\n"
		 "Shows each step's thought, action and output, its exit code, time and score. Shows "
		 "why a validate gave no score, and which replies were rejected. On a terminal $PAGER (default: less) shows it.",
	.examples = "fumehood show trajectories/me/demo__rows__*_run_0\n"
		    "fumehood show --step 3 rows.traj   # the third step with its whole output",
	.options = options,
	.options_size = sizeof(struct show_options),
	.run = show_main,
};
