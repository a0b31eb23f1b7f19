/* SPDX-License-Identifier: Apache-2.0 */
#include "env/gym.h"

#include "base/cancel.h"
#include "base/fork_mark.h"
#include "base/mem.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/sized.h"
#include "base/str.h"
#include "env/make.h"
#include "inside/places.h"
#include "task/dataset.h"
#include "task/load.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

/* Data of a task up to this size is copied into RAM, with the task's starting files. Larger data is
 * mounted from the disk. */
#define COPIED_BYTES_MAX (64LL << 20)
/* Most tasks of other data seeds that the gym keeps though no environment uses them. */
#define UNUSED_SEEDS_MAX 64

/* --- the gym ---------------------------------------------------------------------------------- */

/*
 * Opens the gym's owner. Hides the state folder, which has baselines and keys, and the tasks'
 * folder, which has hidden files.
 */
static int gym_open_owner(
		struct fh_gym *gym, const struct fh_gym_options *options, struct fh_error *err)
{
	struct owner_options owner = {
		.gpus = {
			.n = options->n_gpus,
			.numbers = options->gpu_numbers,
			.n_numbers = options->n_gpu_numbers,
		},
	};
	int r = owner_open(&owner, &gym->owner, err);

	if (r < 0)
		return r;
	r = owner_hide(gym->owner, gym->state_dir, err);
	if (r < 0)
		return r;
	return gym->tasks_dir ? owner_hide(gym->owner, gym->tasks_dir, err) : 0;
}

int gym_check_process(const struct fh_gym *gym, struct fh_error *err)
{
	if (fork_is_marked(gym->mark))
		return 0;
	return error_say_kind(err, FH_ERROR_STATE, EPERM,
			"a forked process can't use its parent's gym: open one after the fork");
}

int fh_gym_hide(struct fh_gym *gym, const char *folder, struct fh_error *err)
{
	int r = gym_check_process(gym, err);

	return r < 0 ? r : owner_hide(gym->owner, folder, err);
}

static int gym_open(struct fh_gym *gym, const struct fh_gym_options *options, struct fh_error *err)
{
	int r;

	gym->mark = fork_mark();
	if (!gym->mark)
		return error_say(err, ENOMEM,
				"out of memory for a page that tells a fork from its parent");
	r = places_state_dir(options->state_dir, &gym->state_dir, err);
	if (r < 0)
		return r;
	r = secret_load(gym->state_dir, &gym->secret, err);
	if (r < 0)
		return r;
	r = poller_open(&gym->poller, err);
	if (r < 0)
		return r;
	return gym_open_owner(gym, options, err);
}

