/* SPDX-License-Identifier: Apache-2.0 */
#include "env/env.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/sized.h"
#include "env/aside.h"
#include "env/drive.h"
#include "env/path_completion.h"
#include "env/observe.h"
#include "env/reset.h"
#include "env/state.h"
#include "env/step.h"
#include "web/fetch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- beginnings ------------------------------------------------------------------------------- */

static int env_begin_reset(struct fh_env *env, const struct fh_reset *reset, struct fh_error *err)
{
	struct fh_reset read;
	int r;

	err = error_or(err, &(struct fh_error)FH_ERROR_INIT);
	r = SIZED_READ(fh_reset, &read, reset, err);
	return r < 0 ? r : reset_begin(env, &read, err);
}

static int env_begin_step(struct fh_env *env, const struct fh_action *action, struct fh_error *err)
{
	struct fh_action read;
	int r = SIZED_READ(fh_action, &read, action, err);

	return r < 0 ? r : step_begin(env, &read, err);
}

static int env_begin_aside(struct fh_env *env, const struct fh_action *action, struct fh_error *err)
{
	struct fh_action read;
	int r = SIZED_READ(fh_action, &read, action, err);

	return r < 0 ? r : aside_begin(env, &read, err);
}

static int env_begin_put(struct fh_env *env, const struct fh_file *file, struct fh_error *err)
{
	struct fh_file read;
	int r = SIZED_READ(fh_file, &read, file, err);

	return r < 0 ? r : aside_begin_put(env, &read, err);
}

/* --- the blocking form of the API ------------------------------------------------------------- */

int fh_env_reset(struct fh_env *env, const struct fh_reset *reset, struct fh_step *out,
		struct fh_error *err)
{
	return env_block(env, env_begin_reset(env, reset, err), out, err);
}

int fh_env_step(struct fh_env *env, const struct fh_action *action, struct fh_step *out,
		struct fh_error *err)
{
	return env_block(env, env_begin_step(env, action, err), out, err);
}

int fh_env_validate(struct fh_env *env, struct fh_step *out, struct fh_error *err)
{
	return env_block(env, step_begin_request(env, REQUEST_VALIDATE, err), out, err);
}

int fh_env_submit(struct fh_env *env, struct fh_step *out, struct fh_error *err)
{
	return env_block(env, step_begin_request(env, REQUEST_SUBMIT, err), out, err);
}

int fh_env_aside(struct fh_env *env, const struct fh_action *action, struct fh_step *out,
		struct fh_error *err)
{
	return env_block(env, env_begin_aside(env, action, err), out, err);
}

int fh_env_put_file(struct fh_env *env, const struct fh_file *file, struct fh_error *err)
{
	struct fh_step step;

	return env_block(env, env_begin_put(env, file, err), &step, err);
}

int fh_env_get_file(struct fh_env *env, const char *path, size_t max_bytes, const void **out_data,
		size_t *out_n, struct fh_error *err)
{
	struct fh_step step;
	int r = env_block(env, aside_begin_get(env, path, max_bytes, err), &step, err);

	if (r < 0)
		return r;
	*out_data = fh_env_file(env, out_n);
	return 0;
}

/* --- starts ----------------------------------------------------------------------------------- */

int fh_env_reset_start(struct fh_env *env, const struct fh_reset *reset, struct fh_error *err)
{
	return env_start(env, env_begin_reset(env, reset, err));
}

int fh_env_step_start(struct fh_env *env, const struct fh_action *action, struct fh_error *err)
{
	return env_start(env, env_begin_step(env, action, err));
}

int fh_env_validate_start(struct fh_env *env, struct fh_error *err)
{
	return env_start(env, step_begin_request(env, REQUEST_VALIDATE, err));
}

int fh_env_submit_start(struct fh_env *env, struct fh_error *err)
{
	return env_start(env, step_begin_request(env, REQUEST_SUBMIT, err));
}

int fh_env_aside_start(struct fh_env *env, const struct fh_action *action, struct fh_error *err)
{
	return env_start(env, env_begin_aside(env, action, err));
}

int fh_env_put_file_start(struct fh_env *env, const struct fh_file *file, struct fh_error *err)
{
	return env_start(env, env_begin_put(env, file, err));
}

int fh_env_get_file_start(
		struct fh_env *env, const char *path, size_t max_bytes, struct fh_error *err)
{
	return env_start(env, aside_begin_get(env, path, max_bytes, err));
}

int env_run_agent_start(struct fh_env *env, const struct env_agent *agent, struct fh_error *err)
{
	return env_start(env, step_begin_agent(env, agent, err));
}

void env_answer_call(struct fh_env *env, const struct env_answer *answer)
{
	gateway_answer(&env->gateway, answer);
}

