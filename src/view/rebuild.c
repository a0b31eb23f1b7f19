/* SPDX-License-Identifier: Apache-2.0 */
#include "view/rebuild_inside.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "inside/places.h"
#include "view/effects.h"

#include <stdlib.h>
#include <string.h>

/* Reading one step of a record, to learn what it tells about files. */
struct rebuilding {
	struct rebuild *b;
	const struct rebuilt_step *step;
	struct arena scratch;
	bool alone; /* the action is one command */
	bool doubt; /* the step may have changed any file */
	bool failed;
};

/* --- lines ------------------------------------------------------------------------------------ */

static bool rebuild_line_same(const struct rebuilt_line *a, const struct rebuilt_line *b)
{
	return a->text && b->text && a->n == b->n && memcmp(a->text, b->text, a->n) == 0;
}

/* True if the line can be the shown one. Spaces at the end of an output may be lost. */
static bool rebuild_line_fits(
		const struct rebuilt_line *known, const struct rebuilt_line *shown, bool last)
{
	uint32_t n = known->n;

	if (!known->text || rebuild_line_same(known, shown))
		return true;
	while (last && n > shown->n && strchr(" \t", known->text[n - 1]) && known->text[n - 1])
		n--;
	return last && n == shown->n && memcmp(known->text, shown->text, n) == 0;
}

/* --- what a step shows ------------------------------------------------------------------------ */

/* Compares the expected lines with those that were shown, and puts the shown ones in their place.
 * False: a line differs. */
static bool rebuild_overlay(
		struct rebuilt_line *lines, size_t n, const struct window *w, bool *out_news)
{
	bool same = n == w->total;

	*out_news = !same;
	for (size_t i = 0; i < w->n; i++) {
		struct rebuilt_line *line = &lines[w->first + i];
		const struct rebuilt_line *shown = &w->lines[i];
		bool fits = w->first + i < n && rebuild_line_fits(line, shown, i + 1 == w->n);

		same &= fits;
		*out_news |= !fits || !line->text;
		if (!fits || !line->text)
			*line = *shown;
	}
	return same;
}

static void rebuild_count(struct rebuilding *g, bool same, bool doubt)
{
	struct rebuilt_checks *checks = &g->b->checks;

	*(same ? &checks->equal : doubt ? &checks->changed : &checks->different) += 1;
}

/* Takes lines of a file that a step showed. `before` are the lines that are expected, and `how` is
 * what the step did. */
static void rebuild_show(struct rebuilding *g, const char *path, struct window before,
		enum rebuilt_how how, const struct window *w)
{
	struct rebuild *b = g->b;
	struct rebuilt_version *now = rebuild_now(rebuild_find(b, path));
	size_t n = before.n > w->total ? before.n : w->total;
	struct rebuilt_line *lines = arena_array(&g->scratch, n + 1, sizeof(*lines));
	size_t doubt = now ? now->doubt : 0, shown = now ? now->shown : 0;
	bool whole = w->n == w->total, same, news;

	if (before.n)
		memcpy(lines, before.lines, before.n * sizeof(*lines));
	for (size_t i = before.n; i < n; i++)
		lines[i] = (struct rebuilt_line){ 0 };
	same = rebuild_overlay(lines, before.n, w, &news);
	if (now)
		rebuild_count(g, same, doubt);
	/* The file changed by a command that is not shown. So its other lines are unknown. */
	for (size_t i = 0; i < w->total && !same; i++)
		if (i < w->first || i >= w->first + w->n)
			lines[i] = (struct rebuilt_line){ 0 };
	if (whole) {
		shown = b->steps;
		doubt = 0;
	}
	if (how == REBUILT_SHOWN && now && !news) {
		now->shown = shown;
		now->doubt = doubt;
		return;
	}
	rebuild_add(b, path,
			(struct rebuilt_version){ .step = b->steps,
					.how = how,
					.lines = lines,
					.n = w->total,
					.shown = whole ? shown : 0,
					.doubt = doubt });
}

static struct window rebuild_lines_of(const struct rebuilt_version *v)
{
	struct window w = { 0 };

	if (v) {
		w.lines = v->lines;
		w.n = w.total = v->n;
	}
	return w;
}

/* --- the editor's commands -------------------------------------------------------------------- */

