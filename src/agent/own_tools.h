/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_OWN_TOOLS_H
#define AGENT_OWN_TOOLS_H

#include "agent/command_file.h"

/* Programs of Fumehood in place of MLGym's bash tools. */

/* True if these files are MLGym's own, unchanged. Fumehood's programs are proven equal to MLGym's
 * functions. */
bool own_tools_fit(const struct command_file *files, size_t n);

/* Shell functions that call Fumehood's programs, to source in place of this file. NULL: source the
 * file itself. */
const char *own_tools_text(struct arena *a, const struct command_file *file);

/* Shell code to run after a state command's code, which makes MLGym's faster. Empty: none. */
const char *own_tools_state(const char *code);

#endif
