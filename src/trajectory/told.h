/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_TOLD_H
#define TRAJECTORY_TOLD_H

#include "python/pyjson.h"

/*
 * Scores that an observation tells: "Evaluation Score: {'Score': 1.25}". An agent's program may
 * print such a line too, so these scores count only where a record has no others.
 */

/* Reads the object behind the last `word` of an observation of n bytes: WORDS_EVALUATION or
 * WORDS_BASELINE. NULL: there is none that can be read. The value lives in the arena. */
const struct pyjson *told_read(struct arena *a, const char *seen, size_t n, const char *word);

#endif
