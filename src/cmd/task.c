/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/task.h"

/* fumehood task: a group of commands. */

static const struct command *const commands[] = {
	&command_task_list,
	&command_task_show,
	&command_task_check,
	&command_task_new,
	NULL,
};

const struct command command_task = {
	.name = "task",
	.summary = "list, show, check and make tasks",
	.commands = commands,
};
