/* SPDX-License-Identifier: Apache-2.0 */
#include "simulators/simulators.h"

#include "simulators/kind.h"
#include "simulators/wiring.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))
#define COPIES_MAX 1000000
#define SIMULATORS_STEPS_MAX 1000000000
#define DEFAULT_RULES "gymnax"

struct fh_sim {
	const struct sim_kind *kind;
	struct fh_sim_shape shape;
	/* number of copies of the environment; bytes of one observation */
	size_t n, observation_bytes;
	char *states;
	struct sim_random *random;
	int32_t *steps; /* number of steps in each copy's episode so far */
	/* NULL, or the wiring of all copies; then plain observations and actions go through */
	struct sim_wiring *wiring;
	void *plain, *switched;
};

static const struct sim_kind *const kinds[] = {
	&sim_breakout_gymnax,
	&sim_breakout_minatar,
	&sim_meta_maze,
	&sim_mountain_car_gymnasium,
	&sim_mountain_car_gymnax,
	NULL,
};

/* --- a batch ---------------------------------------------------------------------------------- */

static int sim_find_kind(const struct sim_kind **out, const char *name, const char *rules)
{
	bool found = false;

	for (const struct sim_kind *const *kind = kinds; *kind; kind++) {
		if (strcmp((*kind)->name, name) != 0)
			continue;
		found = true;
		if (strcmp((*kind)->rules, rules) == 0) {
			*out = *kind;
			return 0;
		}
	}
	return found ? -ENOSYS : -ENOENT;
}

static size_t sim_observation_bytes(const struct fh_sim_shape *shape)
{
	size_t bytes = (size_t)shape->observation_size;

	for (size_t i = 0; i < 3 && shape->observation[i]; i++)
		bytes *= (size_t)shape->observation[i];
	return bytes;
}

static void sim_begin(struct fh_sim *sim, size_t i)
{
	sim->steps[i] = 0;
	sim->kind->reset(sim->states + i * sim->kind->state_size, &sim->random[i]);
}

PUBLIC int fh_sim_open(struct fh_sim **out, const char *name, const char *rules, size_t n)
{
	const struct sim_kind *kind;
	struct fh_sim *sim;
	int r = sim_find_kind(&kind, name, rules ? rules : DEFAULT_RULES);

	if (r < 0)
		return r;
	if (n < 1 || n > COPIES_MAX)
		return -EINVAL;
	sim = calloc(1, sizeof(*sim));
	if (!sim)
		return -ENOMEM;
	sim->kind = kind;
	sim->shape = kind->shape;
	sim->n = n;
	sim->observation_bytes = sim_observation_bytes(&kind->shape);
	sim->states = calloc(n, kind->state_size);
	sim->random = calloc(n, sizeof(*sim->random));
	sim->steps = calloc(n, sizeof(*sim->steps));
	if (!sim->states || !sim->random || !sim->steps) {
		fh_sim_close(sim);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		sim->random[i].state = i;
		sim_begin(sim, i);
	}
	*out = sim;
	return 0;
}

PUBLIC void fh_sim_close(struct fh_sim *sim)
{
	if (!sim)
		return;
	free(sim->states);
	free(sim->random);
	free(sim->steps);
	wiring_free(sim->wiring);
	free(sim->plain);
	free(sim->switched);
	free(sim);
}

PUBLIC const struct fh_sim_shape *fh_sim_shape(const struct fh_sim *sim)
{
	return &sim->shape;
}

PUBLIC int fh_sim_configure(struct fh_sim *sim, int32_t max_steps, double sticky)
{
	/* Refuse NAN as `sticky` too, by the form of the comparison. */
	if (max_steps < 0 || max_steps > SIMULATORS_STEPS_MAX || !(sticky >= 0 && sticky <= 1))
		return -EINVAL;
	sim->shape.max_steps = max_steps;
	sim->shape.sticky = sticky;
	return 0;
}

