/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_LOOK_H
#define GUEST_LOOK_H

#include "guest/start.h"

/*
 * look_plain() sets the variables that all shells share. look_command_line() changes the command
 * line that /proc shows. Both run in the nursery, from which shells are cloned.
 */
void look_plain(void);
void look_command_line(void);

/* Sets a shell's own variables and enters the workspace. Runs in the shell. */
void look_new(const struct shell_start *start);
void look_hide_builtin(void);

/* Sets the variable LAST_ACTION to the text of the command that has ended. */
void look_last_action(const char *text);

#endif
