/* SPDX-License-Identifier: Apache-2.0 */
#include "env/observe.h"

#include "base/scope.h"
#include "base/str.h"
#include "env/words.h"
#include "inside/places.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static void observe_start_line(struct buf *b)
{
	if (b->len && b->data[b->len - 1] != '\n')
		buf_add_char(b, '\n');
}

void observe_note(struct buf *out, const char *format, ...)
{
	va_list ap;

	observe_start_line(out);
	va_start(ap, format);
	buf_vprintf(out, format, ap);
	va_end(ap);
	buf_add_char(out, '\n');
}

static void observe_add_score(struct buf *b, const char *label, const struct score *score)
{
	buf_add_str(b, label);
	score_add_repr(b, score);
	buf_add_char(b, '\n');
}

/* --- the first observation of an episode ------------------------------------------------------ */

static void observe_add_rules(struct buf *b, const struct task *task, int max_steps)
{
	buf_printf(b, "You are the user agent in a sandbox of your own, in the folder %s.\n",
			GUEST_WORKSPACE);
	buf_printf(b, "- It holds the files to start from%s.\n",
			task->n_data ? ", and the data in data/" : "");
	buf_add_str(b,
			"- Each action is a shell command, or several lines of them. The shell "
			"stays the same from step to step.\n");
	buf_printf(b, "- There are %d steps.\n", max_steps);
	buf_printf(b,
			"- A command may take %g s; one that runs python, torchrun, accelerate or "
			"deepspeed may take %g s. What runs longer is ended.\n",
			(double)task->short_timeout_ms / 1e3,
			(double)task->training_timeout_ms / 1e3);
	if (task->wall_ms)
		buf_printf(b, "- The whole episode may take %g s, with the time between steps.\n",
				(double)task->wall_ms / 1e3);
	if (task->network == NETWORK_NONE)
		buf_add_str(b, "- There is no network.\n");
	buf_printf(b,
			"- `validate` scores %s as it is then. `submit` scores it and ends the "
			"episode; so does the last step. Scoring happens elsewhere, on a copy.\n",
			*task->grader.submission ? task->grader.submission : "the workspace");
	if (task->grader.validations)
		buf_printf(b, "- You can `validate` %d times.\n", task->grader.validations);
	if (task->grader.final)
		buf_add_str(b,
				task->grader.kind == GRADER_CSV
						? "- A validate scores one half of the hidden answers. The "
						  "end scores the other half, and counts alone; the "
						  "baseline's score is of that half.\n"
						: "- The end is scored with other random numbers than any "
						  "validate, and counts alone.\n");
	buf_printf(b, "- What counts is %s: %s is better.\n", task->metric,
			task->maximize ? "more" : "less");
}

char *observe_welcome(const struct task *task, int max_steps, const struct score *baseline)
{
	auto_buf struct buf b = BUF_INIT(1 << 20);

	buf_add_str(&b, task->description);
	observe_start_line(&b);
	buf_add_char(&b, '\n');
	observe_add_rules(&b, task, max_steps);
	if (baseline->n)
		observe_add_score(&b, WORDS_BASELINE, baseline);
	return buf_take(&b);
}

/* --- observation after a command -------------------------------------------------------------- */

bool observe_output(struct buf *out, struct buf *folded, const struct task *task,
		const struct buf *output)
{
	buf_clear(folded);
	if (task->mlgym)
		observe_mlgym_output(folded, buf_str(output), output->len);
	else
		str_add_folded(folded, buf_str(output), output->len);
	str_add_utf8(out, buf_str(folded), folded->len);
	return !folded->truncated && !out->truncated;
}

static void observe_restart(struct buf *out, int status)
{
	bool killed = WIFSIGNALED(status);

	observe_note(out,
			"(The shell ended %s %d, and a new one was started: files are as they were; "
			"variables, functions and the folder are not.)",
			killed ? "by signal" : "with status",
			killed ? WTERMSIG(status) : WEXITSTATUS(status));
}

