/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_MACHINE_H
#define NATIVE_MACHINE_H

#include <stdbool.h>

/*
 * Checks of this machine: each tries a thing that native sandboxes and what runs in them need. If
 * the machine refuses it for a known reason, the finding says what to do.
 */
struct machine_finding {
	bool ok;
	char detail[640];
	char fix[640]; /* advice to the user; "" when nothing is to be done */
};

struct machine_check {
	const char *name;
	bool required;                          /* no sandbox works if this check fails */
	void (*run)(struct machine_finding *f); /* fills a zeroed finding; may take seconds */
};

/* all checks; the last entry has no name */
extern const struct machine_check machine_checks[];

#endif
