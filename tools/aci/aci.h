/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_ACI_H
#define ACI_ACI_H

/*
 * The agent's commands: one static program, put into every sandbox under the name of each. A command
 * is a file with one function and a line in main.c's table.
 */
struct aci_command {
	const char *name;
	const char *help;                  /* one line */
	int (*run)(int argc, char **argv); /* exit status */
};

extern const struct aci_command aci_validate, aci_submit;

#endif
