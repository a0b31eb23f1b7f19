/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/transcript.h"

#include "base/str.h"
#include "cli/term.h"

#include <string.h>

#define TRANSCRIPT_TEXT_BYTES_MAX (64L * 1024 * 1024)
/* most lines to show of a long text: LINES_BEGIN from its start, the rest from its end */
#define LINES_SHOWN 20
#define LINES_BEGIN 14
#define LINE_BYTES_SHOWN 400

static size_t transcript_count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text = strchrnul(text, '\n'), text += *text == '\n')
		n++;
	return n;
}

static void transcript_add_line(struct buf *out, const char *line, size_t n, bool full)
{
	size_t shown = full || n <= LINE_BYTES_SHOWN ? n : LINE_BYTES_SHOWN;

	buf_add(out, line, shown);
	if (shown < n)
		buf_printf(out, " ... (%zu more bytes)", n - shown);
	buf_add_char(out, '\n');
}

void transcript_add_text(struct buf *out, struct transcript_style style, const char *text,
		const char *first, const char *next)
{
	auto_buf struct buf clean = BUF_INIT(TRANSCRIPT_TEXT_BYTES_MAX);
	const char *indent = style.indent ? style.indent : "", *at;
	size_t n, i = 0;
	bool cut;

	str_add_printable(&clean, text);
	n = transcript_count_lines(buf_str(&clean));
	cut = !style.full && n > LINES_SHOWN;
	for (at = buf_str(&clean); *at; i++) {
		size_t length = strcspn(at, "\n");

		if (cut && i == LINES_BEGIN)
			buf_printf(out, "%s%s... (%zu more lines)\n", indent, next,
					n - LINES_SHOWN);
		if (!cut || i < LINES_BEGIN || n - i <= LINES_SHOWN - LINES_BEGIN) {
			buf_printf(out, "%s%s", indent, i ? next : first);
			transcript_add_line(out, at, length, style.full);
		}
		at += length + (at[length] == '\n');
	}
}

static void transcript_add_styled(struct buf *out, struct transcript_style style,
		const char *sequence, const char *text, const char *first, const char *next)
{
	if (!text || !*text)
		return;
	buf_add_str(out, term_style(style.colours, sequence));
	transcript_add_text(out, style, text, first, next);
	buf_add_str(out, term_style(style.colours, TERM_RESET));
}

void transcript_add_turn(
		struct buf *out, struct transcript_style style, const struct transcript_step *step)
{
	transcript_add_styled(out, style, TERM_CYAN, step->thought, "", "");
	transcript_add_styled(out, style, TERM_BOLD, step->action, "$ ", "> ");
}

void transcript_add_result(
		struct buf *out, struct transcript_style style, const struct transcript_step *step)
{
	auto_buf struct buf how = BUF_INIT(4096);
	size_t before = out->len;
	bool told;

	transcript_add_styled(out, style, "", step->output, "", "");
	/* The reason is often in the observation too, but a cut observation may lack it. */
	told = step->refused && strstr(buf_str(out) + before, step->refused);
	if (step->duration_s >= 0)
		buf_printf(&how, ", %.3g s", step->duration_s);
	if (step->exit_code > 0)
		buf_printf(&how, ", exit code %d", step->exit_code);
	if (step->outcome && !str_eq(step->outcome, "ok"))
		buf_printf(&how, ", %s", step->outcome);
	if (how.len) {
		buf_add_char(&how, ')');
		transcript_add_styled(out, style, TERM_DIM, buf_str(&how) + 2, "(", "");
	}
	transcript_add_styled(out, style, TERM_GREEN, step->score, "scored: ", "        ");
	transcript_add_styled(out, style, TERM_RED, told ? NULL : step->refused,
			"not scored: ", "            ");
	transcript_add_styled(
			out, style, TERM_YELLOW, step->integrity, "tampering: ", "           ");
}

void transcript_add_rejection(struct buf *out, struct transcript_style style,
		const struct conversation_verdict *verdict)
{
	transcript_add_text(out, style, verdict->reply,
			verdict->fault == FH_FAULT_BLOCKED ? "(rejected reply, blocked command) "
							   : "(rejected reply, wrong format) ",
			"");
	transcript_add_text(out, style, verdict->complaint, "(complaint) ", "");
}