/* Makes the lines that an edit leaves. At the beginning `keep` lines stay, and at the end those
 * from index `resume` on. */
static struct window rebuild_edit(
		struct rebuilding *g, const struct window_edit *e, const struct window *shown)
{
	struct rebuild *b = g->b;
	const struct rebuilt_version *now = rebuild_now(rebuild_find(b, shown->path));
	struct window text = rebuild_split(&g->scratch, e->text.text, e->text.n), out = { 0 };
	size_t keep, resume, n = now ? now->n : 0;
	struct rebuilt_line *lines;

	if (!now)
		return out;
	keep = e->keep < n ? e->keep : n;
	resume = e->resume < n ? e->resume : n;
	lines = arena_array(&g->scratch, keep + text.n + (n - resume) + 1, sizeof(*lines));
	memcpy(lines, now->lines, keep * sizeof(*lines));
	out.n = keep;
	if (text.n)
		memcpy(lines + out.n, text.lines, text.n * sizeof(*lines));
	out.n += text.n;
	memcpy(lines + out.n, now->lines + resume, (n - resume) * sizeof(*lines));
	out.n += n - resume;
	if (!out.n)
		lines[out.n++] = (struct rebuilt_line){ .text = "", .n = 0 };
	out.lines = lines;
	out.total = out.n;
	return out;
}

/* True if a command may have run, but its output was lost. */
static bool rebuild_lost(struct run_text seen)
{
	static const char words[] = "EXECUTION FAILED";

	return !seen.n || memmem(seen.text, seen.n, words, strlen(words));
}

/* Reads a step of the editor. False: the action is not a command of the editor. */
static bool rebuild_editor(struct rebuilding *g)
{
	const struct rebuilt_step *s = g->step;
	struct window_edit edit;
	struct window w;
	bool first;

	if (!window_is_editor(s->action, &edit))
		return false;
	/* A refused edit shows no window first. An edit without any output may have been made. */
	if (!window_read(&g->scratch, s->observation, &w, &first) || (edit.is_edit && !first)) {
		g->doubt = edit.is_edit && rebuild_lost(s->observation);
		return true;
	}
	if (edit.is_edit)
		rebuild_show(g, w.path, rebuild_edit(g, &edit, &w), REBUILT_EDITED, &w);
	else
		rebuild_show(g, w.path, rebuild_lines_of(rebuild_now(rebuild_find(g->b, w.path))),
				edit.is_create && first && !rebuild_now(rebuild_find(g->b, w.path))
						? REBUILT_CREATED
						: REBUILT_SHOWN,
				&w);
	return true;
}

/* --- shell commands --------------------------------------------------------------------------- */

static char *rebuild_path(const struct rebuilding *g, const char *path)
{
	auto_free char *joined = NULL;

	joined = path_join(g->b->folder, path);
	return path_normalise(joined);
}

static void rebuild_written(struct rebuilding *g, const char *path, const struct effect *e)
{
	const struct rebuilt_version *now = rebuild_now(rebuild_find(g->b, path));
	struct window text = rebuild_split(&g->scratch, e->text ? e->text : "", e->text ? e->n : 0);
	size_t old = e->kind == EFFECT_APPEND && now ? now->n : 0;
	struct rebuilt_line *lines;

	/* Lines with variables, or after a file that nobody saw, can't be counted. */
	if (!e->text || (e->kind == EFFECT_APPEND && !now)) {
		g->doubt = true;
		return;
	}
	lines = arena_array(&g->scratch, old + text.n + 1, sizeof(*lines));
	if (old)
		memcpy(lines, now->lines, old * sizeof(*lines));
	if (text.n)
		memcpy(lines + old, text.lines, text.n * sizeof(*lines));
	rebuild_add(g->b, path,
			(struct rebuilt_version){ .step = g->b->steps,
					.how = REBUILT_WRITTEN,
					.lines = lines,
					.n = old + text.n,
					.doubt = old ? now->doubt : 0 });
}

static void rebuild_removed(struct rebuilding *g, const char *path)
{
	struct rebuild *b = g->b;

	for (size_t i = 0; i < b->n; i++)
		if (rebuild_now(&b->files[i]) && path_is_within(b->files[i].path, path))
			rebuild_add(b, b->files[i].path,
					(struct rebuilt_version){
							.step = b->steps, .how = REBUILT_REMOVED });
}

