/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/grade.h"

#include "base/clock.h"
#include "base/job.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "grade/kinds.h"
#include "inside/places.h"

#include <assert.h>
#include <errno.h>
#include <sys/wait.h>

/* Nanoseconds to wait for the player's process to end after the judge rejected. The way it ended
 * explains the rejection. */
#define PATIENCE_NS (200 * NS_PER_MS)

static const struct grade_kind *const kinds[] = {
	[GRADER_CSV] = &grade_csv,
	[GRADER_SCRIPT] = &grade_script,
	[GRADER_DUEL] = &grade_duel,
	[GRADER_MLGYM] = &grade_mlgym,
};

/* --- copying the submission and starting the programs ----------------------------------------- */

static void grade_conclude(struct grade *g, enum grade_verdict verdict, const char *text)
{
	g->result.verdict = verdict;
	buf_clear(&g->text);
	buf_add_str(&g->text, text);
}

/*
 * Returns true if the grading's sentence can't reveal hidden answers. Either no program has run, or
 * the csv grader has refused the file's form. Sentences of other graders may tell what their
 * program has seen. In a duel they may quote the agent's code, which has seen questions of the
 * judge.
 */
static bool grade_is_form_only(const struct grade *g)
{
	if (g->result.verdict == GRADE_SCORED || g->integrity)
		return false;
	return !g->n_programs || (g->kind == &grade_csv && g->result.verdict == GRADE_REJECTED);
}

/* Lets the episode go on if it is paused. Waits for the end of the pausing. */
static void grade_resume(struct grade *g)
{
	if (g->pausing)
		job_end(take_ptr(g->pausing), NULL);
	if (g->paused)
		sandbox_resume(g->request.episode);
	g->paused = false;
}

/* Returns true once the stopped programs and the pausing have ended. Then resumes the episode. */
static bool grade_settle(struct grade *g)
{
	bool all_over = !g->pausing || job_is_over(g->pausing);

	for (size_t i = 0; i < g->n_programs; i++)
		all_over &= program_advance(&g->programs[i]);
	if (all_over)
		grade_resume(g);
	g->over = all_over;
	return all_over;
}

/* Stops the grader's programs and fills in the grading's result. */
static void grade_finish(struct grade *g)
{
	struct grade_result *r = &g->result;

	r->form_only = grade_is_form_only(g);
	if (r->verdict == GRADE_REJECTED && g->kind->explain)
		g->kind->explain(g, &g->text);
	if (g->n_programs)
		str_add_utf8(&g->grader_log, buf_str(&g->programs[0].log), g->programs[0].log.len);
	for (size_t i = 0; i < g->n_programs; i++)
		program_stop(&g->programs[i]);
	close_fd(&g->submission_fd);
	r->score = r->verdict == GRADE_SCORED ? &g->score : NULL;
	r->text = buf_str(&g->text);
	r->grader_log = buf_str(&g->grader_log);
	r->integrity = g->integrity;
	g->finished = true;
	grade_settle(g);
}

static void grade_break(struct grade *g, const char *why)
{
	grade_conclude(g, GRADE_BROKEN, why);
	grade_finish(g);
}

/* Sets the grading's verdict if the submission could not be copied. */
static void grade_no_submission(struct grade *g, const struct fh_error *why)
{
	switch (why->code) {
	case -ENOENT:
		grade_conclude(g, GRADE_NO_SUBMISSION, "");
		buf_printf(&g->text, "There is no file %s, and only that file is scored.",
				g->submission);
		break;
	case -ELOOP:
	case -EINVAL:
		grade_conclude(g, GRADE_REJECTED, why->message);
		buf_add_str(&g->text, "; only a regular file is scored");
		g->integrity = xasprintf("the submission %s is not a regular file: %s",
				g->request.task->grader.submission, why->message);
		break;
	case -EFBIG:
		grade_conclude(g, GRADE_REJECTED, why->message);
		break;
	default:
		grade_conclude(g, GRADE_BROKEN, why->message);
		break;
	}
	grade_finish(g);
}

static void grade_start(struct grade *g)
{
	struct fh_error err;

	if (g->kind->start(g, &err) < 0)
		grade_break(g, err.message);
}

