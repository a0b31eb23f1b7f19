/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares an episode beside its steps. It puts a program on PATH and a file into the workspace.
 * Then it takes out a file that a step has made. With an installed Fumehood:
 *
 *   cc aside.c $(pkg-config --cflags --libs fumehood) -o aside && ./aside [TASK]
 */
#include <fumehood/aside.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fh_error err = FH_ERROR_INIT;

static void check(int r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "aside: %s\n", err.message);
	exit(1);
}

static void put(struct fh_env *env, const char *path, const char *text, int mode)
{
	const struct fh_file file =
			FH_FILE(.path = path, .data = text, .n_bytes = strlen(text), .mode = mode);

	check(fh_env_put_file(env, &file, &err));
}

static void play(struct fh_env *env)
{
	struct fh_step step;
	const void *data;
	size_t n;

	check(fh_env_reset(env, NULL, &step, &err));
	put(env, "/home/agent/bin/greet", "#!/bin/sh\necho \"$GREETING\" \"$1\"\n", 0755);
	put(env, "names.txt", "Ada\nAlan\n", 0);
	check(fh_env_aside(env, &FH_ACTION(.text = "wc -l names.txt"), &step, &err));
	printf("beside steps: %s", step.observation);
	check(fh_env_step(env, &FH_ACTION(.text = "xargs -n 1 greet <names.txt | tee greetings"),
			&step, &err));
	printf("step %d: %s", step.step, step.observation);
	check(fh_env_get_file(env, "greetings", 1 << 20, &data, &n, &err));
	printf("%zu bytes: %.*s", n, (int)n, (const char *)data);
}

int main(int argc, char **argv)
{
	static const char *const variables[] = { "GREETING=Good morning,",
		"PATH=/home/agent/bin:$PATH" };
	struct fh_env_options options =
			FH_ENV_OPTIONS(.task = argc > 1 ? argv[1] : "titanicSurvival:micro",
					.variables = variables,
					.n_variables = sizeof(variables) / sizeof(variables[0]));
	struct fh_gym *gym;
	struct fh_env *env;

	check(fh_gym_open(NULL, &gym, &err));
	check(fh_env_open(gym, &options, &env, &err));
	play(env);
	fh_env_close(env);
	fh_gym_close(gym);
	return 0;
}
