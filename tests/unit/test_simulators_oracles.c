/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "simulators/simulators.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Replays recordings of other programs' simulators, which tests/oracle/record makes. Our simulator
 * gets the recorded random numbers, and must give the same results in each step.
 */

#define LINE_BYTES 2048
#define FED_MAX 8 /* most random numbers in a step */
#define FLOATS_MAX 15
#define CELLS 100
#define PLANES 4

struct replay {
	FILE *file;
	struct fh_sim *sim;
	double tolerance;
	int number; /* line number */
	double fed[FED_MAX];
};

union observation {
	float numbers[FLOATS_MAX];
	uint8_t cells[CELLS][PLANES];
};

static void replay_open(struct replay *p, const char *path)
{
	char name[64], rules[64], line[LINE_BYTES];
	double sticky;

	*p = (struct replay){ .file = fopen(path, "re"), .number = 2 };
	assert_non_null(p->file);
	assert_non_null(fgets(line, sizeof(line), p->file)); /* the versions */
	assert_non_null(fgets(line, sizeof(line), p->file));
	assert_int_equal(sscanf(line, "%63s %63s %lf %lf", name, rules, &sticky, &p->tolerance), 4);
	assert_int_equal(fh_sim_open(&p->sim, name, rules, 1), 0);
	assert_int_equal(fh_sim_configure(p->sim, 0, sticky), 0);
}

static void replay_close(struct replay *p)
{
	fh_sim_close(p->sim);
	fclose(p->file);
}

/* Reads numbers that are separated by commas. "-" stands for an empty list. */
static size_t read_numbers(char *text, double *out, size_t max)
{
	size_t n = 0;

	if (strcmp(text, "-") == 0)
		return 0;
	for (char *end = text; n == 0 || *end == ','; text = end + 1) {
		assert_true(n < max);
		out[n++] = strtod(text, &end);
		assert_ptr_not_equal(end, text);
	}
	return n;
}

static void replay_feed(struct replay *p, char *draws)
{
	fh_sim_feed(p->sim, p->fed, read_numbers(draws, p->fed, FED_MAX));
}

static void check_number(const struct replay *p, double ours, double oracle)
{
	if (!(fabs(ours - oracle) <= p->tolerance))
		fail_msg("line %d: %.17g, expected %.17g", p->number, ours, oracle);
}

static void check_cells(const struct replay *p, const union observation *ours, const char *text)
{
	assert_int_equal(strlen(text), CELLS);
	for (int i = 0; i < CELLS; i++) {
		const uint8_t *planes = ours->cells[i];
		int bits = planes[0] | planes[1] << 1 | planes[2] << 2 | planes[3] << 3;
		int expected = (int)strtol((const char[]){ text[i], '\0' }, NULL, 16);

		if (bits != expected)
			fail_msg("line %d: cell %d is %x, expected %x", p->number, i, bits,
					expected);
	}
}

static void check_observation(const struct replay *p, const union observation *ours, char *text)
{
	const struct fh_sim_shape *shape = fh_sim_shape(p->sim);
	double expected[FLOATS_MAX];

	if (shape->observation_size == 1) {
		check_cells(p, ours, text);
		return;
	}
	assert_int_equal(read_numbers(text, expected, FLOATS_MAX), shape->observation[0]);
	for (int i = 0; i < shape->observation[0]; i++)
		check_number(p, ours->numbers[i], (float)expected[i]); /* nine digits */
}

/* Plays a recorded step, given by the words of its line, and compares the results. */
static void replay_step(struct replay *p, double action, double reward, int terminated,
		char *observation, char *first)
{
	const float force = (float)action;
	const int32_t choice = (int32_t)action;
	bool discrete = fh_sim_shape(p->sim)->n_actions;
	union observation ours, last;
	uint8_t is_terminated, is_truncated;
	double our_reward;
	int ended = fh_sim_step(p->sim, discrete ? (const void *)&choice : &force,
			&(struct fh_sim_results){
					&ours, &our_reward, &is_terminated, &is_truncated, &last });

	assert_int_equal(ended, terminated);
	assert_int_equal(is_terminated, terminated);
	assert_false(is_truncated);
	check_number(p, our_reward, reward);
	check_observation(p, ended ? &last : &ours, observation);
	if (ended)
		check_observation(p, &ours, first);
}

static void replay_line(struct replay *p, char *line)
{
	char action[64], draws[256], observation[512], first[512];
	union observation ours;
	double reward;
	int terminated, n;

	p->number++;
	n = sscanf(line, "%63s %255s %lf %d %511s %511s", action, draws, &reward, &terminated,
			observation, first);
	assert_int_equal(n, 5 + terminated);
	replay_feed(p, draws);
	if (strcmp(action, "-") == 0) {
		fh_sim_reset(p->sim, &ours);
		check_observation(p, &ours, observation);
		return;
	}
	replay_step(p, strtod(action, NULL), reward, terminated, observation, first);
}

static void replay(void **state)
{
	auto_free char *line = malloc(LINE_BYTES);
	struct replay p;

	replay_open(&p, *state);
	while (fgets(line, LINE_BYTES, p.file))
		replay_line(&p, line);
	assert_true(p.number > 600);
	replay_close(&p);
}

#define RECORDING(name)                                                                            \
	{                                                                                          \
		name, replay, NULL, NULL, (void *)(uintptr_t)(ORACLES "/" name ".txt")             \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RECORDING("car-gymnasium"),
		RECORDING("car-gymnax"),
		RECORDING("breakout-minatar"),
		RECORDING("breakout-minatar-sticky"),
		RECORDING("breakout-gymnax"),
		RECORDING("maze-gymnax"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
