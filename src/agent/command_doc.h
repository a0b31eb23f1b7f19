/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_COMMAND_DOC_H
#define AGENT_COMMAND_DOC_H

#include "agent/command_file.h"

/* The comment lines that document one command, as they stand in its file. */
struct command_doc {
	const char *file;
	const char *text; /* the lines below `# @yaml`; NULL: there are none */
	size_t n;
	int line;    /* number of the first */
	bool script; /* `#` alone is the comment's sign, where it is `# ` above a function */
};

/* Fills all but the name, which is there, from the YAML in the lines. -EINVAL. */
int command_doc_read(struct arena *a, const struct command_doc *doc, struct agent_command *command,
		struct fh_error *err);

#endif