bool env_leave_begin(struct fh_env *env)
{
	if (env->turn.work != WORK_NONE || !turn_keep_memory(env))
		return false;
	env->turn.kind = TURN_LEAVE;
	env->turn.failure.code = 0;
	snprintf(env->episode.exit_status, sizeof(env->episode.exit_status), "early_exit");
	return env_start(env, 0) == 0;
}

/* --- functions that run no turn --------------------------------------------------------------- */

const void *fh_env_file(const struct fh_env *env, size_t *out_n)
{
	*out_n = env->file.n;
	return env->file.data;
}

int env_set_setup(struct fh_env *env, const struct env_setup *setup, struct fh_error *err)
{
	int r = turn_check_idle(env, err);

	return r < 0 ? r : setup_set(&env->setup, setup, err);
}

const char *env_multiline_end(const struct fh_env *env, const char *line)
{
	return setup_multiline_end(&env->setup, line);
}

void env_hide(struct fh_env *env, const char *secret)
{
	if (env->hidden)
		explicit_bzero(env->hidden, strlen(env->hidden));
	free(env->hidden);
	env->hidden = secret ? xstrdup(secret) : NULL;
}

struct fh_gym *env_gym(const struct fh_env *env)
{
	return env->spec.gym;
}

enum fh_reward_kind env_reward(const struct fh_env *env)
{
	return env->scoring.reward;
}

const struct task *env_task(const struct fh_env *env)
{
	return env->spec.task->task;
}

const struct buf *env_memory(const struct fh_env *env)
{
	return memory_began(&env->memory);
}

void env_output(struct fh_env *env, struct buf *out)
{
	const struct buf *output;
	struct buf lines = BUF_INIT(0);
	const char *last;

	if (env->turn.work != WORK_COMMAND)
		return;
	output = session_output(env->episode.session);
	if (output->len == env->turn.n_watched)
		return;
	lines.data = output->data + env->turn.n_watched;
	last = memrchr(lines.data, '\n', output->len - env->turn.n_watched);
	if (!last)
		return;
	lines.len = (size_t)(last + 1 - lines.data);
	env->turn.n_watched += lines.len;
	observe_output(out, &env->result.folded, env->spec.task->task, &lines);
	/* Add the newline: MLGym's observations drop the last one. */
	if (out->len && out->data[out->len - 1] != '\n')
		buf_add_char(out, '\n');
	turn_hide(env, out);
}

size_t env_printed(const struct fh_env *env)
{
	return env->turn.work == WORK_COMMAND ? session_output(env->episode.session)->len : 0;
}

void env_output_tail(struct fh_env *env, size_t most, struct buf *out)
{
	size_t n = env_printed(env), from = n > most ? n - most : 0;
	char *data = n ? session_output(env->episode.session)->data : NULL;
	struct buf lines = BUF_INIT(0);

	while (n > from && data[n - 1] != '\n' && data[n - 1] != '\r')
		n--;
	while (from && from < n && data[from - 1] != '\n' && data[from - 1] != '\r')
		from++;
	if (from == n)
		return;
	lines.data = data + from;
	lines.len = n - from;
	observe_output(out, &env->result.folded, env->spec.task->task, &lines);
	turn_hide(env, out);
}

bool env_is_grading(const struct fh_env *env)
{
	return env->turn.work == WORK_GRADE;
}

void env_complete_path(struct fh_env *env, const char *start, struct buf *out)
{
	if (env && env->turn.work == WORK_NONE && env->episode.phase == PHASE_ON)
		path_completion_list(env->episode.sb, env->episode.working_dir, start, out);
}

int env_pack(struct fh_env *env, const char *except, int to, struct fh_error *err)
{
	int r = turn_check_reset(env, err);

	return r < 0 ? r : sandbox_pack(env->episode.sb, GUEST_WORKSPACE, except, to, err);
}

const char *fh_outcome_name(enum fh_outcome outcome)
{
	static const char *const names[] = {
		[FH_OUTCOME_OK] = "ok",
		[FH_OUTCOME_TIMEOUT] = "timeout",
		[FH_OUTCOME_OUTPUT_LIMIT] = "output_limit",
		[FH_OUTCOME_SHELL_RESTARTED] = "shell_restarted",
		[FH_OUTCOME_MEMORY_LIMIT] = "memory_limit",
		[FH_OUTCOME_MALFORMED_EDIT] = "malformed_edit",
		[FH_OUTCOME_SYNTAX_ERROR] = "syntax_error",
		[FH_OUTCOME_SANDBOX_GONE] = "sandbox_gone",
		[FH_OUTCOME_INTERRUPTED] = "interrupted",
	};

	return (size_t)outcome < ARRAY_SIZE(names) ? names[outcome] : "unknown";
}