static void rebuild_copied(struct rebuilding *g, const char *path, const struct effect *e)
{
	struct rebuild *b = g->b;
	auto_free char *to = rebuild_path(g, e->to);
	const struct rebuilt_version *from = rebuild_now(rebuild_find(b, path));
	const struct rebuilt_file *target = to ? rebuild_find(b, to) : NULL;

	if (to && from && !str_eq(path, to))
		rebuild_add(b, to,
				(struct rebuilt_version){ .step = b->steps,
						.how = REBUILT_COPIED,
						.lines = from->lines,
						.n = from->n,
						.doubt = from->doubt });
	else if (rebuild_now(target))
		g->doubt = true;
	if (e->kind == EFFECT_MOVE)
		rebuild_removed(g, path);
}

/* cat of one file shows it whole. */
static void rebuild_printed(struct rebuilding *g, const char *path)
{
	const struct rebuilt_step *s = g->step;
	const struct rebuilt_version *now = rebuild_now(rebuild_find(g->b, path));
	struct window w = rebuild_split(&g->scratch, s->observation.text, s->observation.n);

	if (!g->alone || s->mlgym || s->succeeded != 1)
		return;
	rebuild_show(g, path, rebuild_lines_of(now), REBUILT_SHOWN, &w);
}

static void rebuild_count_command(void *user, const struct effect *e)
{
	*(int *)user += 1;
}

static void rebuild_take_effect(void *user, const struct effect *e)
{
	struct rebuilding *g = user;
	auto_free char *path = e->path ? rebuild_path(g, e->path) : NULL;
	bool writes = e->kind == EFFECT_WRITE || e->kind == EFFECT_APPEND;

	if (e->kind == EFFECT_NONE)
		return;
	/* A later command may be the one that failed, so that a file was written nevertheless. */
	if (e->kind == EFFECT_UNKNOWN || !path || (g->failed && !writes)) {
		g->doubt |= e->kind != EFFECT_PRINT;
		return;
	}
	switch (e->kind) {
	case EFFECT_FOLDER:
		xstrset(&g->b->folder, path);
		return;
	case EFFECT_WRITE:
	case EFFECT_APPEND:
		rebuild_written(g, path, e);
		return;
	case EFFECT_REMOVE:
		rebuild_removed(g, path);
		return;
	case EFFECT_COPY:
	case EFFECT_MOVE:
		rebuild_copied(g, path, e);
		return;
	case EFFECT_PRINT:
		rebuild_printed(g, path);
		return;
	case EFFECT_NONE:
	case EFFECT_UNKNOWN:
		return;
	}
}

static bool rebuild_complains(struct run_text seen)
{
	static const char *const words[] = { "No such file or directory", "Permission denied",
		"syntax error", "Read-only file system", "No space left", "Is a directory" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (seen.n && memmem(seen.text, seen.n, words[i], strlen(words[i])))
			return true;
	return false;
}

static void rebuild_shell(struct rebuilding *g)
{
	const struct rebuilt_step *s = g->step;
	int commands = 0;

	if (rebuild_complains(s->observation)) {
		g->doubt = true;
		return;
	}
	effects_read(&g->scratch, s->action.text, s->action.n, rebuild_count_command, &commands);
	g->alone = commands == 1;
	/* .traj files lack exit codes: these commands print nothing if they succeed. */
	g->failed = s->succeeded == 0 || (s->succeeded < 0 && s->observation.n);
	effects_read(&g->scratch, s->action.text, s->action.n, rebuild_take_effect, g);
}

/* --- steps ------------------------------------------------------------------------------------ */

void rebuild_step(struct rebuild *b, const struct rebuilt_step *s)
{
	struct rebuilding g = { .b = b, .step = s, .scratch = ARENA_INIT };

	b->steps++;
	if (s->folder)
		xstrset(&b->folder, s->folder);
	if (b->full)
		return;
	if (!rebuild_editor(&g))
		rebuild_shell(&g);
	for (size_t i = 0; i < b->n && g.doubt; i++) {
		struct rebuilt_version *now = rebuild_now(&b->files[i]);

		if (now && !now->doubt)
			now->doubt = b->steps;
	}
	if (s->folder_after)
		xstrset(&b->folder, s->folder_after);
	arena_release(&g.scratch);
}