PUBLIC int fh_sim_wire(struct fh_sim *sim, uint64_t number)
{
	if (sim->wiring || !sim->kind->sensors.n)
		return -EINVAL;
	free(sim->plain);
	free(sim->switched);
	sim->plain = calloc(sim->n, sim_observation_bytes(&sim->kind->shape));
	sim->switched = calloc(sim->n, sizeof(int32_t));
	if (!sim->plain || !sim->switched)
		return -ENOMEM;
	sim->wiring = wiring_new(sim->kind, number);
	if (!sim->wiring)
		return -ENOMEM;
	memset(sim->shape.observation, 0, sizeof(sim->shape.observation));
	sim->shape.observation[0] = sim->kind->sensors.n;
	sim->shape.observation_size = sizeof(float);
	sim->observation_bytes = sim_observation_bytes(&sim->shape);
	return 0;
}

PUBLIC void fh_sim_seed(struct fh_sim *sim, const uint64_t *seeds)
{
	for (size_t i = 0; i < sim->n; i++)
		sim->random[i] = (struct sim_random){ .state = seeds[i] };
}

PUBLIC void fh_sim_feed(struct fh_sim *sim, const double *draws, size_t n)
{
	sim->random[0].fed = draws;
	sim->random[0].n_fed = n;
}

/* Observes n copies from the first one on. */
static void sim_observe(struct fh_sim *sim, size_t first, size_t n, void *observations)
{
	const char *states = sim->states + first * sim->kind->state_size;

	sim->kind->observe(states, n, sim->wiring ? sim->plain : observations);
	if (sim->wiring)
		wiring_sense(sim->wiring, sim->plain, n, observations);
}

PUBLIC void fh_sim_plain(struct fh_sim *sim, void *observations)
{
	sim->kind->observe(sim->states, sim->n, observations);
}

PUBLIC void fh_sim_reset(struct fh_sim *sim, void *observations)
{
	for (size_t i = 0; i < sim->n; i++)
		sim_begin(sim, i);
	sim_observe(sim, 0, sim->n, observations);
}

/* --- a step ----------------------------------------------------------------------------------- */

/* Checks that actions are in range, in loops without a branch, so that the compiler makes vector
 * instructions. */
static bool sim_actions_are_valid(const struct fh_sim *sim, const void *actions)
{
	const uint32_t limit = (uint32_t)sim->shape.n_actions;
	const int32_t *choices = actions;
	const float *forces = actions;
	int wrong = 0;

	for (size_t i = 0; limit && i < sim->n; i++)
		wrong |= (uint32_t)choices[i] >= limit;
	for (size_t i = 0; !limit && i < sim->n; i++)
		wrong |= !(fabsf(forces[i]) <= FLT_MAX); /* this is true for NAN too */
	return !wrong;
}

PUBLIC int fh_sim_step(
		struct fh_sim *sim, const void *actions, const struct fh_sim_results *results)
{
	int n_ended = 0;

	if (!sim_actions_are_valid(sim, actions))
		return -EINVAL;
	if (sim->wiring) {
		wiring_act(sim->wiring, actions, sim->n, sim->switched);
		actions = sim->switched;
	}
	sim->kind->step(sim->states, sim->n, actions, sim->shape.sticky, sim->random,
			results->rewards, results->terminated);
	for (size_t i = 0; i < sim->n; i++) {
		bool terminated = results->terminated[i];
		bool truncated = ++sim->steps[i] == sim->shape.max_steps && !terminated;

		results->truncated[i] = truncated;
		if (terminated || truncated) {
			/* keep the last observation of the old episode, and begin the next */
			sim_observe(sim, i, 1,
					(char *)results->final_observations +
							i * sim->observation_bytes);
			sim_begin(sim, i);
			n_ended++;
		}
	}
	sim_observe(sim, 0, sim->n, results->observations);
	return n_ended;
}
