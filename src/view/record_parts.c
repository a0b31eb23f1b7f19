/* SPDX-License-Identifier: Apache-2.0 */
#include "view/record_parts.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/action.h"
#include "env/words.h"
#include "report/scan.h"
#include "task/load.h"
#include "trajectory/export.h"
#include "trajectory/told.h"
#include "view/effects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RUN_HEAD_BYTES 120
#define RESULTS_BYTES_MAX (16L << 20)

/* --- values ----------------------------------------------------------------------------------- */

struct run_text run_text_of(const struct pyjson *object, const char *key)
{
	const struct pyjson *v = pyjson_get(object, key);

	if (!v || v->kind != PYJSON_STRING)
		return (struct run_text){ .text = "" };
	return (struct run_text){ .text = v->text, .n = v->len };
}

static void parts_set(char **field, const struct pyjson *object, const char *key)
{
	const char *text = pyjson_string(pyjson_get(object, key));

	if (text)
		xstrset(field, text);
}

/* Reads the task's metric of a score, whose name may differ in case. The first metric counts if the
 * task's is unknown. */
static double parts_score(struct record *r, const struct pyjson *score)
{
	const struct pyjson *v = score && score->kind == PYJSON_OBJECT ? score->first : NULL;
	double value = NAN;

	while (v && r->metric && strcasecmp(v->key, r->metric) != 0)
		v = v->next;
	if (!v || !pyjson_double(v, &value))
		return NAN;
	if (!r->metric && v->key)
		r->metric = xstrndup(v->key, v->key_len);
	return value;
}

static bool parts_has(struct run_text t, const char *word)
{
	return memmem(t.text, t.n, word, strlen(word)) != NULL;
}

static bool parts_begins(struct run_text t, const char *word)
{
	size_t n = strlen(word);

	return t.n >= n && memcmp(t.text, word, n) == 0 &&
			(t.n == n || t.text[n] == ' ' || t.text[n] == '\n');
}

/* Reads a score from an observation: "Evaluation Score: {'Score': 1.25}". */
static double parts_told_score(struct record *r, struct run_text seen)
{
	auto_arena struct arena arena = ARENA_INIT;

	return parts_score(r, told_read(&arena, seen.text, seen.n, WORDS_EVALUATION));
}

/* --- steps ------------------------------------------------------------------------------------ */

static char *parts_head(struct run_text action)
{
	auto_buf struct buf out = BUF_INIT(RUN_HEAD_BYTES * 4);
	size_t skip = 0, n;

	while (skip < action.n && strchr(" \t\r\n", action.text[skip]))
		skip++;
	n = action.n - skip;
	if (memchr(action.text + skip, '\n', n))
		n = (size_t)((const char *)memchr(action.text + skip, '\n', n) - action.text) -
				skip;
	if (n > RUN_HEAD_BYTES)
		n = str_utf8_cut(action.text + skip, n, RUN_HEAD_BYTES);
	buf_add(&out, action.text + skip, n);
	return xstrdup(buf_str(&out));
}

static void parts_take_effect(void *user, const struct effect *e)
{
	unsigned *marks = user;

	if ((e->kind == EFFECT_WRITE || e->kind == EFFECT_APPEND) && e->text)
		*marks |= RECORD_EDIT;
}

static unsigned parts_action_marks(struct run_text action)
{
	auto_arena struct arena arena = ARENA_INIT;
	unsigned marks = 0;
	static const struct {
		const char *word;
		unsigned mark;
	} words[] = {
		{ "validate", RECORD_VALIDATE },
		{ "submit", RECORD_SUBMIT },
		{ "edit", RECORD_EDIT },
		{ "insert", RECORD_EDIT },
		{ "create", RECORD_EDIT },
	};
	const char *end = NULL;

	action_kind(action.text, &end);
	if (end)
		return RECORD_LEFT | (str_eq(end, "exit_format") ? RECORD_FORMAT : 0U);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (parts_begins(action, words[i].word))
			return words[i].mark;
	effects_read(&arena, action.text, action.n, parts_take_effect, &marks);
	return marks;
}

