// SPDX-License-Identifier: Apache-2.0
//
// An episode through the C API from C++. With an installed Fumehood:
//
//   c++ episode.cpp $(pkg-config --cflags --libs fumehood) -o episode && ./episode [TASK]
#include <fumehood/env.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

using Gym = std::unique_ptr<fh_gym, decltype(&fh_gym_close)>;
using Env = std::unique_ptr<fh_env, decltype(&fh_env_close)>;

static void check(int r, const fh_error &err)
{
	if (r < 0)
		throw std::runtime_error(err.message);
}

static void play(const char *task)
{
	fh_error err = FH_ERROR_INIT;
	fh_gym *gym = nullptr;
	fh_env *env = nullptr;
	struct fh_step step;

	check(fh_gym_open(nullptr, &gym, &err), err);
	const Gym gym_owner(gym, fh_gym_close);

	fh_env_options options = FH_ENV_OPTIONS();
	options.task = task;
	check(fh_env_open(gym, &options, &env, &err), err);
	const Env env_owner(env, fh_env_close); // closed before the gym

	fh_reset reset = FH_RESET();
	reset.seed = 7;
	check(fh_env_reset(env, &reset, &step, &err), err);

	fh_action action = FH_ACTION();
	action.text = "ls; submit";
	check(fh_env_step(env, &action, &step, &err), err);
	std::printf("%s%s\n", step.observation, step.exit_status);
}

int main(int argc, char **argv)
{
	std::printf("Fumehood %s\n", fh_version());
	try {
		play(argc > 1 ? argv[1] : "titanicSurvival:micro");
	} catch (const std::exception &e) {
		std::fprintf(stderr, "episode: %s\n", e.what());
		return 1;
	}
	return 0;
}
