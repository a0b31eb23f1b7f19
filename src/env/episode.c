/* SPDX-License-Identifier: Apache-2.0 */
#include "env/episode.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/scope.h"
#include "inside/places.h"

#include <stdlib.h>

#define RESULT_TEXT_BYTES (64 << 10)
#define NOTES_BYTES (2 << 20) /* bytes of an observation for notes and scores, besides output */

/* If more bytes than this are allocated for an observation, they are freed before the next turn. */
#define KEPT_BYTES (256 << 10)

void env_episode_begin(struct env_episode *e, uint64_t seed, uint64_t salt)
{
	scores_release(&e->scores);
	e->seed = seed;
	e->n_steps = 0;
	e->text_bytes = 0;
	e->late_requests = 0;
	sha256_init(&e->history);
	sha256_add(&e->history, &seed, sizeof(seed));
	sha256_add(&e->history, &salt, sizeof(salt));
	e->n_validated = 0;
	e->cpu_ns = 0;
	e->memory_peak_bytes = -1;
	xstrset(&e->working_dir, GUEST_WORKSPACE);
}

void env_episode_release(struct env_episode *e)
{
	scores_release(&e->scores);
	free(take_ptr(e->working_dir));
}

bool env_episode_time_is_over(const struct env_episode *e)
{
	return e->wall_end_ns != INT64_MAX && clock_now_ns() >= e->wall_end_ns;
}

void env_episode_add_usage(struct env_episode *e, int64_t started_ns, struct fh_step *step)
{
	int64_t cpu_ns = sandbox_count(e->sb, SANDBOX_CPU_NS);
	bool quick = clock_now_ns() - started_ns < SESSION_QUICK_NS;

	if (cpu_ns >= 0 && cpu_ns - e->memory_cpu_ns < SESSION_QUICK_NS)
		quick = true;
	step->cpu_s = -1;
	if (cpu_ns >= 0 && e->cpu_ns >= 0)
		step->cpu_s = (double)(cpu_ns - e->cpu_ns) / 1e9;
	e->cpu_ns = cpu_ns;
	if (!quick || e->memory_peak_bytes < 0) {
		e->memory_peak_bytes = sandbox_count(e->sb, SANDBOX_MEMORY_PEAK);
		e->memory_cpu_ns = cpu_ns;
	}
	step->memory_peak_bytes = e->memory_peak_bytes;
	step->written_bytes = sandbox_count(e->sb, SANDBOX_WRITTEN_BYTES);
}

/* --- the result of a turn --------------------------------------------------------------------- */

void env_result_init(struct env_result *r, size_t output_bytes)
{
	/* Bytes of output may become four each ("\\xff"). Notes and scores follow the output. */
	buf_init(&r->observation, 4 * output_bytes + NOTES_BYTES);
	buf_init(&r->folded, output_bytes);
	buf_init(&r->integrity, RESULT_TEXT_BYTES);
	buf_init(&r->grade_error, RESULT_TEXT_BYTES);
}

void env_result_release(struct env_result *r)
{
	buf_release(&r->observation);
	buf_release(&r->folded);
	buf_release(&r->integrity);
	buf_release(&r->grade_error);
}

void env_result_begin(struct env_result *r, int n_steps)
{
	if (r->observation.size > KEPT_BYTES) {
		buf_release(&r->observation);
		buf_release(&r->folded);
	}
	buf_clear(&r->observation);
	buf_clear(&r->integrity);
	buf_clear(&r->grade_error);
	r->step = (struct fh_step){ .step = n_steps, .exit_code = -1, .open_file = "n/a" };
}

static enum fh_outcome env_result_outcome(enum session_outcome outcome)
{
	static const enum fh_outcome outcomes[] = {
		[SESSION_OK] = FH_OUTCOME_OK,
		[SESSION_TIMEOUT] = FH_OUTCOME_TIMEOUT,
		[SESSION_OUTPUT_LIMIT] = FH_OUTCOME_OUTPUT_LIMIT,
		[SESSION_RESTARTED] = FH_OUTCOME_SHELL_RESTARTED,
		[SESSION_MEMORY_LIMIT] = FH_OUTCOME_MEMORY_LIMIT,
		[SESSION_SYNTAX] = FH_OUTCOME_SYNTAX_ERROR,
		[SESSION_GONE] = FH_OUTCOME_SANDBOX_GONE,
	};

	return outcomes[outcome];
}

void env_result_take_outcome(
		struct env_result *r, const struct session_result *command, bool cancelled)
{
	r->step.outcome = env_result_outcome(command->outcome);
	if (cancelled && command->outcome != SESSION_GONE)
		r->step.outcome = FH_OUTCOME_INTERRUPTED;
	r->step.exit_code = command->exit_code;
	env_result_note_integrity(r, command->integrity);
}

void env_result_note_integrity(struct env_result *r, const char *text)
{
	if (text)
		buf_printf(&r->integrity, "%s%s", r->integrity.len ? "; " : "", text);
}