/* Marks of a step by the recorded "info", which a .traj lacks. */
static unsigned parts_info_marks(const struct pyjson *info, int *out_exit_code)
{
	const char *outcome = pyjson_text(pyjson_get(info, "outcome"));
	unsigned marks = 0;
	int64_t code;

	if (pyjson_i64(pyjson_get(info, "exit_code"), &code)) {
		*out_exit_code = (int)code;
		marks |= code ? RECORD_ERROR : 0;
	}
	if (str_eq(outcome, "timeout"))
		marks |= RECORD_TIMEOUT | RECORD_ERROR;
	else if (*outcome && !str_eq(outcome, "ok"))
		marks |= RECORD_ERROR;
	if (str_eq(outcome, "malformed_edit") || str_eq(outcome, "syntax_error"))
		marks |= RECORD_FORMAT;
	if (pyjson_string(pyjson_get(info, "grade_error")))
		marks |= RECORD_ERROR | RECORD_VALIDATE;
	if (pyjson_get(info, "integrity"))
		marks |= RECORD_INTEGRITY;
	if (pyjson_get(info, "final"))
		marks |= RECORD_FINAL;
	return marks;
}

static unsigned parts_observation_marks(struct run_text seen)
{
	unsigned marks = 0;

	if (parts_has(seen, "EXECUTION TIMED OUT"))
		marks |= RECORD_TIMEOUT | RECORD_ERROR;
	if (parts_has(seen, "Traceback (most recent call last)") ||
			parts_has(seen, "Your proposed edit has introduced new syntax error"))
		marks |= RECORD_ERROR;
	return marks;
}

static void parts_add_step(struct record *r, const struct run_part *p, const struct pyjson *step)
{
	const struct pyjson *info = pyjson_get(step, "info");
	struct run_text action = run_text_of(step, "action");
	struct run_text seen = run_text_of(step, "observation");
	struct record_step s = { .begin = p->begin,
		.end = p->end,
		.duration_s = NAN,
		.score = NAN,
		.exit_code = -1,
		.spent = r->spent };

	if (!step) {
		s.marks = RECORD_BROKEN;
		s.head = xstrdup("");
	} else {
		s.marks = parts_action_marks(action);
		if (str_eq(pyjson_text(pyjson_get(step, "by")), "person"))
			s.marks |= RECORD_PERSON;
		s.head = parts_head(action);
		if (info) {
			s.marks |= parts_info_marks(info, &s.exit_code);
			pyjson_double(pyjson_get(info, "duration_s"), &s.duration_s);
			s.score = parts_score(r, pyjson_get(info, "score"));
		} else if (pyjson_get(step, "outcome")) {
			/* A turn of a policy's episode has its numbers beside its texts. */
			s.marks |= parts_info_marks(step, &s.exit_code);
			pyjson_double(pyjson_get(step, "duration_s"), &s.duration_s);
			s.score = parts_score(r, pyjson_get(step, "score"));
		} else {
			s.marks |= parts_observation_marks(seen);
			pyjson_double(pyjson_get(step, "execution_time"), &s.duration_s);
			s.score = parts_told_score(r, seen);
		}
		if (!isfinite(s.score))
			s.score = NAN;
		else if (!(s.marks & RECORD_SUBMIT))
			s.marks |= RECORD_VALIDATE;
	}
	s.marks |= r->coming;
	r->coming = 0;
	r->steps = xgrow(r->steps, r->n_steps, sizeof(*r->steps));
	r->steps[r->n_steps++] = s;
}

/* Drops the steps after the first n. */
static void parts_keep_steps(struct record *r, size_t n)
{
	while (r->n_steps > n) {
		struct record_step *s = &r->steps[--r->n_steps];

		free(s->head);
		free(s->row);
	}
}

void parts_release(struct record *r)
{
	char *const texts[] = { r->task, r->variant, r->model, r->agent, r->exit_status, r->error,
		r->metric, r->version, r->assignment, r->history };

	parts_keep_steps(r, 0);
	free(r->steps);
	free(r->messages);
	free(r->faults);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
}

void parts_add_message(struct record *r, int64_t begin, int64_t end)
{
	r->messages = xgrow(r->messages, r->n_messages, sizeof(*r->messages));
	r->messages[r->n_messages++] = (struct record_range){ begin, end };
}

void parts_add_fault(struct record *r, const struct record_fault *fault)
{
	r->faults = xgrow(r->faults, r->n_faults, sizeof(*r->faults));
	r->faults[r->n_faults++] = *fault;
}

