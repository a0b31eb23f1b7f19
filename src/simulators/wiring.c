/* SPDX-License-Identifier: Apache-2.0 */
#include "simulators/wiring.h"

#include "simulators/kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHIFT 0.5 /* largest shift of a sensor's zero */

struct sim_wiring {
	const struct sim_kind *kind;
	size_t n_inputs, n_sensors;
	float *weights; /* [input][sensor] */
	float *zeros;   /* [sensor] */
	int32_t order[SIM_ACTIONS_MAX];
	float direction; /* factor of forces: 1 or -1 */
};

static double wiring_draw(struct sim_random *random, double most)
{
	return most * (2 * sim_uniform(random) - 1);
}

/* Draws by how much each sensor sees an input. As many inputs as there are sensors are at right
 * angles to each other, so that none hides another. */
static void wiring_draw_row(struct sim_wiring *wiring, size_t i, struct sim_random *random)
{
	size_t n = wiring->n_sensors;
	float *row = wiring->weights + i * n;
	double length = 0;

	for (size_t k = 0; k < n; k++)
		row[k] = (float)wiring_draw(random, 1);
	for (size_t other = i - i % n; other < i; other++) {
		const float *before = wiring->weights + other * n;
		float product = 0;

		for (size_t k = 0; k < n; k++)
			product += row[k] * before[k];
		for (size_t k = 0; k < n; k++)
			row[k] -= product * before[k];
	}
	for (size_t k = 0; k < n; k++)
		length += (double)row[k] * row[k];
	for (size_t k = 0; k < n; k++)
		row[k] /= (float)sqrt(length);
}

static void wiring_draw_all(struct sim_wiring *wiring, uint64_t number)
{
	struct sim_random random = { .state = number };
	int32_t *order = wiring->order;

	for (size_t i = 0; i < wiring->n_inputs; i++)
		wiring_draw_row(wiring, i, &random);
	for (size_t k = 0; k < wiring->n_sensors; k++)
		wiring->zeros[k] = (float)wiring_draw(&random, SHIFT);
	for (int i = 0; i < wiring->kind->shape.n_actions; i++) {
		int j = sim_below(&random, i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	wiring->direction = sim_below(&random, 2) ? 1 : -1;
}

struct sim_wiring *wiring_new(const struct sim_kind *kind, uint64_t number)
{
	struct sim_wiring *wiring = calloc(1, sizeof(*wiring));

	if (!wiring)
		return NULL;
	wiring->kind = kind;
	wiring->n_inputs = 1;
	for (size_t i = 0; i < 3 && kind->shape.observation[i]; i++)
		wiring->n_inputs *= (size_t)kind->shape.observation[i];
	wiring->n_sensors = (size_t)kind->sensors.n;
	wiring->weights = calloc(wiring->n_inputs * wiring->n_sensors, sizeof(float));
	wiring->zeros = calloc(wiring->n_sensors, sizeof(float));
	if (!wiring->weights || !wiring->zeros) {
		wiring_free(wiring);
		return NULL;
	}
	wiring_draw_all(wiring, number);
	return wiring;
}

void wiring_free(struct sim_wiring *wiring)
{
	if (!wiring)
		return;
	free(wiring->weights);
	free(wiring->zeros);
	free(wiring);
}

/* Weighs the numbers of one observation for each sensor. */
static void wiring_mix(const struct sim_wiring *wiring, const void *plain, float *sensors)
{
	const struct sim_sensors *seen = &wiring->kind->sensors;
	const uint8_t *bytes = plain;
	const float *numbers = plain;

	memset(sensors, 0, wiring->n_sensors * sizeof(float));
	for (size_t i = 0; i < wiring->n_inputs; i++) {
		const struct sim_input *input = &seen->inputs[i % seen->n_inputs];
		const float *row = wiring->weights + i * wiring->n_sensors;
		bool is_byte = wiring->kind->shape.observation_size == 1;
		float x = ((is_byte ? bytes[i] : numbers[i]) - input->centre) * input->gain;

		for (size_t k = 0; x != 0 && k < wiring->n_sensors; k++)
			sensors[k] += x * row[k];
	}
}

void wiring_sense(const struct sim_wiring *wiring, const void *plain, size_t n, float *sensors)
{
	size_t bytes = wiring->n_inputs * (size_t)wiring->kind->shape.observation_size;

	for (size_t i = 0; i < n; i++, sensors += wiring->n_sensors) {
		wiring_mix(wiring, (const char *)plain + i * bytes, sensors);
		for (size_t k = 0; k < wiring->n_sensors; k += 2) {
			float x = sensors[k], y = sensors[k + 1];
			float angle = wiring->kind->sensors.twist * sqrtf(x * x + y * y);
			float sine, cosine;

			sincosf(angle, &sine, &cosine);
			sensors[k] = wiring->zeros[k] + cosine * x - sine * y;
			sensors[k + 1] = wiring->zeros[k + 1] + sine * x + cosine * y;
		}
	}
}

void wiring_act(const struct sim_wiring *wiring, const void *actions, size_t n, void *switched)
{
	bool choices = wiring->kind->shape.n_actions;

	for (size_t i = 0; choices && i < n; i++)
		((int32_t *)switched)[i] = wiring->order[((const int32_t *)actions)[i]];
	for (size_t i = 0; !choices && i < n; i++)
		((float *)switched)[i] = wiring->direction * ((const float *)actions)[i];
}
