/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_PERSON_H
#define CMD_RUN_PERSON_H

#include "run/run.h"

/*
 * Shows the output so far of the command that a person typed. Call it whenever the person's run
 * waits. At a terminal, Ctrl-C ends only that command.
 */
void run_person_serve(const struct run *run);

#endif
