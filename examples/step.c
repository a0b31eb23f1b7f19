/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An episode through the C API, in both of its forms. With an installed Fumehood:
 *
 *   cc step.c $(pkg-config --cflags --libs fumehood) -o step && ./step [TASK]
 */
#include <fumehood/env.h>

#include <stdio.h>
#include <stdlib.h>

#define ENVS 4

static struct fh_error err = FH_ERROR_INIT;

static void check(int r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "step: %s\n", err.message);
	exit(1);
}

static void print_score(const char *label, const struct fh_metric *metrics, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%s %s = %g\n", label, metrics[i].name, metrics[i].value);
}

/* The blocking form: each call returns when its step is over. */
static void play_one(struct fh_gym *gym, const char *task)
{
	static const char *const actions[] = { "ls", "cd /tmp && pwd", "cd - && validate",
		"submit" };
	struct fh_env *env;
	struct fh_step step;

	check(fh_env_open(gym, &FH_ENV_OPTIONS(.task = task), &env, &err));
	check(fh_env_reset(env, NULL, &step, &err));
	puts(step.observation);
	print_score("baseline", step.baseline, step.n_baseline);
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		check(fh_env_step(env, &FH_ACTION(.text = actions[i]), &step, &err));
		printf("$ %s\n%s", actions[i], step.observation);
		print_score("score", step.score, step.n_score);
	}
	printf("%s after %d steps\n", step.exit_status, step.step);
	fh_env_close(env);
}

/* Waits until n environments have ended what was begun, and takes their results. */
static void finish(struct fh_gym *gym, int n)
{
	struct fh_env *done[ENVS];
	struct fh_step step;

	while (n > 0) {
		int came = fh_gym_wait(gym, -1, done, ENVS, &err);

		check(came);
		for (int i = 0; i < came; i++)
			check(fh_env_end(done[i], &step, &err));
		n -= came;
	}
}

/* The pollable form: one thread begins steps in several environments, which then run at once. */
static void play_many(struct fh_gym *gym, const char *task)
{
	struct fh_env *envs[ENVS];

	for (int i = 0; i < ENVS; i++) {
		check(fh_env_open(gym, &FH_ENV_OPTIONS(.task = task, .polled = true), &envs[i],
				&err));
		check(fh_env_reset_start(envs[i], &FH_RESET(.seed = (uint64_t)i), &err));
	}
	finish(gym, ENVS);
	for (int i = 0; i < ENVS; i++)
		check(fh_env_step_start(envs[i], &FH_ACTION(.text = "sleep 0.1"), &err));
	finish(gym, ENVS);
	for (int i = 0; i < ENVS; i++)
		fh_env_close(envs[i]);
	printf("%d environments stepped at once\n", ENVS);
}

int main(int argc, char **argv)
{
	const char *task = argc > 1 ? argv[1] : "titanicSurvival:micro";
	struct fh_gym *gym;

	check(fh_gym_open(NULL, &gym, &err));
	play_one(gym, task);
	play_many(gym, task);
	fh_gym_close(gym);
	return 0;
}