/*
 * Pauses the episode while two players run, and starts them then. A process of the episode could
 * see that the first one uses the CPU, for example, and tell the second. Machines that can't pause
 * an episode grade it all the same.
 */
static void grade_pause(struct grade *g)
{
	struct fh_error err;
	int r = sandbox_pause(g->request.episode, &g->pausing, &err);

	g->paused = r == 0;
	if (r == -EOPNOTSUPP)
		grade_start(g);
	else if (r < 0)
		grade_break(g, err.message);
}

static void grade_on_paused(struct grade *g)
{
	struct fh_error err;

	if (job_end(take_ptr(g->pausing), &err) < 0)
		grade_break(g, err.message);
	else
		grade_start(g);
}

/* Takes the copy of the submission from the episode's sandbox. */
static void grade_on_submission(struct grade *g)
{
	struct sandbox_answer answer = { .fd = -1 };
	struct fh_error err;

	g->getting = 0;
	if (sandbox_take(g->request.episode, &answer, &err) < 0) {
		grade_no_submission(g, &err);
		return;
	}
	g->submission_fd = answer.fd;
	judge_key_of(g->request.judge_key, answer.digest, g->judge_key);
	if (g->request.task->grader.players > 1)
		grade_pause(g);
	else
		grade_start(g);
}

/* Path inside of the sandbox of the submission: a file, or the whole workspace. */
static const char *grade_submission(struct arena *a, const struct task *task)
{
	const char *submission = task->grader.submission;

	return *submission ? arena_printf(a, GUEST_WORKSPACE "/%s", submission) : GUEST_WORKSPACE;
}

const char *grade_submission_name(struct arena *a, const struct task *task)
{
	if (task->grader.kind == GRADER_MLGYM && task->grader.call == MLGYM_PYTHON)
		return GUEST_WORKSPACE "/target.py";
	return grade_submission(a, task);
}

int grade_begin(const struct grade_request *request, struct grade **out, struct fh_error *err)
{
	const struct task_grader *grader = &request->task->grader;
	struct grade *g = xcalloc(1, sizeof(*g));
	int r;

	g->request = *request;
	g->kind = kinds[grader->kind];
	if (!g->kind->gpus)
		g->request.gpus = NULL;
	g->submission_fd = -1;
	g->submission = grade_submission(&g->arena, request->task);
	g->deadline_ns = clock_now_ns() + grader->timeout_ms * NS_PER_MS;
	buf_init(&g->text, GRADE_TEXT_BYTES);
	buf_init(&g->grader_log, GRADE_TEXT_BYTES);
	if (grade_takes_all(request->task))
		r = g->kind->start(g, err);
	else
		r = sandbox_get_begin(request->episode, GUEST_WORKSPACE, grader->submission,
				grader->submission_bytes, &g->getting, err);
	if (r < 0) {
		grade_free(g);
		return error_wrap(err, "start the grader of %s", request->task->id);
	}
	*out = g;
	return 0;
}

/* --- the result ------------------------------------------------------------------------------- */

/* Adds to the message why the grader's first program wrote no result. Returns false if it wrote
 * one. */
static bool grade_failed(const struct program *p, struct buf *text)
{
	if (p->out_of_memory)
		buf_add_str(text, "the grader was ended for using too much memory");
	else if (WIFSIGNALED(p->status))
		buf_printf(text, "the grader was ended by signal %d", WTERMSIG(p->status));
	else if (WEXITSTATUS(p->status))
		buf_printf(text, "the grader exited with status %d", WEXITSTATUS(p->status));
	else if (p->result.truncated)
		buf_printf(text, "the grader's result has over %d bytes", PROGRAM_RESULT_BYTES);
	return text->len > 0;
}

/* Adds the CPU seconds of all players to a metric of the score. The judge is program 0, and does
 * not count. The sandboxes' counters measure them, so the agent's code can't falsify them. */
static int grade_add_cpu(struct grade *g, const char *metric, struct fh_error *err)
{
	int64_t sum_ns = 0;

	for (size_t i = 1; i < g->n_programs; i++) {
		int64_t ns = program_cpu_ns(&g->programs[i]);

		if (ns < 0)
			return error_say(err, ENOTSUP,
					"this machine does not count the CPU time of sandboxes");
		sum_ns += ns;
	}
	return score_increase(&g->score, metric, (double)sum_ns / 1e9, err);
}

