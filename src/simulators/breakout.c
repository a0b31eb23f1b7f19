/* SPDX-License-Identifier: Apache-2.0 */
#include "simulators/kind.h"

#include <string.h>

/*
 * Breakout on 10 x 10 cells, of MinAtar (Young and Tian 2019, arXiv:1903.03176). The ball moves
 * diagonally, and the paddle in the last row sends it back. Three rows of bricks are worth 1 each.
 * The observation has four planes for each cell: paddle, ball, last place of the ball, brick.
 */

#define BREAKOUT_SIDE 10
#define LAST (BREAKOUT_SIDE - 1)
#define BRICKS_TOP 1 /* row of the highest bricks */
#define BRICKS_ROWS 3
#define START_ROW 3
#define START_PADDLE 4

enum breakout_plane { PADDLE, BALL, TRAIL, BRICK, PLANES };

enum breakout_move { STAY, LEFTWARDS, RIGHTWARDS };

struct breakout {
	int x, y, dx, dy; /* place and direction of the ball */
	int last_x, last_y;
	int paddle;
	int n_bricks;
	bool struck; /* the ball met a brick in the last step, so the next brick stays */
	uint8_t last_action;
	bool bricks[BRICKS_ROWS][BREAKOUT_SIDE];
};

static void breakout_fill(struct breakout *game)
{
	memset(game->bricks, true, sizeof(game->bricks));
	game->n_bricks = BRICKS_ROWS * BREAKOUT_SIDE;
}

static void breakout_reset(void *state, struct sim_random *random)
{
	struct breakout *game = state;
	bool right = sim_below(random, 2) == 1;

	*game = (struct breakout){
		.x = right ? LAST : 0,
		.y = START_ROW,
		.dx = right ? -1 : 1,
		.dy = 1,
		.last_x = right ? LAST : 0,
		.last_y = START_ROW,
		.paddle = START_PADDLE,
		/* keep the last action at a reset, as MinAtar does */
		.last_action = game->last_action,
	};
	breakout_fill(game);
}

static void breakout_observe(const void *states, size_t n, void *observations)
{
	const struct breakout *games = states;
	uint8_t(*rows)[BREAKOUT_SIDE][BREAKOUT_SIDE][PLANES] = observations;

	memset(observations, 0, n * sizeof(*rows));
	for (size_t i = 0; i < n; i++) {
		const struct breakout *game = &games[i];
		uint8_t(*bricks)[BREAKOUT_SIDE][PLANES] = rows[i] + BRICKS_TOP;

		rows[i][LAST][game->paddle][PADDLE] = 1;
		rows[i][game->y][game->x][BALL] = 1;
		rows[i][game->last_y][game->last_x][TRAIL] = 1;
		for (int row = 0; row < BRICKS_ROWS; row++)
			for (int x = 0; x < BREAKOUT_SIDE; x++)
				bricks[row][x][BRICK] = game->bricks[row][x];
	}
}

/* Returns the brick at a place, or NULL. */
static bool *breakout_brick(struct breakout *game, int x, int y)
{
	int row = y - BRICKS_TOP;

	if (row < 0 || row >= BRICKS_ROWS || !game->bricks[row][x])
		return NULL;
	return &game->bricks[row][x];
}

/* Lets the ball reach the last row in column x. Returns true if the ball is lost. Otherwise it
 * bounces, and *y is set to the row that it came from. */
static bool breakout_reach_bottom(struct breakout *game, int x, int *y)
{
	if (game->n_bricks == 0)
		breakout_fill(game);
	if (game->x != game->paddle && x != game->paddle)
		return true;
	/* A ball that comes from the side of the paddle goes back the way that it came. */
	if (game->x != game->paddle)
		game->dx = -game->dx;
	game->dy = -game->dy;
	*y = game->y;
	return false;
}

static void breakout_move_paddle(struct breakout *game, enum breakout_move move)
{
	if (move == LEFTWARDS && game->paddle > 0)
		game->paddle--;
	if (move == RIGHTWARDS && game->paddle < LAST)
		game->paddle++;
}

