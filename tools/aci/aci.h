/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_ACI_H
#define ACI_ACI_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * The agent's commands: one static program, which every sandbox has under the name of each command.
 * A command is a const struct with one function, and a line in main.c's table.
 */
struct aci_command {
	const char *name;
	const char *help;                  /* usage text */
	int (*run)(int argc, char **argv); /* does the command's work; returns the exit status */
};

extern const struct aci_command aci_validate, aci_submit; /* defined in request.c */
/* commands defined in open.c */
extern const struct aci_command aci_open, aci_goto, aci_scroll_down, aci_scroll_up, aci_create;
/* commands defined in edit.c */
extern const struct aci_command aci_edit, aci_insert;
/* commands defined in search.c */
extern const struct aci_command aci_search_dir, aci_search_file, aci_find_file;

extern const struct aci_command aci_memory_write, aci_memory_read; /* defined in memory.c */
extern const struct aci_command aci_describe, aci_plot;
extern const struct aci_command aci_literature_search, aci_parse_pdf_url; /* defined in papers.c */
extern const struct aci_command aci_gateway;

/* Prints `why`, if it is not NULL, and the command's usage on stdout. Returns exit status 1. */
int aci_usage(const struct aci_command *command, const char *why);

/* Tells the environment that the editor has saved which file is open. So the environment reads the
 * path of that file at the end of the step. */
void aci_tell_state(void);

/* Tells the environment that a request file is waiting (inside/tools.h). False if that fails. */
bool aci_tell_call(void);

#define ACI_CALL_TIMEOUT_S 300
/* Asks the environment for a service and blocks until the answer, which the caller releases. False
 * if there is no answer; a sentence on stderr gives the reason. */
bool aci_call(const char *service, const char *text, int timeout_s, struct buf *out_answer);

#endif
