/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/host.h"

#include "base/str.h"
#include "run/episode_setup.h"
#include "run/mlgym_root.h"
#include "run/record.h"
#include "run/task_warnings.h"
#include "task/load.h"
#include "trajectory/recorder.h"

#include <errno.h>

/* --- tasks ------------------------------------------------------------------------------------ */

/* Reads a task, so that a wrong name fails before the first client asks for it. */
static int host_add_task(struct host *h, const char *spec, const struct fh_gym_options *gym,
		struct fh_error *err)
{
	const struct serve_options *o = h->options;
	struct host_task *t = &h->tasks[h->n_tasks];
	struct task_places places = { .tasks_dir = gym->tasks_dir, .mlgym_root = gym->mlgym_root };
	struct task *task;
	int r;

	t->spec = spec;
	t->env = FH_ENV_OPTIONS(.task = spec, .max_text_bytes = o->out ? RECORDER_TEXT_BYTES : 0,
			.web_hosts = episode_web_hosts(&o->episode, NULL));
	r = episode_env_options(&o->episode, &h->arena, &t->env, err);
	if (r < 0)
		return r;
	places.data_seed = t->env.data_seed;
	r = task_load(&places, spec, t->env.variant, &task, err);
	if (r < 0)
		return r;
	t->name = arena_strdup(&h->arena, task->name);
	t->description = arena_strdup(&h->arena, task->description);
	task_warnings_say(o->warner, task, &t->env);
	task_free(task);
	h->n_tasks++;
	return 0;
}

const struct host_task *host_find_task(const struct host *h, const char *spec)
{
	if (!spec)
		return h->tasks;
	for (size_t i = 0; i < h->n_tasks; i++)
		if (str_eq(h->tasks[i].spec, spec))
			return &h->tasks[i];
	return NULL;
}

/* --- opening ---------------------------------------------------------------------------------- */

int host_open(struct host *h, const struct serve_options *o, struct fh_error *err)
{
	const struct episode_options *e = &o->episode;
	struct fh_gym_options gym = FH_GYM_OPTIONS(.tasks_dir = e->tasks_dir);
	int r;

	*h = (struct host){ .options = o, .openings = { .fd = -1 } };
	r = mlgym_root(&h->arena, e->mlgym_root, o->warner, &gym.mlgym_root, err);
	if (r < 0)
		return r;
	r = episode_aliases(e->aliases, gym.mlgym_root, o->warner, &h->arena, &h->aliases, err);
	if (r < 0)
		return r;
	h->tasks = arena_array(&h->arena, o->tasks.n, sizeof(*h->tasks));
	for (size_t i = 0; i < o->tasks.n; i++) {
		r = host_add_task(h, o->tasks.items[i], &gym, err);
		if (r < 0)
			return r;
	}
	r = openings_open(&h->openings, err);
	if (r < 0)
		return r;
	return run_record_open_gym(&gym, h->options->out, &h->gym, err);
}

void host_close(struct host *h)
{
	fh_gym_close(h->gym);
	openings_close(&h->openings);
	arena_release(&h->arena);
}
