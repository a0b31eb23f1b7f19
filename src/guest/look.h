/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_LOOK_H
#define GUEST_LOOK_H

#include "guest/start.h"

/* In the nursery: sets all that is the same in every shell. */
void look_plain(void);
void look_command_line(void);

/* In a shell: sets its own variables, and enters the workspace. */
void look_new(const struct shell_start *start);
void look_hide_builtin(void);

/* After a command. */
void look_last_action(const char *text);

#endif
