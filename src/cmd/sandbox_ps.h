/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_SANDBOX_PS_H
#define CMD_SANDBOX_PS_H

#include "cli/cmd.h"

/* The command `sandbox ps`. */

extern const struct command command_sandbox_ps;

#endif