static void gym_task_free(struct gym_task *t)
{
	task_free(t->task);
	imports_free(t->imports);
	free(t->layer);
	arena_release(&t->arena);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

void gym_free(struct fh_gym *gym)
{
	owner_close(gym->owner);
	poller_release(&gym->poller);
	while (gym->tasks) {
		struct gym_task *t = gym->tasks;

		gym->tasks = t->next;
		gym_task_free(t);
	}
	pthread_mutex_destroy(&gym->lock);
	explicit_bzero(&gym->secret, sizeof(gym->secret));
	free(gym->state_dir);
	free(gym->tasks_dir);
	free(gym->mlgym_root);
	free(gym);
}

int fh_gym_open(const struct fh_gym_options *options, struct fh_gym **out, struct fh_error *err)
{
	struct fh_gym_options read;
	struct fh_gym *gym;
	int r;

	err = error_or(err, &(struct fh_error)FH_ERROR_INIT);
	r = SIZED_READ(fh_gym_options, &read, options, err);
	if (r < 0)
		return r;
	gym = xcalloc(1, sizeof(*gym));
	pthread_mutex_init(&gym->lock, NULL);
	poller_init(&gym->poller);
	gym->tasks_dir = read.tasks_dir ? xstrdup(read.tasks_dir) : NULL;
	gym->mlgym_root = read.mlgym_root ? xstrdup(read.mlgym_root) : NULL;
	r = gym_open(gym, &read, err);
	if (r < 0) {
		gym_free(gym);
		return r;
	}
	*out = gym;
	return 0;
}

const char *fh_gym_warning(const struct fh_gym *gym)
{
	return owner_warning(gym->owner);
}

/* --- a task's layer --------------------------------------------------------------------------- */

/*
 * Size of the files that nftw() has found so far. Thread-local, because the callback of nftw() gets
 * no argument.
 */
static _Thread_local int64_t tree_bytes;

static int gym_add_size(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (type == FTW_F)
		tree_bytes += st->st_size;
	return 0;
}

static int gym_data_size(const struct task *task, int64_t *out_bytes, struct fh_error *err)
{
	tree_bytes = 0;
	for (size_t i = 0; i < task->n_data; i++)
		if (nftw(task->data[i].source, gym_add_size, 16, FTW_PHYS) < 0)
			return error_set(err, errno, "read '%s'", task->data[i].source);
	*out_bytes = tree_bytes;
	return 0;
}

int gym_bind_data(struct gym_task *t, struct fh_error *err)
{
	const struct task *task = t->task;
	int64_t bytes;
	int r = gym_data_size(task, &bytes, err);

	if (r < 0 || bytes <= COPIED_BYTES_MAX)
		return r;
	t->data_binds = arena_array(&t->arena, task->n_data, sizeof(*t->data_binds));
	t->n_data_binds = task->n_data;
	for (size_t i = 0; i < task->n_data; i++)
		t->data_binds[i] = (struct sandbox_bind){
			.source = task->data[i].source,
			.target = arena_printf(&t->arena, GUEST_WORKSPACE "/data/%s",
					task->data[i].target),
		};
	return 0;
}

static int gym_add_layer(struct fh_gym *gym, struct gym_task *t, struct fh_error *err)
{
	const struct task *task = t->task;
	auto_arena struct arena scratch = ARENA_INIT;
	struct layer_item *items;
	size_t n = 0;

	items = arena_array(&scratch, task->n_starter + task->n_data + 2, sizeof(*items));
	items[n++] = (struct layer_item){ .target = "workspace" };
	for (size_t i = 0; i < task->n_starter; i++)
		items[n++] = (struct layer_item){
			.source = task->starter[i].source,
			.target = arena_printf(&scratch, "workspace/%s", task->starter[i].target),
			.read_only = task->starter[i].read_only,
		};
	if (task->n_data)
		items[n++] = (struct layer_item){ .target = "workspace/data" };
	for (size_t i = 0; i < task->n_data && !t->n_data_binds; i++)
		items[n++] = (struct layer_item){
			.source = task->data[i].source,
			.target = arena_printf(&scratch, "workspace/data/%s", task->data[i].target),
			.read_only = task->data[i].read_only,
		};
	return owner_add_layer(gym->owner, t->layer, items, n, err);
}

/* --- loading ---------------------------------------------------------------------------------- */

/* Finds the gym's task of this name and data seed, or adds it, unprepared. Takes ownership of
 * `task`. */
static struct gym_task *gym_find_or_add(struct fh_gym *gym, struct task *task)
{
	struct gym_task *t;

	pthread_mutex_lock(&gym->lock);
	for (t = gym->tasks; t; t = t->next)
		if (!t->failed && str_eq(t->task->file, task->file) &&
				str_eq(t->task->variant, task->variant) &&
				t->task->data_seed == task->data_seed)
			break;
	if (t) {
		task_free(task);
	} else {
		t = xcalloc(1, sizeof(*t));
		pthread_mutex_init(&t->lock, NULL);
		t->task = task;
		t->layer = xasprintf("%zu-%s", gym->n_tasks++, task->id);
		t->next = gym->tasks;
		gym->tasks = t;
	}
	t->n_users++;
	pthread_mutex_unlock(&gym->lock);
	return t;
}

/* Makes the task's generated data. `python` is the environment for the programs; NULL: none. */
static int gym_make_data(struct fh_gym *gym, const struct task *task, const char *python,
		struct cancel *cancel, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct python_env env = { .spec = NULL };
	int r = python ? python_env_find(&arena, python, &env, err) : 0;

	return r < 0 ? r : make_data(gym->owner, &gym->secret, task, &env, cancel, err);
}

static int gym_prepare_task(struct fh_gym *gym, struct gym_task *t, const char *python,
		struct cancel *cancel, struct fh_error *err)
{
	const struct task *task = t->task;
	/*
	 * Hide the task's folder: a task that was named by its path may lie where agents see every
	 * file.
	 */
	int r = owner_hide(gym->owner, task->dir, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < task->n_datasets; i++) {
		r = owner_hide(gym->owner, task->datasets[i].dir, err);
		if (r < 0)
			return r;
	}
	r = gym_make_data(gym, task, python, cancel, err);
	if (r < 0)
		return r;
	r = task_hash(task, t->hash, err);
	if (r < 0)
		return r;
	r = gym_bind_data(t, err);
	if (r < 0)
		return r;
	return gym_add_layer(gym, t, err);
}

/*
 * Prepares the task unless that was done. Returns 1 if it is ready. Returns 0 if another thread has
 * failed to prepare it.
 */
static int gym_ready_task(struct fh_gym *gym, struct gym_task *t, const char *python,
		struct cancel *cancel, struct fh_error *err)
{
	int r = cancel_lock_mutex(cancel, &t->lock, err);

	if (r < 0)
		return r;
	if (!t->ready && !t->failed) {
		r = gym_prepare_task(gym, t, python, cancel, err);
		t->ready = r == 0;
	}
	if (r < 0) {
		/* Forget a task that failed: its files may have changed by the next time. */
		pthread_mutex_lock(&gym->lock);
		t->failed = true;
		pthread_mutex_unlock(&gym->lock);
	} else {
		r = t->ready;
	}
	pthread_mutex_unlock(&t->lock);
	return r;
}

void gym_task_leave(struct fh_gym *gym, struct gym_task *t)
{
	pthread_mutex_lock(&gym->lock);
	t->n_users--;
	t->last_use = ++gym->uses;
	pthread_mutex_unlock(&gym->lock);
}

/* Takes from the list the task with a data seed that was unused for longest. NULL: there are few
 * such tasks, and all stay. */
static struct gym_task *gym_take_unused(struct fh_gym *gym)
{
	auto_unlock pthread_mutex_t *held = scope_lock(&gym->lock);
	struct gym_task **oldest = NULL, *t;
	size_t n = 0;

	for (struct gym_task **at = &gym->tasks; *at; at = &(*at)->next) {
		if (!(*at)->task->data_seed || (*at)->n_users)
			continue;
		n++;
		if (!oldest || (*at)->last_use < (*oldest)->last_use)
			oldest = at;
	}
	if (n <= UNUSED_SEEDS_MAX)
		return NULL;
	t = *oldest;
	*oldest = t->next;
	return t;
}

static void gym_drop_unused(struct fh_gym *gym)
{
	struct gym_task *t;

	while ((t = gym_take_unused(gym))) {
		owner_drop_layer(gym->owner, t->layer);
		gym_task_free(t);
	}
}

int gym_task(struct fh_gym *gym, const struct fh_env_options *options, struct cancel *cancel,
		struct gym_task **out, struct fh_error *err)
{
	struct task_places places = { .tasks_dir = gym->tasks_dir,
		.state_dir = gym->state_dir,
		.mlgym_root = gym->mlgym_root,
		.data_seed = options->data_seed };
	struct gym_task *t = NULL;
	struct task *task;
	int r;

	for (;;) {
		r = task_load(&places, options->task, options->variant, &task, err);
		if (r < 0)
			return r;
		t = gym_find_or_add(gym, task);
		r = gym_ready_task(gym, t, options->python, cancel, err);
		if (r > 0)
			break;
		if (r < 0)
			error_wrap(err, "prepare task %s", t->task->id);
		gym_task_leave(gym, t);
		if (r < 0)
			return r;
	}
	gym_drop_unused(gym);
	*out = t;
	return 0;
}
