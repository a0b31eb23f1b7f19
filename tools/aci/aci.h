/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_ACI_H
#define ACI_ACI_H

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

/* Tells the environment that another file is open; without it the step says so later. */
void aci_tell_state(void);

#endif
