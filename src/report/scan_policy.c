/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "base/str.h"
#include "report/scan_inside.h"
#include "trajectory/splitter.h"

#include <math.h>
#include <string.h>

#define POLICY_DEPTH 2              /* braces around a turn, and around a number of the run */
#define POLICY_MORE_BYTES (1 << 20) /* most bytes that are added to mend a cut file */

/* Reads <task>_pi<N>_<time>.json, which a trainer of a policy writes for each episode. */

bool scan_is_policy(const struct pyjson *root)
{
	return pyjson_get(root, "policy_step") && pyjson_get(root, "trajectory");
}

/* Reads a score of `validation_history`: a number, a pair of turn and score, or an object. */
static double policy_score(const struct pyjson *v, const char *metric)
{
	double score = NAN;

	if (v->kind == PYJSON_OBJECT) {
		pyjson_double(pyjson_get(v, "score"), &score);
		return isnan(score) ? scan_value(v, metric) : score;
	}
	if (v->kind == PYJSON_ARRAY && v->n == 2)
		v = v->first->next;
	pyjson_double(v, &score);
	return score;
}

static void policy_turn(struct scan *s, const struct pyjson *turn)
{
	const struct pyjson *score = pyjson_get(turn, "score");
	struct scan_step *step;
	int64_t exit_code = 0;

	if (turn->kind != PYJSON_OBJECT) {
		scan_add_broken_step(s);
		return;
	}
	step = scan_add_step(s);
	step->kind = action_letter_of(pyjson_text(pyjson_get(turn, "action")));
	pyjson_i64(pyjson_get(turn, "exit_code"), &exit_code);
	step->failed = exit_code != 0;
	step->timed_out = str_eq(pyjson_string(pyjson_get(turn, "outcome")), "timeout");
	if (!pyjson_double(score, &step->score))
		step->score = scan_value(score, s->row->metric);
	step->scored = step->graded = !isnan(step->score);
	pyjson_double(pyjson_get(turn, "duration_s"), &step->duration_s);
	step->graded_s = step->graded ? step->duration_s : 0;
	pyjson_double(pyjson_get(turn, "grading_s"), &step->graded_s);
	pyjson_double(pyjson_get(turn, "reward"), &step->reward);
}

/* The improvement is positive if the last score is better, so it tells which scores are. */
static void policy_set_direction(struct scan *s, const struct pyjson *metrics)
{
	struct run_row *row = s->row;
	double gain;

	if (row->metric && !row->guessed)
		return;
	row->metric = row->metric ? row->metric : "score";
	row->guessed = 1;
	if (pyjson_double(pyjson_get(metrics, "improvement"), &gain) && gain != 0 &&
			row->last != row->baseline)
		row->maximize = (gain > 0) == (row->last > row->baseline);
}

/* Takes the scores of the turns, for a record that was cut before its own. */
static void policy_set_told_scores(struct scan *s)
{
	for (size_t i = 0; i < s->n_steps; i++)
		if (s->steps[i].scored) {
			s->row->last = s->steps[i].score;
			s->row->best = scan_better(s->row, s->row->best, s->row->last);
		}
}

static void policy_set_scores(struct scan *s, const struct pyjson *metrics)
{
	const struct pyjson *history = pyjson_get(metrics, "validation_history");
	struct run_row *row = s->row;

	pyjson_double(pyjson_get(metrics, "baseline_score"), &row->baseline);
	pyjson_double(pyjson_get(metrics, "final_score"), &row->last);
	policy_set_direction(s, metrics);
	row->best = row->last;
	if (!history || history->kind != PYJSON_ARRAY)
		return;
	for (const struct pyjson *v = history->first; v; v = v->next)
		row->best = scan_better(row, row->best, policy_score(v, row->metric));
}

