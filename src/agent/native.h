/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_NATIVE_H
#define AGENT_NATIVE_H

#include "agent/command.h"
#include "base/str.h"
#include "model/chat.h"

/*
 * Gives Fumehood's own commands for a list of their names, in the same order. -EINVAL for an
 * unknown name.
 */
int native_commands(struct arena *a, const struct texts *names, struct commands *out,
		struct fh_error *err);

/* Names of Fumehood's commands for agents, and of special actions like `skip`, for completion. */
const char *const *native_words(size_t *out_n);

/* Describes the commands as tools for a model that calls tools. The first tool is `bash`. */
struct chat_tool *command_tools(struct arena *a, const struct commands *all, size_t *out_n);

/* The tool `bash`, whose argument is a command for the shell. */
extern const struct agent_command tool_shell;

/* Finds the tool with this name: `bash` or a command. NULL: none. */
const struct agent_command *tool_find(const struct commands *all, const char *name);

#endif