/* Sets the grading's verdict from the result that its first program wrote. */
static void grade_judge(struct grade *g)
{
	const char *cpu_metric = g->request.task->grader.cpu_metric;
	const struct program *p = &g->programs[0];
	const char *metric = g->request.task->metric;
	struct score_reading reading = { 0 };
	struct fh_error err;

	g->judged = true;
	grade_conclude(g, GRADE_BROKEN, "");
	if (grade_failed(p, &g->text))
		return;
	if (score_read(buf_str(&p->result), p->result.len, &reading, &err) < 0) {
		buf_printf(&g->text, "the grader's result can't be read: %s", err.message);
		return;
	}
	g->score = reading.score;
	if (reading.rejection)
		grade_conclude(g, GRADE_REJECTED, reading.rejection);
	else if (cpu_metric && grade_add_cpu(g, cpu_metric, &err) < 0)
		buf_add_str(&g->text, err.message);
	else if (score_find(&g->score, metric))
		grade_conclude(g, GRADE_SCORED, "");
	else
		buf_printf(&g->text, "the grader gave no metric '%s'", metric);
	if (reading.tampering)
		g->integrity = xasprintf(
				"the submission worked on its grader: %s", reading.rejection);
	free(reading.rejection);
}

bool grade_advance(struct grade *g)
{
	const struct program *broken = NULL;
	bool all_over = true;
	int64_t now;

	if (g->over || g->finished)
		return g->over || grade_settle(g);
	if (g->getting && sandbox_answered(g->request.episode, g->getting))
		grade_on_submission(g);
	if (!g->finished && g->pausing && job_is_over(g->pausing))
		grade_on_paused(g);
	if (g->finished)
		return g->over;
	for (size_t i = 0; i < g->n_programs; i++) {
		struct program *p = &g->programs[i];

		all_over &= program_advance(p);
		if (!broken && p->state == PROGRAM_BROKEN)
			broken = p;
	}
	now = clock_now_ns();
	if (g->n_programs && !g->judged && g->programs[0].state == PROGRAM_ENDED) {
		grade_judge(g);
		if (g->deadline_ns > now + PATIENCE_NS)
			g->deadline_ns = now + PATIENCE_NS;
	}
	if (broken && !(g->judged && g->result.verdict == GRADE_SCORED)) {
		/* If Fumehood itself failed, report that in place of any verdict but a score. Other
		 * verdicts could blame the player for it. */
		grade_break(g, broken->err.message);
	} else if (g->judged) {
		if (g->result.verdict != GRADE_REJECTED || all_over || now >= g->deadline_ns)
			grade_finish(g);
	} else if (now >= g->deadline_ns) {
		grade_conclude(g, GRADE_REJECTED, "");
		buf_printf(&g->text, "Scoring took longer than %g s and was ended.",
				(double)g->request.task->grader.timeout_ms / 1e3);
		grade_finish(g);
	}
	return g->over;
}

static_assert(SANDBOX_FDS * (1 + GRADE_PROGRAMS_MAX) <= GRADE_FDS && GRADE_FDS < WAITS_MAX,
		"a grade waits for too much");

void grade_waits(const struct grade *g, struct waits *w)
{
	if (g->over)
		return;
	if (g->getting && !g->finished)
		sandbox_answer_waits(g->request.episode, w);
	if (g->pausing)
		waits_add(w, job_fd(g->pausing), POLLIN);
	for (size_t i = 0; i < g->n_programs; i++)
		program_waits(&g->programs[i], w);
	if (!g->finished)
		waits_until(w, g->deadline_ns);
}

bool grade_is_copying(const struct grade *g)
{
	return g->getting && !g->finished;
}

void grade_cancel(struct grade *g, const char *why)
{
	if (g->finished)
		return;
	grade_conclude(g, GRADE_REJECTED, why);
	grade_finish(g);
}

const struct grade_result *grade_result(const struct grade *g)
{
	return &g->result;
}

void grade_free(struct grade *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n_programs; i++)
		program_release(&g->programs[i]);
	grade_resume(g);
	close_fd(&g->submission_fd);
	score_release(&g->score);
	buf_release(&g->text);
	buf_release(&g->grader_log);
	free(g->integrity);
	arena_release(&g->arena);
	free(g);
}
