/* SPDX-License-Identifier: Apache-2.0 */
#include "env/scoring.h"

#include "base/clock.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/observe.h"
#include "grade/key.h"

int scoring_begin(struct env_scoring *s, const char *reason, struct fh_error *err)
{
	const struct env_spec *spec = s->spec;
	bool final = !str_eq(reason, REASON_VALIDATE);

	s->reason = reason;
	s->began_ns = clock_now_ns();
	if (final)
		scores_end(&s->episode->scores, spec->task->task);
	judge_key(&spec->gym->secret, spec->task->hash, &s->episode->history, s->judge_key);
	return grade_begin(
			&(struct grade_request){
					.owner = spec->gym->owner,
					.task = spec->task->task,
					.layer = spec->task->layer,
					.binds = spec->binds,
					.n_binds = spec->n_binds,
					.python = spec->python,
					.gpus = spec->gpus,
					.episode = s->episode->sb,
					.judge_key = s->judge_key,
					.final = final,
			},
			&s->grade, err);
}

static void scoring_add_time(struct env_scoring *s)
{
	s->result->step.grading_s += (double)(clock_now_ns() - s->began_ns) / 1e9;
}

void scoring_take(struct env_scoring *s, const struct grade_result *result, struct buf *text)
{
	struct fh_step *step = &s->result->step;
	struct buf *error = &s->result->grade_error;

	scoring_add_time(s);
	if (result->verdict == GRADE_SCORED) {
		step->reward += reward_take(&s->episode->scores, s->spec->task->task, s->reward,
				s->baseline, result->score);
		step->score = result->score->metrics;
		step->n_score = result->score->n;
	} else {
		buf_add_str(error, result->text);
	}
	if (result->verdict == GRADE_BROKEN && *result->grader_log)
		buf_printf(error, "\n%s", result->grader_log);
	/* A validate that told nothing about hidden answers does not count. */
	if (result->form_only && str_eq(s->reason, REASON_VALIDATE))
		s->episode->n_validated--;
	env_result_note_integrity(s->result, result->integrity);
	observe_grade(text, result, s->spec->submission, s->baseline);
}

void scoring_forget(struct env_scoring *s)
{
	grade_free(take_ptr(s->grade));
	buf_clear(&s->result->grade_error);
	s->result->step.score = NULL;
	s->result->step.n_score = 0;
	scoring_put(s);
}

void scoring_abandon(struct env_scoring *s)
{
	scoring_add_time(s);
	scoring_forget(s);
	s->episode->n_validated--;
}

void scoring_put(const struct env_scoring *s)
{
	const struct scores *scores = &s->episode->scores;
	const struct buf *error = &s->result->grade_error;
	struct fh_step *step = &s->result->step;

	step->baseline = s->baseline->metrics;
	step->n_baseline = s->baseline->n;
	step->best = scores->best.metrics;
	step->n_best = scores->best.n;
	step->final = scores->ended;
	step->validated = scores->validated.metrics;
	step->n_validated = scores->validated.n;
	step->gap = scores_gap(scores, s->spec->task->task);
	step->grade_error = error->len ? error->data : NULL;
}

const char *scoring_refuse(const struct env_scoring *s, struct buf *room)
{
	int most = s->spec->task->task->grader.validations;

	if (!most || s->episode->n_validated < most)
		return NULL;
	buf_printf(room,
			"Not scored: an episode may validate %d times, and this one has. "
			"`submit` still scores.",
			most);
	return buf_str(room);
}
