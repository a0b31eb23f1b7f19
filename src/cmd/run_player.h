/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_PLAYER_H
#define CMD_RUN_PLAYER_H

#include "run/episode.h"

/* Which parts of a player (model, agent, temperature) differ between the episodes of a run. */
struct run_players {
	bool several; /* models, agents or temperatures differ */
	bool models, agents, temperatures;
};

struct run_players run_players_of(const struct episode *episodes, size_t n);

/*
 * Name of an episode's player: "baseline", "openai:m (memory, t 0.5)". Agent and temperature are
 * left out if all are equal. "" if all episodes have the same player. A heap string.
 */
char *run_player(const struct run_players *players, const struct episode *e);

#endif
