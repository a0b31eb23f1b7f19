/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_OWN_TOOLS_H
#define AGENT_OWN_TOOLS_H

#include "agent/command_file.h"

/* Programs of Fumehood in place of MLGym's bash tools. */

/* True if there are files of bash functions, and all of them are MLGym's own, unchanged. Then
 * Fumehood's programs, which do the same, can replace the functions. */
bool own_tools_fit(const struct command_file *files, size_t n);

/* Returns shell functions that call Fumehood's programs, to source in place of the command file
 * `file`. NULL: source `file` itself. */
const char *own_tools_text(struct arena *a, const struct command_file *file);

/* Shell code to run after `code`, a state command's code. If `code` is MLGym's, this makes the
 * state command faster. "" for other code. */
const char *own_tools_state(const char *code);

#endif
