/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_RUNNING_STEP_H
#define VIEW_RUNNING_STEP_H

#include "python/pyjson.h"

#include <stdbool.h>

/* The running step of a run without an end, or the step in which the run was cut. */
struct running_step {
	const char *sentence;      /* "step 3 runs" */
	const struct pyjson *live; /* object of the run's live.json; NULL: it has none for now */
	int64_t seconds;           /* time since the beginning of that; -1: unknown */
};

/* Looks at the run with this events.jsonl, which has so many steps. `is_written`: a process records
 * it. The result lives in the arena. */
struct running_step running_step_look(
		struct arena *a, const char *events, bool is_written, int64_t steps);

#endif
