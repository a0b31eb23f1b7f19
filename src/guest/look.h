/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_LOOK_H
#define GUEST_LOOK_H

#include "guest/start.h"

/* Set variables and the command line that all shells share. Run in the nursery. */
void look_plain(void);
void look_command_line(void);

/* look_new() sets a shell's own variables and enters the workspace. Run in the shell. */
void look_new(const struct shell_start *start);
void look_hide_builtin(void);

/* Sets LAST_ACTION after a command. */
void look_last_action(const char *text);

#endif
