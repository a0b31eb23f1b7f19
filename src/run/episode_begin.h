/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_BEGIN_H
#define RUN_EPISODE_BEGIN_H

#include "run/episode.h"

/* Starts to open the episode's environment. episode_start(), episode_opened(), episode_recorded(),
 * episode_advance() and episode_thought() change the phase: read it afterwards. */
void episode_start(struct episode *e);

/* In EPISODE_OPENING, returns true if the thread that opens the environment has ended. Then call
 * episode_opened(). */
bool episode_is_open(const struct episode *e);
void episode_opened(struct episode *e);

#endif
