/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_PAPERS_H
#define FAULT_PAPERS_H

#include <stdint.h>

/* A server of papers on 127.0.0.1, in a process of its own that ends after this one: whatever is asked, it has
 * found one, of this title. Its port, or 0. To be called before machine_watch(), and before faults. */
#define PAPERS_TITLE "On Faults"

uint16_t papers_serve(void);

#endif
