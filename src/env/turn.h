/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_TURN_H
#define ENV_TURN_H

#include "base/buf.h"
#include "shell/session.h"

#include <fumehood/env.h>

/*
 * A turn is an opening, a reset, a step, an aside or a leave, which saves the memory. env/state.h
 * shows the order of their work. The functions are the parts that turns share.
 */
enum turn { TURN_OPEN, TURN_RESET, TURN_STEP, TURN_ASIDE, TURN_LEAVE };

enum work {
	WORK_NONE,
	WORK_OPEN,    /* a thread opens the environment: open.c */
	WORK_START,   /* the reset waits until the sandbox has started */
	WORK_FILES,   /* files are written into the sandbox, one after the other: files.h */
	WORK_GATEWAY, /* the gateway for an agent's program starts: gateway.h */
	WORK_COMMAND, /* the session runs the command of an action */
	WORK_SETUP,   /* the session runs the setup script or the state command: setup.h */
	WORK_EDITOR,  /* the sandbox reads which file is open: editor.h */
	WORK_GRADE,
	WORK_MEMORY, /* the agent's memory is saved at the episode's end: memory.h */
	WORK_FILE,   /* an aside puts or gets a file: aside.h */
	WORK_DONE,
};

/* The current turn, or the last one. */
struct env_turn {
	enum turn kind;
	enum work work;
	int64_t started_ns;
	int64_t deadline_ns;     /* time at which a sandbox or a gateway must have started */
	bool cancelled;          /* fh_env_interrupt() was called in this turn */
	struct fh_error failure; /* error that ended the turn; code 0: none */
	int64_t timeout_ms;      /* timeout of the action's command */
	size_t n_watched;        /* bytes of the command's output that env_output() has passed on */
	int requests;            /* REQUEST_* bits that the command asked for */
};

/* Fails with -EBUSY while a turn of the environment is under way, and with -EPROTO if it is not
 * open. Fails with -EPERM in a fork. */
int turn_check_idle(const struct fh_env *env, struct fh_error *err);
/* Fails as turn_check_idle() does, and with -EPROTO before the first reset. */
int turn_check_reset(const struct fh_env *env, struct fh_error *err);

/* Sets if the gym's poller drives the environment's turns. Otherwise fh_env_wait() does. */
void turn_set_polled(struct fh_env *env, bool polled);

/* Return true if fh_env_interrupt() was called. turn_take_interrupt() also forgets the call. */
bool turn_is_interrupted(const struct fh_env *env);
bool turn_take_interrupt(struct fh_env *env);

/*
 * Takes an interrupt that came before the turn. Returns false if there was none. Else the turn runs
 * nothing, and has the outcome FH_OUTCOME_INTERRUPTED.
 */
bool turn_was_interrupted(struct fh_env *env);

/* Clears the result of the last turn, and notes the time at which this one begins. */
void turn_begin(struct fh_env *env, enum turn kind);

/* Removes secrets from a text that is going to be shown. */
void turn_hide(const struct fh_env *env, struct buf *text);

/* Ends a turn, and fills the fields that all results have. */
void turn_finish(struct fh_env *env);

/* Ends a turn with an error, and ends the episode. */
void turn_fail(struct fh_env *env, const struct fh_error *err);

/* Returns true if the shell session runs a command: the action's, or one of the tools' setup. */
bool turn_is_in_shell(const struct env_turn *turn);

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