/* --- events ----------------------------------------------------------------------------------- */

static void parts_take_open(struct record *r, const struct pyjson *event)
{
	const struct pyjson *maximize = pyjson_get(event, "maximize");

	parts_set(&r->task, event, "task");
	parts_set(&r->variant, event, "variant");
	parts_set(&r->model, event, "model");
	parts_set(&r->agent, event, "agent_config");
	parts_set(&r->metric, event, "metric");
	parts_set(&r->version, event, "version");
	parts_set(&r->history, event, "history_processor");
	pyjson_i64(pyjson_get(event, "history_n"), &r->history_n);
	r->minimize = maximize && maximize->kind == PYJSON_BOOL && !maximize->boolean;
	pyjson_i64(pyjson_get(event, "max_steps"), &r->max_steps);
	r->baseline = parts_score(r, pyjson_get(event, "baseline"));
}

static void parts_take_spent(struct record *r, const struct pyjson *stats)
{
	if (!stats)
		return;
	if (!pyjson_double(pyjson_get(stats, "total_cost"), &r->spent.cost))
		pyjson_double(pyjson_get(stats, "task_cost"), &r->spent.cost);
	pyjson_i64(pyjson_get(stats, "tokens_sent"), &r->spent.sent);
	pyjson_i64(pyjson_get(stats, "tokens_received"), &r->spent.received);
	if (r->spent.cost == 0 && !export_is_free(stats) &&
			(r->spent.sent > 0 || r->spent.received > 0))
		r->spent.cost = NAN;
}

static void parts_take_resumed(struct record *r, const struct pyjson *event)
{
	int64_t n;

	r->whole = false;
	r->coming = 0;
	if (pyjson_i64(pyjson_get(event, "steps"), &n) && n >= 0 && (size_t)n < r->n_steps) {
		parts_keep_steps(r, (size_t)n);
		r->epoch++;
	}
	/* The replies that led to the next step are repeated too. */
	while (r->n_faults && r->faults[r->n_faults - 1].step >= r->n_steps)
		r->n_faults--;
	if (pyjson_i64(pyjson_get(event, "messages"), &n) && n >= 0 && (size_t)n < r->n_messages)
		r->n_messages = (size_t)n;
}

static void parts_mark(struct record *r, const struct pyjson *event, unsigned mark)
{
	int64_t step;

	if (!pyjson_i64(pyjson_get(event, "step"), &step) || step <= 0 || (size_t)step > r->n_steps)
		return;
	r->steps[step - 1].marks |= mark;
	free(take_ptr(r->steps[step - 1].row));
}

static void parts_take_event(struct record *r, const struct run_part *p, const struct pyjson *event)
{
	const char *kind = pyjson_text(pyjson_get(event, "event"));

	if (!event || str_eq(kind, "step")) {
		parts_add_step(r, p, event);
	} else if (str_eq(kind, "open")) {
		parts_take_open(r, event);
	} else if (str_eq(kind, "reset")) {
		parts_set(&r->assignment, event, "observation");
	} else if (str_eq(kind, "message")) {
		parts_add_message(r, p->begin, p->end);
		r->coming |= pyjson_get(event, "is_hint") ? RECORD_HINT : 0;
	} else if (str_eq(kind, "fault")) {
		parts_add_fault(r,
				&(struct record_fault){ .range = { p->begin, p->end },
						.step = r->n_steps,
						.message = r->n_messages });
		r->coming |= export_is_blocked(event) ? RECORD_BLOCKED : RECORD_FORMAT;
	} else if (str_eq(kind, "spent")) {
		parts_take_spent(r, pyjson_get(event, "model_stats"));
	} else if (str_eq(kind, "resumed")) {
		parts_take_resumed(r, event);
	} else if (str_eq(kind, "integrity")) {
		parts_mark(r, event, RECORD_INTEGRITY);
	} else if (str_eq(kind, "end")) {
		parts_set(&r->exit_status, event, "exit_status");
		parts_set(&r->error, event, "error");
		parts_take_spent(r, pyjson_get(event, "model_stats"));
		r->whole = true;
	}
}

/* --- the end of a .traj ----------------------------------------------------------------------- */

