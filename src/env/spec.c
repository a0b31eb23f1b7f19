/* SPDX-License-Identifier: Apache-2.0 */
#include "env/spec.h"

#include "base/cancel.h"
#include "base/places.h"
#include "base/scope.h"
#include "env/fingerprint.h"
#include "grade/grade.h"
#include "inside/places.h"
#include "sandbox/python.h"
#include "task/mlgym.h"
#include "web/hosts.h"

#include <errno.h>
#include <stdlib.h>

#define USER_BINDS_MAX 32

static int env_spec_add_bind(
		struct env_spec *spec, const struct fh_bind *bind, struct fh_error *err)
{
	struct sandbox_bind b = {
		.source = arena_strdup(&spec->arena, bind->source ? bind->source : ""),
		.target = bind->target ? arena_strdup(&spec->arena, bind->target) : NULL,
	};
	auto_free char *real = NULL;
	int r;

	if (!b.target)
		b.target = b.source;
	r = sandbox_bind_check(&b, err);
	if (r < 0)
		return r;
	real = realpath(b.source, NULL);
	if (!real)
		return error_set(err, errno, "bind '%s'", b.source);
	spec->binds[spec->n_binds++] = b;
	return task_check_bind(spec->task->task, spec->gym->state_dir, real, err);
}

static int env_spec_add_python_bind(
		struct env_spec *spec, const char *source, const char *target, struct fh_error *err)
{
	spec->binds[spec->n_binds++] =
			(struct sandbox_bind){ arena_strdup(&spec->arena, source), target };
	return task_check_bind(spec->task->task, spec->gym->state_dir, source, err);
}

static int env_spec_add_python(struct env_spec *spec, const char *name, struct fh_error *err)
{
	struct python_env python;
	auto_free char *real = NULL;
	int r = python_env_find(&spec->arena, name, &python, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < python.n_binds; i++) {
		const struct sandbox_bind *bind = &python.binds[i];

		r = env_spec_add_python_bind(spec, bind->source, bind->target, err);
		if (r < 0)
			return r;
	}
	real = realpath(python.dir, NULL);
	if (real && spec->task->task->mlgym) {
		r = env_spec_add_python_bind(spec, real, MLGYM_CONDA_ENV, err);
		if (r < 0)
			return r;
	}
	spec->python = python.dir;
	spec->writable = python.writable;
	return 0;
}

/* Adds the user's binds last, because a later bind hides an earlier one at the same path. */
static int env_spec_add_binds(
		struct env_spec *spec, const struct fh_env_options *options, struct fh_error *err)
{
	const struct gym_task *task = spec->task;
	int r;

	if (options->n_binds > USER_BINDS_MAX)
		return error_say(err, E2BIG, "more than %d binds", USER_BINDS_MAX);
	spec->binds = arena_array(&spec->arena,
			task->n_data_binds + task->task->n_binds + PYTHON_BINDS_MAX + 2 +
					options->n_binds,
			sizeof(*spec->binds));
	for (size_t i = 0; i < task->n_data_binds; i++)
		spec->binds[spec->n_binds++] = task->data_binds[i];
	for (size_t i = 0; i < task->task->n_binds; i++)
		spec->binds[spec->n_binds++] = task->task->binds[i];
	if (task->task->simulators)
		spec->binds[spec->n_binds++] = (struct sandbox_bind){ places_get()->simulators,
			GUEST_WORKSPACE "/simulators" };
	if (options->python) {
		r = env_spec_add_python(spec, options->python, err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < options->n_binds; i++) {
		r = env_spec_add_bind(spec, &options->binds[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

int env_spec_bind(struct env_spec *spec, const struct fh_env_options *options, struct fh_error *err)
{
	int r = env_spec_add_binds(spec, options, err);

	if (r < 0)
		return r;
	fingerprint(spec->binds, spec->n_binds, options->n_gpus, spec->fingerprint);
	return 0;
}

int env_spec_init(struct env_spec *spec, const struct fh_env_options *options, struct fh_error *err)
{
	struct fh_gym *gym = spec->gym;
	int r;

	r = gym_task(gym, options, spec->cancel, &spec->task, err);
	if (r < 0)
		return r;
	r = env_spec_bind(spec, options, err);
	if (r < 0)
		return r;
	r = spec->writable ? owner_add_writable(gym->owner, spec->writable, err) : 0;
	if (r < 0)
		return r;
	r = owner_lease_gpus(gym->owner, options->n_gpus, &spec->gpus, err);
	if (r < 0)
		return r;
	if (options->web_hosts) {
		r = hosts_check(options->web_hosts, err);
		if (r < 0)
			return r;
		spec->web_hosts = arena_strdup(&spec->arena, options->web_hosts);
	}
	spec->submission = grade_submission_name(&spec->arena, spec->task->task);
	return 0;
}

void env_spec_release(struct env_spec *spec)
{
	gpu_lease_free(spec->gpus);
	arena_release(&spec->arena);
	if (spec->task)
		gym_task_leave(spec->gym, spec->task);
}

int env_spec_check_imports(struct env_spec *spec, struct fh_error *err)
{
	struct gym_task *task = spec->task;
	const struct imports_request request = {
		.owner = spec->gym->owner,
		.task = task->task,
		.layer = task->layer,
		.binds = spec->binds,
		.n_binds = spec->n_binds,
		.fingerprint = spec->fingerprint,
		.submission = spec->submission,
		.cancel = spec->cancel,
	};
	int r;

	r = cancel_lock_mutex(spec->cancel, &task->lock, err);
	if (r < 0)
		return r;
	r = imports_check(&request, &task->imports, &spec->arena, &spec->warning, err);
	pthread_mutex_unlock(&task->lock);
	return r;
}
