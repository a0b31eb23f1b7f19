/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_COMMAND_DOC_H
#define AGENT_COMMAND_DOC_H

#include "agent/command.h"
#include "base/error.h"

/* Comment lines in a command file that document a command. */
struct command_doc {
	const char *file;
	const char *text; /* the n bytes below the line `# @yaml`; NULL: none */
	size_t n;
	int line; /* number in the file of the first line of `text` */
	/* true: lines of a script, which begin with `#`; false: lines of a function, which begin
	 * with `# ` */
	bool script;
};

/* Fills the command from the YAML in its comment lines. The caller has set the name. -EINVAL:
 * malformed. */
int command_doc_read(struct arena *a, const struct command_doc *doc, struct agent_command *command,
		struct fh_error *err);

#endif
