/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts operations of one environment and waits for them in slices, so that the program can do
 * something else meanwhile. Another thread interrupts a step. With an installed Fumehood:
 *
 *   cc wait.c $(pkg-config --cflags --libs fumehood) -o wait && ./wait [TASK]
 */
#include <fumehood/env.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLICE_MS 50

static struct fh_error err = FH_ERROR_INIT;

static void check(int r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "wait: %s\n", err.message);
	exit(1);
}

/* Waits for what was started. Prints its name and the number of slices. */
static void await(struct fh_env *env, const char *name)
{
	int slices = 0, r;

	while ((r = fh_env_wait(env, SLICE_MS, &err)) == 0)
		slices++; /* look for keys, signals or other work here */
	check(r);
	printf("%s: %d slices\n", name, slices);
}

/* The interrupter may outlive the environment, so this thread need not know when that is closed. */
static void *interrupt_soon(void *interrupter)
{
	const struct timespec pause = { 0, 300000000 };

	nanosleep(&pause, NULL);
	fh_interrupter_fire(interrupter);
	fh_interrupter_free(interrupter);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *task = argc > 1 ? argv[1] : "titanicSurvival:micro";
	struct fh_gym *gym;
	struct fh_env *env;
	struct fh_step step;
	pthread_t thread;

	check(fh_gym_open(NULL, &gym, &err));
	check(fh_env_open_start(gym, &FH_ENV_OPTIONS(.task = task), &env, &err));
	await(env, "open, with the baseline if it is new");
	check(fh_env_end(env, NULL, &err));
	check(fh_env_reset_start(env, &FH_RESET(.seed = 1), &err));
	await(env, "reset");
	check(fh_env_end(env, &step, &err));

	if (pthread_create(&thread, NULL, interrupt_soon, fh_env_interrupter(env)))
		return 1;
	check(fh_env_step_start(env, &FH_ACTION(.text = "echo begun; sleep 1000"), &err));
	await(env, "step");
	check(fh_env_end(env, &step, &err));
	printf("%s%s\n", step.observation, fh_outcome_name(step.outcome));
	fh_env_close(env);
	pthread_join(thread, NULL);
	fh_gym_close(gym);
	return step.outcome != FH_OUTCOME_INTERRUPTED;
}