void observe_end(struct buf *out, const struct observe_end *end)
{
	const struct task *task = end->task;
	bool kib;

	switch (end->result->outcome) {
	case SESSION_OK:
	case SESSION_RESTARTED:
	case SESSION_GONE:
		break;
	case SESSION_TIMEOUT:
		observe_note(out, WORDS_TIMEOUT "%g s and was ended.)",
				(double)end->timeout_ms / 1e3);
		break;
	case SESSION_OUTPUT_LIMIT:
		kib = end->output_bytes % 1024 == 0;
		observe_note(out, "(There was more output; only the first %zu %s are kept.)",
				kib ? end->output_bytes >> 10 : end->output_bytes,
				kib ? "KiB" : "bytes");
		break;
	case SESSION_MEMORY_LIMIT:
		observe_note(out,
				"(The memory ran out, and a process was ended: this sandbox may "
				"use %.3g GiB.)",
				(double)task->limits.memory_bytes / (1 << 30));
		break;
	case SESSION_SYNTAX:
		observe_note(out, WORDS_NO_COMMAND " as a shell command.)");
		break;
	}
	if (end->cancelled)
		observe_note(out, "(The command was interrupted.)");
	if (end->result->restarted)
		observe_restart(out, end->result->shell_status);
}

/* --- output as MLGym shows it ----------------------------------------------------------------- */

/*
 * Returns the bytes of a line's end at this place; 0: the line does not end here. "\r\n" is one
 * end.
 */
static size_t observe_line_end(const char *text, const char *end)
{
	static const char *const longer[] = { "\r\n", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9" };

	for (size_t i = 0; i < ARRAY_SIZE(longer); i++) {
		size_t n = strlen(longer[i]);

		if ((size_t)(end - text) >= n && memcmp(text, longer[i], n) == 0)
			return n;
	}
	return *text && strchr("\n\r\v\f\x1c\x1d\x1e", *text) ? 1 : 0;
}

static const char *observe_find_char(const char *at, const char *end, char c)
{
	return at < end ? memchr(at, c, (size_t)(end - at)) : NULL;
}

/*
 * True for a line of a progress bar, as "40%|####    | 4/10 [00:01]". It has a digit and "%|", then
 * "|", "[" and "]". If these do not follow the first "%|", they follow no later one.
 */
static bool observe_is_bar(const char *line, const char *end)
{
	const char *p = line;

	while ((p = observe_find_char(p, end, '%')) &&
			!(p > line && p[-1] >= '0' && p[-1] <= '9' && p + 1 < end && p[1] == '|'))
		p++;
	p = p ? observe_find_char(p + 2, end, '|') : NULL;
	p = p ? observe_find_char(p + 1, end, '[') : NULL;
	return p && observe_find_char(p + 1, end, ']');
}

void observe_mlgym_output(struct buf *out, const char *text, size_t n)
{
	const char *at = text, *end = text + n;
	bool first = true;

	while (at < end) {
		const char *line = at;
		size_t ending = 0;

		while (at < end && !(ending = observe_line_end(at, end)))
			at++;
		if (at > line && !observe_is_bar(line, at)) {
			if (!first)
				buf_add_char(out, '\n');
			buf_add(out, line, (size_t)(at - line));
			first = false;
		}
		at += ending;
	}
}

/* --- observation after scoring ---------------------------------------------------------------- */

void observe_grade(struct buf *out, const struct grade_result *result, const char *submission,
		const struct score *baseline)
{
	switch (result->verdict) {
	case GRADE_SCORED:
		observe_note(out, WORDS_SCORED "%s.", submission);
		if (baseline->n)
			observe_add_score(out, WORDS_BASELINE, baseline);
		observe_add_score(out, WORDS_EVALUATION, result->score);
		break;
	case GRADE_NO_SUBMISSION:
	case GRADE_REJECTED:
		observe_note(out, WORDS_NOT_SCORED "%s", result->text);
		break;
	case GRADE_BROKEN:
		/* Show no details to the agent: they may be about hidden files. */
		observe_note(out, WORDS_NOT_SCORED "the grader itself failed.");
		break;
	}
}
