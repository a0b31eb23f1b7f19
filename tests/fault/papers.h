/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_PAPERS_H
#define FAULT_PAPERS_H

#include <stdint.h>

#define PAPERS_TITLE "On Faults"

/* Starts a fake search server for papers on 127.0.0.1, in another process that ends after this one.
 * Each search finds one paper with this title. Returns the port, or 0 on failure. Call it before
 * machine_watch(), and before any fault is injected. */
uint16_t papers_serve(void);

#endif
