/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_PAPERS_H
#define FAULT_PAPERS_H

#include <stdint.h>

/* Starts a server of papers on 127.0.0.1 in another process, which ends after this one. It answers
 * each search with a paper of this title. Returns the port, or 0 on failure. Call it before
 * machine_watch(), and before faults. */
#define PAPERS_TITLE "On Faults"

uint16_t papers_serve(void);

#endif
