/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/original.h"

#include "base/scope.h"
#include "base/str.h"
#include "env/words.h"

#include <string.h>

/* Text that MLGym prints when it has scored a file, before the path of the file. */
#define ARTEFACT " valid submission artefact at "

#define WINDOW "[File: "

/* Texts in observations that mean the same. `ours` is Fumehood's text, `its` is MLGym's. */
static const struct {
	const char *ours, *its;
} outcomes[] = {
	{ WORDS_TIMEOUT, "TIMED OUT" },
	{ WORDS_NO_COMMAND, ": syntax error" },
	{ WORDS_NO_EDIT, "Malformed" },
};

static const char *original_next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end && end[1] ? end + 1 : NULL;
}

/* --- ours ------------------------------------------------------------------------------------- */

/* Start of the lines about a score in an observation of Fumehood. NULL: no such line. `first` and
 * `last` differ if the step was scored twice: the agent validated, then the episode ended. */
struct original_scorings {
	const char *first, *last, *exited;
};

static struct original_scorings original_scorings_in(const char *text)
{
	struct original_scorings s = { 0 };

	for (const char *line = text; line; line = original_next_line(line)) {
		s.exited = str_starts(line, WORDS_EXITED) ? line : NULL;
		if (!str_starts(line, WORDS_SCORED) && !str_starts(line, WORDS_NOT_SCORED))
			continue;
		s.last = line;
		if (!s.first)
			s.first = line;
	}
	return s;
}

/* Appends a text up to `end`, or all of it if `end` is NULL, without newlines at its end. */
static void original_add_until(struct buf *out, const char *text, const char *end)
{
	size_t n = end ? (size_t)(end - text) : strlen(text);

	while (n && text[n - 1] == '\n')
		n--;
	buf_add(out, text, n);
}

static void original_add_line(struct buf *out, const char *line)
{
	buf_add_char(out, '\n');
	buf_add(out, line, strcspn(line, "\n"));
}

/* Appends the first line of an observation with a score, from `at` on. Appends nothing if `at` is
 * NULL. */
static void original_add_our_score(struct buf *out, const char *at)
{
	while (at && !str_starts(at, WORDS_EVALUATION))
		at = original_next_line(at);
	if (at)
		original_add_line(out, at);
}

/* --- scores that MLGym recorded --------------------------------------------------------------- */

static const char *original_recorded_text(const struct traj *t, size_t step)
{
	return pyjson_text(t->steps[step].observation);
}

static bool original_is_same_outcome(const char *then, const char *now)
{
	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++)
		if (strstr(then, outcomes[i].its) && !strstr(then, outcomes[i].ours) &&
				strstr(now, outcomes[i].ours))
			return true;
	return false;
}

/*
 * Returns the score at the end of a recorded episode. MLGym records it in `info`, but in no
 * observation.
 */
static const struct pyjson *original_end_score(const struct traj *t)
{
	const struct pyjson *score = t->info.score ? t->info.score->first : NULL;

	for (size_t i = 0; score && i < t->n_steps; i++)
		if (strstr(original_recorded_text(t, i), WORDS_EVALUATION))
			score = score->next;
	return score;
}

/*
 * Appends a score as Python prints a dict. JSON numbers are copied: their text is the same in
 * Python.
 */
static void original_add_recorded_score(struct buf *out, const struct pyjson *score)
{
	const char *comma = "";

	if (!score)
		return;
	buf_add_str(out, "\n" WORDS_EVALUATION "{");
	for (const struct pyjson *v = score->first; v; v = v->next, comma = ", ")
		buf_printf(out, "%s'%s': %s", comma, v->key, v->text ? v->text : "");
	buf_add_char(out, '}');
}

/* --- files that an observation shows or reports as changed ------------------------------------ */

/* Returns true for a line that an editor prints: "[File: ", "(3 more lines above)", "12:text", "-
 * E999 ...". */
static bool original_is_of_window(const char *line)
{
	size_t digits = strspn(line, "0123456789");

	if (digits && line[digits] == ':')
		return true;
	return str_starts(line, WINDOW) || str_starts(line, "- E") || str_starts(line, "- F") ||
			(*line == '(' && strspn(line + 1, "0123456789"));
}

static void original_add_windows(struct buf *out, const char *text)
{
	for (const char *line = text; line; line = original_next_line(line))
		if (original_is_of_window(line))
			original_add_line(out, line);
}

/* ---------------------------------------------------------------------------------------------- */

enum original_words original_translate(const struct traj *recorded, size_t step, const char *now,
		struct buf *out_recorded, struct buf *out_now)
{
	const char *then = original_recorded_text(recorded, step),
		   *artefact = strstr(then, ARTEFACT);
	struct original_scorings ours = original_scorings_in(now),
				 theirs = original_scorings_in(then);
	bool ends;

	if (artefact && memchr(then, '\n', (size_t)(artefact - then)))
		artefact = NULL; /* this text counts only in the observation's first line */
	ends = ours.exited && (!artefact || ours.last != ours.first);
	if (original_is_same_outcome(then, now))
		return ORIGINAL_UNKNOWN;
	/*
	 * Extract what both observations show: a part of a file. The editors of MLGym and Fumehood
	 * introduce it by different words.
	 */
	if (!ours.first && strstr(then, WINDOW) && strstr(now, WINDOW)) {
		original_add_windows(out_recorded, then);
		original_add_windows(out_now, now);
		return ORIGINAL_TRANSLATED;
	}
	if (!ours.first || theirs.first)
		return ORIGINAL_SAME;
	if (!artefact && !ends)
		return str_starts(ours.first, WORDS_NOT_SCORED) ? ORIGINAL_UNKNOWN : ORIGINAL_SAME;
	if (artefact) {
		buf_add_str(out_recorded, "Scored a");
		original_add_until(out_recorded, artefact, NULL);
		original_add_until(out_now, ours.first, ends ? ours.last : ours.exited);
	} else {
		original_add_until(out_recorded, then, theirs.exited);
		original_add_until(out_now, now, ours.last);
	}
	if (ends) {
		original_add_recorded_score(out_recorded, original_end_score(recorded));
		original_add_our_score(out_now, ours.last);
	}
	/* Compare the line that both MLGym and Fumehood add to the observation at the step
	 * limit. */
	if (ends && theirs.exited) {
		original_add_line(out_recorded, theirs.exited);
		original_add_line(out_now, ours.exited);
	}
	return ORIGINAL_TRANSLATED;
}
