/* SPDX-License-Identifier: Apache-2.0 */
#include "run/opening.h"

#include "base/job.h"
#include "base/mem.h"
#include "base/scope.h"
#include "run/episode_setup.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct opening {
	struct openings *all;
	struct opening_request request;
	struct model_request model_request;
	struct job *job;
	struct fh_env *env;
	struct model *model;
};

int openings_open(struct openings *o, struct fh_error *err)
{
	*o = (struct openings){ .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	return o->fd < 0 ? error_set(err, errno, "create an eventfd") : 0;
}

void openings_close(struct openings *o)
{
	close_fd(&o->fd);
}

bool openings_came(struct openings *o)
{
	uint64_t count;

	return read(o->fd, &count, sizeof(count)) == sizeof(count);
}

/* Opens the model and the environment for an episode. A job runs it in a thread of its own. */
static int opening_work(void *arg, struct fh_error *err)
{
	struct opening *o = arg;
	const struct opening_request *q = &o->request;
	int r = q->model ? model_open(q->model, &o->model, err) : 0;

	if (r < 0)
		return r;
	r = fh_env_open(q->gym, q->env, &o->env, err);
	if (r < 0)
		return r;
	return episode_set_up(o->env, q->agent, q->aliases, q->edits_at_once, err);
}

int opening_start(struct openings *all, const struct opening_request *request, struct opening **out,
		struct fh_error *err)
{
	struct opening *o = xcalloc(1, sizeof(*o));
	int r;

	o->all = all;
	o->request = *request;
	if (request->model) {
		o->model_request = *request->model;
		o->request.model = &o->model_request;
	}
	r = job_begin_shared(all->fd, opening_work, o, "open a task", &o->job, err);
	if (r < 0) {
		free(o);
		return r;
	}
	all->n++;
	*out = o;
	return 0;
}

bool opening_is_over(const struct opening *o)
{
	return job_is_over(o->job);
}

int opening_take(struct opening *o, struct fh_env **out_env, struct model **out_model,
		struct fh_error *err)
{
	int r = job_end(o->job, err);

	o->all->n--;
	if (r < 0) {
		fh_env_close(o->env);
		model_close(o->model);
	} else {
		*out_env = o->env;
		*out_model = o->model;
	}
	free(o);
	return r;
}
