/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_ACI_H
#define ACI_ACI_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * The agent's commands: one static program that every sandbox has under the name of each command. A
 * command is a const struct with one function, and a line in main.c's table.
 */
struct aci_command {
	const char *name;
	const char *help;                  /* usage */
	int (*run)(int argc, char **argv); /* exit status */
};

extern const struct aci_command aci_validate, aci_submit; /* request.c */
extern const struct aci_command aci_open, aci_goto, aci_scroll_down, aci_scroll_up,
		aci_create;                                                     /* open.c */
extern const struct aci_command aci_edit, aci_insert;                           /* edit.c */
extern const struct aci_command aci_search_dir, aci_search_file, aci_find_file; /* search.c */

extern const struct aci_command aci_memory_write, aci_memory_read; /* memory.c */
extern const struct aci_command aci_describe, aci_plot;
extern const struct aci_command aci_literature_search, aci_parse_pdf_url; /* papers.c */

/* Prints the usage, after the reason if there is one, on stdout. Returns exit status 1. */
int aci_usage(const struct aci_command *command, const char *why);

/* Tells the environment at once that another file is open; the end of the step would tell it,
 * too. */
void aci_tell_state(void);

/* Tells the environment that a call waits (inside/tools.h). False if that fails. */
bool aci_tell_call(void);

/* Asks the environment for a service and blocks until its answer, which the caller releases. False,
 * with a sentence on stderr, if there is no answer. */
bool aci_call(const char *service, const char *text, struct buf *out_answer);

#endif
