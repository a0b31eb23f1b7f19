/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INSIDE_TOOLS_H
#define INSIDE_TOOLS_H

#include "inside/places.h"

/*
 * The contract between the agent's commands (tools/aci) and the environment (src/env). Names of
 * files are relative to GUEST_HOME. An agent can write any of these files and pipes itself, so the
 * environment does not trust their content.
 */

/* Named pipes for requests of commands: see guest/requests.c. */
#define GUEST_VALIDATE_PIPE GUEST_RUN_DIR "/validate"
#define GUEST_SUBMIT_PIPE GUEST_RUN_DIR "/submit"
#define GUEST_STATE_PIPE GUEST_RUN_DIR "/state"
#define GUEST_CALL_PIPE GUEST_RUN_DIR "/call"

/* File with the agent's memory: notes that a run may carry from one episode to the next. */
#define GUEST_MEMORY "memory.json"
#define GUEST_MEMORY_BYTES_MAX (4 << 20)

/* The editor's folder and the file of its state. The first line has the number of the line at the
 * window's center and the number of scrolls. The path of the open file follows. */
#define GUEST_EDITOR_FOLDER ".fumehood"
#define GUEST_EDITOR_STATE GUEST_EDITOR_FOLDER "/editor"
/* Variable that is set for an agent's command: `validate` waits for the score, by a call. */
#define GUEST_SCORES_VARIABLE "FUMEHOOD_SCORES"
/* Option with which the command `edit` edits nothing: it waits until its linter answers. */
#define GUEST_EDIT_READY "--ready"

/*
 * A call of a command in the sandbox to the environment outside. The command writes "SERVICE ID\n"
 * and its argument to the pipe GUEST_CALL. The environment writes "ID ok BYTES\n" and the answer to
 * GUEST_ANSWER. If it refuses, it writes "ID no BYTES\n" and a sentence that says why. An ID is
 * letters and digits. See env/calls.c and tools/aci/call.c.
 */
#define GUEST_CALL GUEST_EDITOR_FOLDER "/call"
#define GUEST_ANSWER GUEST_EDITOR_FOLDER "/answer"
#define CALL_ID_MAX 32
#define CALL_TEXT_MAX 8000  /* most bytes of the argument of a command's call to the environment */
#define CALL_BYTES_MAX 8192 /* most bytes of GUEST_CALL: a call's first line and argument */

#endif
