/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_SANDBOX_EXEC_H
#define CMD_SANDBOX_EXEC_H

#include "cli/cmd.h"

/* The commands `sandbox exec` and `sandbox shell`. */

extern const struct command command_sandbox_exec, command_sandbox_shell;

#endif
