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
 * Sets up an agent's tools in an environment, besides the task's. There are files beside the
 * workspace, and a script that each new shell of an episode runs before anything else. A command
 * prints the tools' state after the reset and each step. None of these counts as a step, and their
 * output is in no observation.
 */
/* folder of the files of the agent's tools; first in PATH, so that the documented commands run */
#define SETUP_DIR "/home/agent/commands"
#define SETUP_FILES_MAX 64
#define SETUP_FILE_BYTES_MAX (256 * 1024)
#define SETUP_STATE_BYTES_MAX 65536

struct env_setup_file {
	/* file name: not empty, without a slash, and its first character is not a dot */
	const char *name;
	const void *data;
	size_t n;
	bool executable;
};

struct env_setup {
	const struct env_setup_file *files;
	size_t n_files;
	/* Shell text that each new shell runs first. A reset fails if the text's status is not 0.
	 * NULL: none. */
	const char *script;
	const char *state; /* shell text that prints the tools' state, a JSON object; NULL: none */
	/* Commands of the agent's tools that take a text from the next lines, beside Fumehood's
	 * own. */
	const struct multiline *multiline;
	size_t n_multiline;
};

/* The setup of the agent's tools in one environment. Zeroed: only Fumehood's own tools. */
struct setup {
	struct env_setup given; /* copy of the setup that setup_set() got, in the arena */
	struct arena arena;

	/* The members below belong to the current reset or step, or are kept between steps. */
	bool is_reset;
	int n_shells; /* number of shells that were set up in this reset or step */
	/* message that the state command, which prints the tools' state, hangs; NULL: there is
	 * none */
	const char *state_error;

	/* true: the shell runs the setup script; false: it runs the state command */
	bool in_script;
	int n_state_hangs; /* how often in a row the command that prints the tools' state hung */
	/* JSON object that the state command printed last, untrusted; NULL: none. */
	char *state;
	/* path of the file open in the editor, as `state` or our own tools tell it; NULL: not
	 * known */
	char *open_file;
};

/* Replaces the setup of the agent's tools by a copy of `given`, or by none (NULL). -EINVAL, -E2BIG:
 * it is wrong or too large. */
int setup_set(struct setup *s, const struct env_setup *given, struct fh_error *err);
void setup_release(struct setup *s);

/* Call multiline_quote() and multiline_end() with all commands that take lines of text. The agent's
 * tools may add such commands. */
char *setup_quote(const struct setup *s, const char *text);
const char *setup_multiline_end(const struct setup *s, const char *line);

void setup_drop_state(struct setup *s);

/* Prepares the agent's tools for a reset or step. Call it when one begins. */
void setup_begin_turn(struct setup *s, bool is_reset);

/*
 * After a reset's start or a step's command, begins the setup script or the state command of the
 * agent's tools. 1: the shell session runs it; 0: nothing is left to run; -EIO: the sandbox is
 * gone.
 */
int setup_begin(struct setup *s, struct session *session, bool new_shell, struct fh_error *err);

/*
 * Takes the result of the setup script or the state command of the agent's tools, and begins the
 * next. Returns as setup_begin(). -EINVAL: the script failed in a reset.
 */
int setup_take(struct setup *s, struct session *session, bool cancelled, struct fh_error *err);

#endif
