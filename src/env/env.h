/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_ENV_H
#define ENV_ENV_H

#include "base/buf.h"
#include "env/command.h"
#include "env/setup.h"
#include "task/task.h"

#include <fumehood/env.h>

/* Operations on an environment for Fumehood's other parts, beside the public API. */

/*
 * Replaces the tools' setup; NULL removes it. Call it before a reset, which writes the files and
 * runs the script. All data is copied. -EBUSY: a reset or step is under way. -EINVAL, -E2BIG: the
 * setup is wrong or too large.
 */
int env_set_setup(struct fh_env *env, const struct env_setup *setup, struct fh_error *err);

/*
 * Returns the end word (multiline.h) if a command on this line takes a text from the next lines.
 * NULL: the line is complete. Lives until the next env_set_setup().
 */
const char *env_multiline_end(const struct fh_env *env, const char *line);

/*
 * Shows "[key]" instead of the secret in all results of steps from now on (base/hide.h). A server
 * that knows the secret may have the agent print it. Replaces the secret of an earlier call; NULL:
 * none. The secret is copied. A secret of fewer bytes than HIDE_BYTES_MIN is not hidden.
 */
void env_hide(struct fh_env *env, const char *secret);

/* Return the environment's gym, and its option `reward`. */
struct fh_gym *env_gym(const struct fh_env *env);
enum fh_reward_kind env_reward(const struct fh_env *env);

/* Returns the environment's task, which lives as long as its gym. */
const struct task *env_task(const struct fh_env *env);

/* Returns the text of the agent's memory file (memory.h) when the episode began. NULL: it had none.
 * Lives until the next reset. */
const struct buf *env_memory(const struct fh_env *env);

/*
 * Begins to save the agent's memory file (memory.h) of an episode that is closed before its end.
 * Returns false if there is nothing to save. If it returns true, fh_gym_wait() gives the
 * environment within seconds. Then call fh_env_end().
 */
bool env_leave_begin(struct fh_env *env);

/*
 * Appends the complete lines that the action's command printed since the last call, to show them to
 * people who wait. The observation begins with the lines of all calls; its last newline may be
 * missing. Appends nothing while no command of an action runs.
 */
void env_output(struct fh_env *env, struct buf *out);

/* Returns how many bytes the action's command has printed so far; 0 while none runs. */
size_t env_printed(const struct fh_env *env);

/* Appends the last complete lines of these, at most `most` bytes, as agents see them. A progress
 * bar's carriage return ends a line too. */
void env_output_tail(struct fh_env *env, size_t most, struct buf *out);

/* Returns true while a submission is scored for a step. */
bool env_is_grading(const struct fh_env *env);

/*
 * Completes a path in the shell's folder (path_completion.h), between steps. It counts as no step
 * and is not recorded.
 */
void env_complete_path(struct fh_env *env, const char *start, struct buf *out);

/*
 * Packs the workspace of an idle environment without the entry `except`, and writes it to a pipe:
 * sandbox_pack(). It counts as no step and is not recorded. Works from a reset to the close.
 */
int env_pack(struct fh_env *env, const char *except, int to, struct fh_error *err);

/* --- foreign agents: env/command.h ------------------------------------------------------------ */
/*
 * Begins a step that runs an agent's command, as fh_env_step_start() begins one with an action. The
 * strings are copied. Calls that are under way when the step ends get no answer.
 */
int env_run_agent_start(struct fh_env *env, const struct env_agent *agent, struct fh_error *err);

/* Answers a call, and copies the JSON. Does nothing if the step has ended. */
void env_answer_call(struct fh_env *env, const struct env_answer *answer);

#endif
