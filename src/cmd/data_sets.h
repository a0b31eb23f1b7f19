/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_DATA_SETS_H
#define CMD_DATA_SETS_H

#include "cli/cmd.h"
#include "data/find.h"

/* Options and functions that the commands of `fumehood data` share. */

struct data_options {
	const char *tasks_dir;
};

/* Row of a command's option table. The command's struct begins with a struct data_options. */
#define DATA_TASKS_DIR_OPTION                                                                      \
	{                                                                                          \
		"tasks-dir", 0, OPTION_PATH, offsetof(struct data_options, tasks_dir), "DIR",      \
				"a folder with more tasks, looked up first"                        \
	}

/* Returns a word for how a data set comes to this machine, for lists and JSON. */
const char *data_kind(const struct dataset *set);

/* Calls `each` for every data set that the command's arguments name. Prints errors. Returns the
 * highest exit status of the calls. */
int data_for_each(struct command_context *ctx,
		int (*each)(struct command_context *ctx, const struct dataset *set));

#endif
