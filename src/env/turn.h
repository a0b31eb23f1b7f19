/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_TURN_H
#define ENV_TURN_H

#include "env/state.h"

/*
 * A turn is a reset, a step, an aside, or the saving of the memory when an episode is left. These
 * are the parts that turns share.
 */

/* Fails with -EBUSY while a turn of the environment is under way, and with -EPROTO if it is not
 * open. Fails with -EPERM in a fork. */
int turn_check_idle(const struct fh_env *env, struct fh_error *err);

/* Lets the gym's poller drive the environment's turns, or fh_env_wait(). */
void turn_set_polled(struct fh_env *env, bool polled);

/* Whether fh_env_interrupt() was called. turn_take_interrupt() also forgets the call. */
bool turn_is_interrupted(const struct fh_env *env);
bool turn_take_interrupt(struct fh_env *env);

/*
 * Takes an interrupt that came before the turn. Returns false if there was none. Else the turn runs
 * nothing, and has the outcome FH_OUTCOME_INTERRUPTED.
 */
bool turn_was_interrupted(struct fh_env *env);

/* Clears the results of the last reset or step, and notes the time at which this one begins. */
void turn_begin(struct fh_env *env, enum turn turn);

/* Removes secrets from a text that is going to be shown. */
void turn_hide(const struct fh_env *env, struct buf *text);

/* Sets the episode's scores so far in env->step. */
void turn_put_scores(struct fh_env *env);

/* Ends a reset or step, and fills the fields that all results have. */
void turn_finish(struct fh_env *env);

/* Ends a reset or step with an error, and ends the episode. */
void turn_fail(struct fh_env *env, const struct fh_error *err);

/* Whether the shell session runs a command, either the action's or one of the tools' setup. */
bool turn_is_in_shell(const struct fh_env *env);

/* Stores how a command has ended: outcome, exit code, signs of tampering. */
void turn_take_outcome(struct fh_env *env, const struct session_result *result);

/* Adds a sentence to the signs of tampering. NULL: nothing. */
void turn_note_integrity(struct fh_env *env, const char *text);

/* Stores the shell's working directory after a command, and whether a new shell was started. */
void turn_note_shell(struct fh_env *env, const struct session_result *result);

/*
 * Has the shell run the script of the tools' setup and the state command. 1: WORK_SETUP is under
 * way; 0: done; below 0: an error of setup_begin() or setup_take().
 */
int turn_set_up(struct fh_env *env, bool new_shell, struct fh_error *err);
int turn_set_up_advance(struct fh_env *env, struct fh_error *err);

/* Begins to save the agent's memory file (WORK_MEMORY). Returns false if the environment saves
 * none, or if that fails. A note in the observation tells of the failure. */
bool turn_keep_memory(struct fh_env *env);
/* True when saving the agent's memory file has ended. A note in the observation tells of a
 * failure. */
bool turn_memory_is_kept(struct fh_env *env);

/* Takes the sandbox' descriptors out of the poller, and closes the sandbox. */
void turn_close_sandbox(struct fh_env *env);

/* Takes the environment out of the poller, with its sandbox' descriptors. */
void turn_forget(struct fh_env *env);

/*
 * Ends the episode in any state, and frees its sandbox and session. turn_drop() calls turn_forget()
 * first.
 */
void turn_end_episode(struct fh_env *env);
void turn_drop(struct fh_env *env);

#endif
