/* SPDX-License-Identifier: Apache-2.0 */
#include "run/env_record.h"

#include "base/mem.h"
#include "base/scope.h"
#include "trajectory/run_dir.h"

void env_record_init(struct env_record *r, const char *task)
{
	*r = (struct env_record){ 0 };
	episode_log_init(&r->log, task);
}

void env_record_release(struct env_record *r)
{
	recorder_close(r->recorder);
	r->recorder = NULL;
	episode_log_release(&r->log);
}

int env_record_end(struct env_record *r, const char *exit_status, struct fh_error *err)
{
	int n = 0;

	if (r->going_on)
		episode_log_over(&r->log, exit_status);
	r->going_on = false;
	if (r->recorder)
		n = recorder_end(r->recorder, &(struct recorder_end){ .exit_status = exit_status },
				err);
	recorder_close(r->recorder);
	r->recorder = NULL;
	return n;
}

static int env_record_begin_log(struct env_record *r, const char *task, const char *dir, int number,
		uint64_t seed, struct fh_error *err)
{
	struct episode_log_place place = {
		.task = task,
		.episode = number,
		.dir = dir,
		.warnings = { r->warning },
	};
	int n = episode_log_open(&r->log, &place, err);

	if (n < 0)
		return n;
	r->going_on = true;
	episode_log_begun(&r->log, "env", seed, r->info->max_steps);
	return 0;
}

/* Opens the record in its folder, which is made. */
static int env_record_open_recorder(struct env_record *r, const char *task, char **out_dir,
		int *out_number, struct fh_error *err)
{
	struct run_name name = RUN_NAME_INIT;
	struct recorder_options o = { .env = r->info, .model = "env" };
	int n;

	name.model = "env";
	name.task = task;
	name.suffix = r->suffix;
	n = run_dir_make(r->out, &name, out_dir, out_number, err);
	if (n < 0)
		return n;
	o.run = *out_number;
	o.dir = *out_dir;
	o.reward = r->reward;
	return recorder_open(&o, &r->recorder, err);
}

int env_record_begin(struct env_record *r, uint64_t seed, const struct fh_step *step,
		struct fh_error *err)
{
	const char *variant = r->info->variant;
	auto_free char *task = xasprintf("%s%s%s", r->info->task, *variant ? ":" : "", variant);
	int number = r->n_episodes++;
	auto_free char *dir = NULL;
	int n = 0;

	if (r->out)
		n = env_record_open_recorder(r, task, &dir, &number, err);
	if (n == 0)
		n = env_record_begin_log(r, task, dir, number, seed, err);
	if (n < 0)
		return n;
	episode_log_reset(&r->log, step);
	return r->recorder ? recorder_reset(r->recorder, seed, step, err) : 0;
}

int env_record_step(struct env_record *r, const char *action, const struct fh_step *step,
		struct fh_error *err)
{
	int n = 0;

	episode_log_step(&r->log, step);
	if (r->recorder)
		n = recorder_step(r->recorder, &(struct recorder_turn){ .action = action }, step,
				err);
	if (n == 0 && (step->terminated || step->truncated))
		n = env_record_end(r, step->exit_status, err);
	return n;
}
