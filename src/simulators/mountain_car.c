/* SPDX-License-Identifier: Apache-2.0 */
#include "simulators/kind.h"

#include <math.h>

/*
 * MountainCarContinuous: a car in a valley whose engine is too weak to climb the hill at once
 * (Moore 1990). The observation is position and speed, the action the force. The reward is 100 at
 * the goal, less a tenth of the squared force. The force counts there as it was given; the engine
 * clips it to -1 and 1.
 *
 * The two sets of rules round different terms to float32. Only gymnasium stops the car at the left
 * wall.
 */

#define POWER 0.0015
#define GRAVITY 0.0025
#define CAR_LEFT (-1.2f)
#define CAR_RIGHT 0.6f
#define SPEED_MAX 0.07f
#define GOAL 0.45f
#define CAR_GOAL_REWARD 100
#define START_LEFT (-0.6)
#define START_RIGHT (-0.4)
#define CAR_MAX_STEPS 999

struct car {
	float position, speed;
	double start; /* car's position before the first step, which gymnasium keeps as a double */
	bool moved;   /* true: the car has done its first step of the episode */
};

static float car_clamp(float value, float low, float high)
{
	return value < low ? low : value > high ? high : value;
}

static void car_reset(void *state, struct sim_random *random)
{
	double start = START_LEFT + (START_RIGHT - START_LEFT) * sim_uniform(random);

	*(struct car *)state = (struct car){ .position = (float)start, .start = start };
}

static void car_observe(const void *states, size_t n, void *observations)
{
	const struct car *cars = states;
	float(*rows)[2] = observations;

	for (size_t i = 0; i < n; i++) {
		rows[i][0] = cars[i].position;
		rows[i][1] = cars[i].speed;
	}
}

/* --- gymnax ----------------------------------------------------------------------------------- */

/* Computes all terms in float32, as gymnax does. */
static void car_step_gymnax(void *states, size_t n, const void *actions, double sticky,
		struct sim_random *random, double *rewards, uint8_t *terminated)
{
	struct car *cars = states;
	const float *forces = actions;

	for (size_t i = 0; i < n; i++) {
		struct car *car = &cars[i];
		float slope = cosf(3 * car->position) * (float)GRAVITY;
		float speed = car->speed + car_clamp(forces[i], -1, 1) * (float)POWER - slope;
		bool at_goal;

		speed = car_clamp(speed, -SPEED_MAX, SPEED_MAX);
		car->position = car_clamp(car->position + speed, CAR_LEFT, CAR_RIGHT);
		at_goal = car->position >= GOAL;
		car->speed = at_goal && speed < 0 ? 0 : speed;
		terminated[i] = at_goal;
		rewards[i] = -0.1f * (forces[i] * forces[i]) + (at_goal ? CAR_GOAL_REWARD : 0);
	}
}

/* --- gymnasium -------------------------------------------------------------------------------- */

/*
 * Returns the change of the car's speed by the engine's force and the slope. It is rounded as in
 * Python under NumPy 2 (NEP 50). A force within limits is a float32, and so are its products. A
 * clipped force is a Python float, a double.
 */
static double car_push(float force, double slope)
{
	if (force > 1 || force < -1)
		return (force > 0 ? POWER : -POWER) - slope;
	return force * (float)POWER - (float)slope;
}

/* Does the car's first step: the state is float64 before it and float32 after it. No wall is within
 * reach. */
static void car_move_first(struct car *car, float force)
{
	double speed = car_push(force, GRAVITY * cos(3 * car->start));

	car->position = (float)(car->start + speed);
	car->speed = (float)speed;
	car->moved = true;
}

static void car_move(struct car *car, float force)
{
	double slope = GRAVITY * cos((double)(3 * car->position));
	float speed = car->speed + (float)car_push(force, slope);

	speed = car_clamp(speed, -SPEED_MAX, SPEED_MAX);
	car->position = car_clamp(car->position + speed, CAR_LEFT, CAR_RIGHT);
	car->speed = car->position == CAR_LEFT && speed < 0 ? 0 : speed;
}

static void car_step_gymnasium(void *states, size_t n, const void *actions, double sticky,
		struct sim_random *random, double *rewards, uint8_t *terminated)
{
	struct car *cars = states;
	const float *forces = actions;

	for (size_t i = 0; i < n; i++) {
		struct car *car = &cars[i];
		double force = forces[i];

		if (car->moved)
			car_move(car, forces[i]);
		else
			car_move_first(car, forces[i]);
		terminated[i] = car->position >= GOAL && car->speed >= 0;
		rewards[i] = (terminated[i] ? CAR_GOAL_REWARD : 0) - force * force * 0.1;
	}
}

static const struct sim_input car_inputs[] = { { -0.3f, 2 }, { 0, 25 } };

#define CAR                                                                                        \
	.name = "MountainCarContinuous",                                                           \
	.shape = { .observation = { 2 }, .observation_size = 4, .max_steps = CAR_MAX_STEPS },      \
	.state_size = sizeof(struct car), .reset = car_reset, .observe = car_observe,              \
	.sensors = { 2, 2, car_inputs, 2 }

const struct sim_kind sim_mountain_car_gymnax = {
	CAR,
	.rules = "gymnax",
	.step = car_step_gymnax,
};

const struct sim_kind sim_mountain_car_gymnasium = {
	CAR,
	.rules = "gymnasium",
	.step = car_step_gymnasium,
};
