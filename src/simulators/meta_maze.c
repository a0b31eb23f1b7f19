/* SPDX-License-Identifier: Apache-2.0 */
#include "simulators/kind.h"

#include <string.h>

/*
 * MetaMaze: a maze with a hidden goal, which is elsewhere in each episode (Miconi and others 2019,
 * arXiv:2002.10585). Reaching the goal is worth 10 and moves the agent to a random free cell. The
 * goal stays, so an agent that remembers the way gets there again. The episode ends if the random
 * cell is the goal itself, as in gymnax.
 *
 * The map has 11 x 11 cells. Walls are its border and each cell with an even row and an even
 * column. The observation begins with the 3 x 3 cells around the agent, row by row (1: wall). The
 * last action (one-hot of 4), the last reward and the number of steps follow.
 */

#define MAZE_SIDE 11
#define CENTRE 5
#define N_FREE 65
#define N_FREE_ODD 9   /* number of free cells in an odd row */
#define N_FREE_PAIR 14 /* number of free cells in an odd row and the even row below it */
#define MAZE_GOAL_REWARD 10
#define N_ACTIONS 4
#define N_SEEN 9
#define N_OBSERVATION (N_SEEN + N_ACTIONS + 2)

struct maze {
	int y, x, goal_y, goal_x;
	int last_action, last_reward, time;
};

static bool maze_is_free(int y, int x)
{
	return y > 0 && y < MAZE_SIDE - 1 && x > 0 && x < MAZE_SIDE - 1 &&
			(y % 2 == 1 || x % 2 == 1);
}

/* Finds the free cell of the maze with this index. Free cells are counted row by row. */
static void maze_cell(int index, int *out_y, int *out_x)
{
	int pair = index / N_FREE_PAIR, rest = index % N_FREE_PAIR;
	bool odd = rest < N_FREE_ODD;

	*out_y = 2 * pair + (odd ? 1 : 2);
	*out_x = odd ? rest + 1 : 2 * (rest - N_FREE_ODD) + 1;
}

static void maze_reset(void *state, struct sim_random *random)
{
	struct maze *maze = state;

	*maze = (struct maze){ .y = CENTRE, .x = CENTRE };
	maze_cell(sim_below(random, N_FREE), &maze->goal_y, &maze->goal_x);
}

static void maze_observe(const void *states, size_t n, void *observations)
{
	const struct maze *mazes = states;
	float(*rows)[N_OBSERVATION] = observations;

	for (size_t i = 0; i < n; i++) {
		const struct maze *maze = &mazes[i];
		float *row = rows[i];

		for (int j = 0; j < N_SEEN; j++)
			row[j] = !maze_is_free(maze->y - 1 + j / 3, maze->x - 1 + j % 3);
		for (int j = 0; j < N_ACTIONS; j++)
			row[N_SEEN + j] = maze->last_action == j;
		row[N_SEEN + N_ACTIONS] = maze->last_reward;
		row[N_SEEN + N_ACTIONS + 1] = (float)maze->time;
	}
}

static bool maze_at_goal(const struct maze *maze)
{
	return maze->y == maze->goal_y && maze->x == maze->goal_x;
}

static void maze_walk(struct maze *maze, int32_t action)
{
	/* changes of the agent's row and column for the actions up, right, down, left */
	static const int dy[N_ACTIONS] = { -1, 0, 1, 0 }, dx[N_ACTIONS] = { 0, 1, 0, -1 };

	if (maze_is_free(maze->y + dy[action], maze->x + dx[action])) {
		maze->y += dy[action];
		maze->x += dx[action];
	}
}

static void maze_step(void *states, size_t n, const void *actions, double sticky,
		struct sim_random *random, double *rewards, uint8_t *terminated)
{
	struct maze *mazes = states;
	const int32_t *choices = actions;

	for (size_t i = 0; i < n; i++) {
		struct maze *maze = &mazes[i];
		bool reached;

		maze_walk(maze, choices[i]);
		reached = maze_at_goal(maze);
		if (reached)
			maze_cell(sim_below(&random[i], N_FREE), &maze->y, &maze->x);
		maze->last_action = choices[i];
		maze->last_reward = reached ? MAZE_GOAL_REWARD : 0;
		maze->time++;
		rewards[i] = maze->last_reward;
		terminated[i] = maze_at_goal(maze);
	}
}

static const struct sim_input maze_inputs[N_OBSERVATION] = {
	[0 ... N_SEEN - 1] = { 0.5f, 2 },                  /* walls */
	[N_SEEN... N_SEEN + N_ACTIONS - 1] = { 0.25f, 2 }, /* last action */
	[N_SEEN + N_ACTIONS] = { 0, 0.1f },                /* last reward */
	[N_SEEN + N_ACTIONS + 1] = { 100, 0.01f },         /* number of steps */
};

const struct sim_kind sim_meta_maze = {
	.name = "MetaMaze",
	.rules = "gymnax",
	.shape = { { N_OBSERVATION }, 4, .n_actions = N_ACTIONS, .max_steps = 200 },
	.state_size = sizeof(struct maze),
	.sensors = { 16, 3, maze_inputs, N_OBSERVATION },
	.reset = maze_reset,
	.observe = maze_observe,
	.step = maze_step,
};
