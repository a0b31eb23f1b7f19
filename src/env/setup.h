/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_SETUP_H
#define ENV_SETUP_H

#include "base/arena.h"
#include "base/error.h"
#include "env/multiline.h"
#include "shell/session.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Sets up an agent's tools in an environment, beside the task: files beside the workspace; a script
 * that each new shell of an episode runs before anything else; a command that prints the tools'
 * state after the reset and each step. None of it counts as a step, and its output is in no
 * observation.
 */
#define SETUP_DIR "/home/agent/commands" /* first in PATH, so that the documented commands run */
#define SETUP_FILES_MAX 64
#define SETUP_FILE_BYTES_MAX (256 * 1024)
#define SETUP_STATE_BYTES_MAX 65536

struct env_setup_file {
	const char *name; /* no slash in it */
	const void *data;
	size_t n;
	bool executable;
};

struct env_setup {
	const struct env_setup_file *files;
	size_t n_files;
	const char *script; /* must end with status 0 in a reset, or that fails; NULL: none */
	const char *state;  /* prints a JSON object; NULL: none */
	const struct multiline *multiline; /* added to those of our own tools */
	size_t n_multiline;
};

/* The setup of one environment; zeroed: no tools but our own. */
struct setup {
	struct env_setup given; /* in the arena */
	struct arena arena;

	/* the reset or step that is under way */
	bool is_reset;
	int n_shells;            /* new shells that were set up */
	const char *state_error; /* the state command hangs; NULL */

	bool in_script;    /* the session runs the script, not the state command */
	int n_state_hangs; /* hangs of the state command, in a row */
	char *state;       /* JSON object that the state command printed last: untrusted; NULL */
	char *open_file;   /* in that object, or as our own tools noted it; NULL: not known */
};

/* Replaces the setup by a copy of `given`, or by none (NULL). -EINVAL, -E2BIG. */
int setup_set(struct setup *s, const struct env_setup *given, struct fh_error *err);
void setup_release(struct setup *s);

/* Commands with text on lines of their own; multiline.h. */
char *setup_quote(const struct setup *s, const char *text);
const char *setup_multiline_end(const struct setup *s, const char *line);

void setup_drop_state(struct setup *s);

/* With each reset and step. */
void setup_begin_turn(struct setup *s, bool is_reset);

/* After a reset's start, or a step's command: begins the next thing to run. 1: the session runs it;
 * 0: nothing is left to run; -EIO: the sandbox is gone. */
int setup_begin(struct setup *s, struct session *session, bool new_shell, struct fh_error *err);

/* Takes the result of what setup_begin() began, and returns as that does; -EINVAL: a reset's script
 * failed. */
int setup_take(struct setup *s, struct session *session, bool cancelled, struct fh_error *err);

#endif
