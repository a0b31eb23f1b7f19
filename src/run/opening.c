/* SPDX-License-Identifier: Apache-2.0 */
#include "run/opening.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "run/episode_setup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct opening {
	struct openings *all;
	struct opening_request request;
	struct model_request model_request;
	pthread_t thread;
	atomic_bool over;

	/* the result, once it is over */
	int r;
	struct fh_error error;
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

static void *opening_run(void *arg)
{
	struct opening *o = arg;
	const struct opening_request *q = &o->request;
	static const uint64_t one = 1;
	int wake_fd = o->all->fd;

	if (q->model)
		o->r = model_open(q->model, &o->model, &o->error);
	if (o->r == 0)
		o->r = fh_env_open(q->gym, q->env, &o->env, &o->error);
	if (o->r == 0)
		o->r = episode_set_up(o->env, q->agent, q->aliases, q->edits_at_once, &o->error);
	atomic_store(&o->over, true);
	(void)!write(wake_fd, &one, sizeof(one)); /* the opening may be freed by now */
	return NULL;
}

int opening_start(struct openings *all, const struct opening_request *request, struct opening **out,
		struct fh_error *err)
{
	struct opening *o = xcalloc(1, sizeof(*o));
	sigset_t every, before;
	int r;

	o->all = all;
	o->request = *request;
	if (request->model) {
		o->model_request = *request->model;
		o->request.model = &o->model_request;
	}
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	r = pthread_create(&o->thread, NULL, opening_run, o);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r) {
		free(o);
		return error_set(err, r, "start a thread that opens a task");
	}
	all->n++;
	*out = o;
	return 0;
}

bool opening_is_over(const struct opening *o)
{
	return atomic_load(&o->over);
}

int opening_take(struct opening *o, struct fh_env **out_env, struct model **out_model,
		struct fh_error *err)
{
	int r;

	pthread_join(o->thread, NULL);
	o->all->n--;
	r = o->r;
	if (r < 0) {
		fh_env_close(o->env);
		model_close(o->model);
		*err = o->error;
	} else {
		*out_env = o->env;
		*out_model = o->model;
	}
	free(o);
	return r;
}