/* The score of a submission is only in the list of all scores, as its last entry. */
static void parts_take_scores(struct record *r, const struct pyjson *scores)
{
	const struct pyjson *last = NULL;
	struct record_step *step;
	size_t n = 0, scored = 0;

	if (!scores || scores->kind != PYJSON_ARRAY || !r->n_steps)
		return;
	for (const struct pyjson *v = scores->first; v; v = v->next, n++)
		last = v;
	for (size_t i = 0; i < r->n_steps; i++)
		scored += isfinite(r->steps[i].score);
	step = &r->steps[r->n_steps - 1];
	if (n <= scored || isfinite(step->score))
		return;
	step->score = parts_score(r, last);
	free(take_ptr(step->row));
}

static void parts_take_info(struct record *r, const struct pyjson *info)
{
	pyjson_double(pyjson_get(info, "baseline_score"), &r->baseline);
	parts_set(&r->exit_status, info, "exit_status");
	parts_take_spent(r, pyjson_get(info, "model_stats"));
	parts_take_scores(r, pyjson_get(info, "score"));
}

/* Takes the names of the task, model and agent from the paths, as MLGym makes them. */
static void parts_take_names(struct record *r)
{
	auto_free char *folder = path_dirname(r->path);
	const char *name = path_basename(folder), *file = path_basename(r->path);
	const char *model_end = strstr(name, "__"), *policy = strstr(file, "_pi");
	const char *task_end = model_end ? strstr(model_end + 2, "__") : NULL;
	const char *agent_end = task_end ? strstr(task_end + 2, "__") : NULL;
	size_t n = policy ? (size_t)(policy - file) : strcspn(file, ".");

	r->task = xstrndup(file, n);
	if (!agent_end)
		return;
	r->model = xstrndup(name, (size_t)(model_end - name));
	r->agent = xstrndup(task_end + 2, (size_t)(agent_end - task_end - 2));
}

static bool parts_find_task(struct record *r, const char *name)
{
	struct task *task = NULL;
	bool maximize;
	const char *metric = scan_metric_of_mlgym(name, &maximize);

	if (metric) {
		r->metric = xstrdup(metric);
		r->minimize = !maximize;
		return true;
	}
	if (task_read(NULL, name, NULL, &task, NULL) < 0)
		return false;
	if (task->metric)
		r->metric = xstrdup(task->metric);
	r->minimize = !task->maximize;
	task_free(task);
	return true;
}

static void parts_find_metric(struct record *r)
{
	const char *dash = strrchr(r->task, '-');
	auto_free char *shorter = dash ? xstrndup(r->task, (size_t)(dash - r->task)) : NULL;

	if (!strchr(r->task, '/') && !parts_find_task(r, r->task) && shorter)
		parts_find_task(r, shorter);
}

void parts_add_others(struct record *r)
{
	auto_free char *folder = path_dirname(r->path);
	auto_free char *results = path_join(folder, EXPORT_RESULTS);
	auto_buf struct buf text = BUF_INIT(RESULTS_BYTES_MAX);
	struct arena arena = ARENA_INIT;
	const struct pyjson *v;

	if (!r->events && !r->task)
		parts_take_names(r);
	if (!r->events && fd_read_plain(results, &text, NULL) >= 0) {
		struct pyjson_source source = {
			.name = results, .data = buf_str(&text), .n = text.len
		};

		if (pyjson_read(&arena, &source, &v, NULL) >= 0)
			r->baseline = parts_score(r, pyjson_get(v, "baseline"));
	}
	arena_release(&arena);
}

void parts_take(struct record *r, const struct run_part *p)
{
	struct pyjson_source source = { .name = r->path, .data = p->data, .n = p->n };
	struct arena arena = ARENA_INIT;
	const struct pyjson *v = NULL;

	/* Look up the metric before the first score is read. */
	if (!r->events && !r->task) {
		parts_take_names(r);
		parts_find_metric(r);
	}
	if (p->data && pyjson_read(&arena, &source, &v, NULL) < 0)
		v = NULL;
	if (p->part == PART_EVENT)
		parts_take_event(r, p, v);
	else if (p->part == PART_STEP)
		parts_add_step(r, p, v);
	else if (v)
		parts_take_info(r, v);
	arena_release(&arena);
}
