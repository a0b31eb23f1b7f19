/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_PLAYER_H
#define CMD_RUN_PLAYER_H

#include "run/episode.h"

/* Who plays an episode, as far as it takes to tell those of one run apart. */
struct run_players {
	bool several; /* any of: */
	bool models, agents, temperatures;
};

struct run_players run_players_of(const struct episode *episodes, size_t n);

/* "baseline", "openai:m (memory, t 0.5)": the agent and the temperature where there are several. Heap; "" where one
 * plays all of them. */
char *run_player(const struct run_players *players, const struct episode *e);

#endif