void scan_policy(struct scan *s, const struct pyjson *root)
{
	const struct pyjson *turns = pyjson_get(root, "trajectory");
	const struct pyjson *metrics = pyjson_get(root, "metrics"),
			    *info = pyjson_get(root, "info");
	struct run_row *row = s->row;

	pyjson_i64(pyjson_get(root, "policy_step"), &row->policy_step);
	pyjson_i64(pyjson_get(root, "example_id"), &row->number);
	row->started = scan_text(s, pyjson_get(root, "timestamp"));
	row->exit_status = scan_text(s, pyjson_get(info, "exit_status"));
	row->complete = row->exit_status != NULL;
	policy_set_scores(s, metrics);
	for (const struct pyjson *v = turns->kind == PYJSON_ARRAY ? turns->first : NULL; v;
			v = v->next)
		policy_turn(s, v);
	if (row->damage && isnan(row->best))
		policy_set_told_scores(s);
	scan_sum_steps(s);
	row->failed = 0;
	for (size_t i = 0; i < s->n_steps; i++)
		row->failed += s->steps[i].failed;
	row->refused = row->integrity = -1; /* not recorded */
	pyjson_i64(pyjson_get(info, "errors"), &row->format_errors);
	/* A trainer may record the reward that it learns from. */
	pyjson_double(pyjson_get(metrics, "reward"), &row->reward);
	pyjson_double(pyjson_get(root, "reward"), &row->reward);
}

/* --- records that are damaged ----------------------------------------------------------------- */

struct policy_mending {
	const char *data;
	int64_t copied; /* bytes of it that are in `out`, or replaced */
	struct buf *out;
};

/* Replaces a turn that can't be read by null. */
static void policy_mend_part(void *user, enum record_part part, int64_t begin, int64_t end)
{
	struct policy_mending *q = user;
	auto_arena struct arena arena = ARENA_INIT;
	struct pyjson_source source = {
		.name = "", .data = q->data + begin, .n = (size_t)(end - begin)
	};
	const struct pyjson *v;

	if (part != PART_STEP || pyjson_read(&arena, &source, &v, NULL) >= 0)
		return;
	buf_add(q->out, q->data + q->copied, (size_t)(begin - q->copied));
	buf_add_str(q->out, "null");
	q->copied = end;
}

/* Ends a JSON text that was cut, after its last whole turn or member of the record. */
static void policy_close(struct buf *text)
{
	char closers[POLICY_DEPTH];
	unsigned depth = 0, kept_depth = 0;
	size_t kept = 0;
	bool in_string = false;

	for (size_t i = 0; i < text->len; i++) {
		char c = text->data[i];

		if (in_string) {
			i += c == '\\';
			in_string = c != '"';
			continue;
		}
		in_string = c == '"';
		if (c == '{' || c == '[') {
			if (depth < POLICY_DEPTH)
				closers[depth] = c == '{' ? '}' : ']';
			depth++;
		}
		if ((c == '}' || c == ']') && depth)
			depth--;
		if (!strchr("}],", c) || !c || depth > POLICY_DEPTH)
			continue;
		kept = c == ',' ? i : i + 1;
		kept_depth = depth;
	}
	text->len = kept;
	while (kept_depth)
		buf_add_char(text, closers[--kept_depth]);
}

bool scan_mend_policy(struct scan *s, const struct pyjson_source *from, const struct pyjson **out)
{
	auto_buf struct buf text = BUF_INIT(from->n + POLICY_MORE_BYTES);
	struct policy_mending q = { .data = from->data, .out = &text };
	struct pyjson_source source = { .name = from->name };
	const struct pyjson *root;
	struct splitter splitter;

	splitter_init(&splitter, false);
	splitter_bytes(&splitter, from->data, from->n, policy_mend_part, &q);
	buf_add(&text, from->data + q.copied, from->n - (size_t)q.copied);
	policy_close(&text);
	source.data = buf_str(&text);
	source.n = text.len;
	if (text.truncated || pyjson_read(&s->own, &source, &root, NULL) < 0 ||
			!scan_is_policy(root))
		return false;
	*out = root;
	return true;
}
