/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_TURN_H
#define ENV_TURN_H

#include "env/state.h"

/* The parts of a turn that resets and steps share. */

/* Fails with -EBUSY while a turn is under way. */
int turn_check_idle(const struct fh_env *env, struct fh_error *err);

/* Clears the results of the last turn, and starts the clock. */
void turn_begin(struct fh_env *env, enum turn turn);

/* Removes secrets from a text that is going to be shown. */
void turn_hide(const struct fh_env *env, struct buf *text);

/* Ends the turn, and fills the fields that every reset and step has. */
void turn_finish(struct fh_env *env);

/* Ends the turn with an error, and ends the episode. */
void turn_fail(struct fh_env *env, const struct fh_error *err);

/* Whether the session runs a command, of the action or of the tools. */
bool turn_is_in_shell(const struct fh_env *env);

/* Notes the shell's folder after a command, and whether the shell is a new one. */
void turn_note_shell(struct fh_env *env, const struct session_result *result);

/*
 * Has the session run the tools' setup. 1: WORK_SETUP is under way; 0: done; below 0: see setup.h.
 */
int turn_set_up(struct fh_env *env, bool new_shell, struct fh_error *err);
int turn_set_up_advance(struct fh_env *env, struct fh_error *err);

/* Begins WORK_MEMORY. False: there is no memory to keep, or it can't be kept, which a note says. */
bool turn_keep_memory(struct fh_env *env);
bool turn_memory_is_kept(struct fh_env *env); /* true also if it can't be kept, which a note says */

/* Takes the sandbox' descriptors out of the poller, and closes the sandbox. */
void turn_close_sandbox(struct fh_env *env);

/* Takes the environment out of the poller, with its sandbox' descriptors. */
void turn_forget(struct fh_env *env);

/* Ends the episode in any state. turn_drop() calls turn_forget() first. */
void turn_end_episode(struct fh_env *env);
void turn_drop(struct fh_env *env);

#endif
