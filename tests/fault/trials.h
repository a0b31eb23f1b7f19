/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_TRIALS_H
#define FAULT_TRIALS_H

#include "fault.h"

/*
 * Trials: each call site of one side that a play passes fails in turn. Each trial is a process of
 * its own, which may crash or be killed without ending the others.
 *
 * A trial passes if nothing crashed, hung (120 s) or failed without a message. An act that failed
 * has to succeed when it is repeated. No process, no descriptor and (under the leak sanitizer) no
 * memory may be left. The records have to hold all observations that were given out.
 */
struct campaign {
	const char *name; /* shown in the summary */
	enum fault_side side;
	enum fault_kind kind;
};

/* Opens the files and folders that trials use. trials_tear_down() removes the folders. */
int trials_set_up(void **state);
int trials_tear_down(void **state);

/* Runs a campaign: a trial for each call site. Prints failures and a summary, and returns the
 * number of failures. A site fails at one random pass, or at each pass if FAULT_ALL is set. */
unsigned trials_run(const struct campaign *c);

/* Number of places in the code that make this call, as seen by all campaigns on a side so far. */
unsigned trials_sites_of(enum fault_side side, enum fault_call call);

#endif
