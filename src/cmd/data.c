/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

/* fumehood data: a group of commands. */

extern const struct command command_data, command_data_list, command_data_fetch,
		command_data_verify, command_data_where;

static const struct command *const commands[] = {
	&command_data_list,
	&command_data_fetch,
	&command_data_verify,
	&command_data_where,
	NULL,
};

const struct command command_data = {
	.name = "data",
	.summary = "list, fetch and verify the data of tasks",
	.commands = commands,
};
