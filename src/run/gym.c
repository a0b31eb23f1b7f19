/* SPDX-License-Identifier: Apache-2.0 */
#include "run/gym.h"

#include "base/log.h"
#include "run/gpu_list.h"
#include "run/options.h"
#include "task/find.h"

#include <errno.h>

/* All that will be played, and what was recorded earlier, before the first agent looks around. Each is
 * hidden anyway once it is opened, but from those that begin then. */
static int run_gym_hide_all(const struct run_plan *plan, struct fh_gym *gym, struct fh_error *err)
{
	int r = fh_gym_hide(gym, plan->out, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < plan->n; i++) {
		const struct fh_env_options *env = plan->episodes[i].plan.env;
		struct task_found found;

		if (i && env == plan->episodes[i - 1].plan.env)
			continue;
		r = task_find(&plan->places, env->task, &found, err);
		if (r < 0)
			return r;
		r = fh_gym_hide(gym, found.dir, err);
		task_found_release(&found);
		if (r < 0)
			return r;
	}
	return 0;
}

/* As many as there will be agents at the same time. */
static int run_gym_choose_gpus(struct run_plan *plan, const struct run_options *o, int jobs,
		struct fh_gym_options *gym, struct fh_error *err)
{
	size_t n = plan->n - plan->n_found;
	size_t agents = n < (size_t)jobs ? n : (size_t)jobs;
	int r = gpu_list_read(&o->gpus, &plan->arena, &gym->gpu_numbers, err);

	if (r < 0)
		return r;
	gym->n_gpu_numbers = o->gpus.n;
	gym->n_gpus = agents * (size_t)plan->gpus_per_agent;
	if (o->gpus.n && o->gpus.n < gym->n_gpus)
		return error_say(err, EINVAL,
				"%zu agents at the same time with %d GPUs each need %zu, and --gpus "
				"names %zu: --jobs may be lower",
				agents, plan->gpus_per_agent, gym->n_gpus, o->gpus.n);
	if (o->gpus.n && !plan->gpus_per_agent && !o->given.gpus_per_agent)
		warner_say(o->warner,
				"--gpus by itself gives no agent a GPU: --gpus-per-agent 1 gives one to each");
	return 0;
}

int run_gym_open(struct run_plan *plan, const struct run_options *options, int jobs,
		struct fh_gym **out, struct fh_error *err)
{
	struct fh_gym_options gym = { .tasks_dir = plan->places.tasks_dir,
		.mlgym_root = plan->places.mlgym_root };
	const char *warning;
	int r = run_gym_choose_gpus(plan, options, jobs, &gym, err);

	if (r < 0)
		return r;
	r = fh_gym_open(&gym, out, err);
	if (r < 0)
		return r;
	r = run_gym_hide_all(plan, *out, err);
	if (r < 0)
		return r;
	warning = fh_gym_warning(*out);
	if (warning)
		log_record(NULL, LOG_WARN, warning, NULL, 0);
	return 0;
}
