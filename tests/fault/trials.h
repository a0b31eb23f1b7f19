/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_TRIALS_H
#define FAULT_TRIALS_H

#include "fault.h"

/*
 * Trials: every place in the code that calls into the kernel on one side fails in turn, along plays. Each
 * trial is a process of its own, so that a crash is one trial's, and so that it may be what dies.
 *
 * After each: nothing crashed, hung (60 s) or went wrong without a word; what failed works when it is
 * done again; no process and no descriptor is left, and no memory (under the leak sanitizer); the records
 * hold what was given out.
 */
struct campaign {
	const char *name; /* of the summary */
	enum fault_side side;
	enum fault_kind kind;
};

/* Opens what trials need; closed by trials_tear_down(). */
int trials_set_up(void **state);
int trials_tear_down(void **state);

/* Prints what went wrong, and a summary that begins with "fault: "; how many trials did. FAULT_ALL=1 fails
 * each site each time that it is passed, instead of the first time and another. */
unsigned trials_run(const struct campaign *c);

/* Sites of a call that any campaign has seen on a side so far. */
unsigned trials_sites_of(enum fault_side side, enum fault_call call);

#endif
