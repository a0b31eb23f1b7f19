/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_ACI_H
#define ACI_ACI_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * The agent's commands: one static program, put into every sandbox under the name of each. A command
 * is a file with one function and a line in main.c's table.
 */
struct aci_command {
	const char *name;
	const char *help;                  /* how it is called */
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

/* Tells the environment that another file is open; without it the step says so later. */
void aci_tell_state(void);

/* Tells it that there is a call (inside/tools.h); false if that can't be told. */
bool aci_tell_call(void);

/* call.c: asks the environment for a service, and waits for its answer, which is the caller's to release. False
 * if there is none, and why has been printed. */
bool aci_call(const char *service, const char *text, struct buf *out_answer);

#endif