/* Moves the ball of Breakout. Returns the reward. *out_lost is true if the ball is lost, which ends
 * the episode. */
static int breakout_move_ball(struct breakout *game, bool *out_lost)
{
	int x = game->x + game->dx, y = game->y + game->dy, reward = 0;
	bool *brick = NULL;

	*out_lost = false;
	if (x < 0 || x > LAST) {
		x = x < 0 ? 0 : LAST;
		game->dx = -game->dx;
	}
	if (y < 0) {
		y = 0;
		game->dy = -game->dy;
	} else if ((brick = breakout_brick(game, x, y))) {
		if (!game->struck) {
			*brick = false;
			game->n_bricks--;
			game->dy = -game->dy;
			y = game->y;
			reward = 1;
		}
	} else if (y == LAST) {
		*out_lost = breakout_reach_bottom(game, x, &y);
	}
	game->struck = brick;
	game->last_x = game->x;
	game->last_y = game->y;
	game->x = x;
	game->y = y;
	return reward;
}

/* Does one step of each game of Breakout. moves[action] is by how much that action moves the
 * paddle. */
static void breakout_step(struct breakout *games, size_t n, const int32_t *actions, double sticky,
		struct sim_random *random, const uint8_t *moves, double *rewards,
		uint8_t *terminated)
{
	for (size_t i = 0; i < n; i++) {
		struct breakout *game = &games[i];
		uint8_t action = (uint8_t)actions[i];
		bool lost;

		if (sticky > 0 && sim_uniform(&random[i]) < sticky)
			action = game->last_action;
		game->last_action = action;
		breakout_move_paddle(game, moves[action]);
		rewards[i] = breakout_move_ball(game, &lost);
		terminated[i] = lost;
	}
}

static void breakout_step_gymnax(void *states, size_t n, const void *actions, double sticky,
		struct sim_random *random, double *rewards, uint8_t *terminated)
{
	static const uint8_t moves[] = { STAY, LEFTWARDS, RIGHTWARDS };

	breakout_step(states, n, actions, sticky, random, moves, rewards, terminated);
}

static void breakout_step_minatar(void *states, size_t n, const void *actions, double sticky,
		struct sim_random *random, double *rewards, uint8_t *terminated)
{
	/* moves of the paddle for the actions none, left, up, right, down, fire */
	static const uint8_t moves[] = { STAY, LEFTWARDS, STAY, RIGHTWARDS, STAY, STAY };

	breakout_step(states, n, actions, sticky, random, moves, rewards, terminated);
}

/* Bricks are many, and tell little of where the paddle should go: show them weakly. */
static const struct sim_input breakout_inputs[PLANES] = {
	[PADDLE] = { 0, 4 },
	[BALL] = { 0, 4 },
	[TRAIL] = { 0, 4 },
	[BRICK] = { 0, 0.4f },
};

const struct sim_kind sim_breakout_gymnax = {
	.name = "Breakout",
	.rules = "gymnax",
	.shape = { { BREAKOUT_SIDE, BREAKOUT_SIDE, PLANES }, 1, .n_actions = 3, .max_steps = 1000 },
	.state_size = sizeof(struct breakout),
	.sensors = { 64, 2, breakout_inputs, PLANES },
	.reset = breakout_reset,
	.observe = breakout_observe,
	.step = breakout_step_gymnax,
};

const struct sim_kind sim_breakout_minatar = {
	.name = "Breakout",
	.rules = "minatar",
	.shape = { { BREAKOUT_SIDE, BREAKOUT_SIDE, PLANES }, 1, .n_actions = 6, .sticky = 0.1 },
	.state_size = sizeof(struct breakout),
	.sensors = { 64, 2, breakout_inputs, PLANES },
	.reset = breakout_reset,
	.observe = breakout_observe,
	.step = breakout_step_minatar,
};
