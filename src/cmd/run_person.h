/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_PERSON_H
#define CMD_RUN_PERSON_H

#include "run/run.h"

/* For a run that a person plays, whenever it waits: shows the output so far of the command that runs. At a terminal
 * Ctrl-C ends that command alone. */
void run_person_serve(const struct run *run);

#endif
