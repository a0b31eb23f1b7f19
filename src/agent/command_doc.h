/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_COMMAND_DOC_H
#define AGENT_COMMAND_DOC_H

#include "agent/command.h"
#include "base/error.h"

/* The comment lines that document a command, as its file has them. */
struct command_doc {
	const char *file;
	const char *text; /* the lines below `# @yaml`; NULL: none */
	size_t n;
	int line;    /* number of the first */
	bool script; /* lines begin with `#`, and above a function with `# ` */
};

/* Fills the command from the YAML in the lines. The name is set before. -EINVAL. */
int command_doc_read(struct arena *a, const struct command_doc *doc, struct agent_command *command,
		struct fh_error *err);

#endif
