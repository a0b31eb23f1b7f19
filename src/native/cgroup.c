/* SPDX-License-Identifier: Apache-2.0 */
#include "native/cgroup.h"

#include "base/clock.h"
#include "base/job.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/scope.h"
#include "native/cgroup_collect.h"
#include "native/cgroup_file.h"
#include "native/cgroup_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * A pool of control groups has a folder in each hierarchy. The folder's name is CGROUP_PREFIX, the
 * pool's label and the name of the process (base/process.h). The process holds a flock(2) on each
 * folder, the claim. A folder without a claim belongs to a process that has ended.
 */
/* most used control groups to check for processes at a time, oldest first */
#define CGROUP_TRIES_MAX 4
/* milliseconds to wait at most until the processes in the groups have ended */
#define CLOSE_WAIT_MS 500
/* milliseconds to wait at most for the end of processes whose file pages are to be dropped */
#define TRACELESS_WAIT_MS 10000

struct cgroups {
	struct cgroup_tree tree;
	pthread_mutex_t lock; /* guards the fields below, which threads share */
	/* control groups that sandboxes have given back, oldest first */
	struct cgroup *used, **used_end;
	unsigned made, lent;
	bool closed;
	int home[CGROUP_PARTS];
	size_t n_home;
	/* descriptors that hold locks on the folders of the pool's control groups:
	 * base/process.h */
	int claims[CGROUP_PARTS + 1];
	size_t n_claims;
};

static char *cgroup_path(const struct cgroups *pool, const struct cgroup *group, size_t part)
{
	return xasprintf("%s/%s", pool->tree.folders[part], group->name);
}

/* --- opening and closing a pool of control groups --------------------------------------------- */

static int cgroup_make_folders(struct cgroups *pool, const char *label, struct fh_error *err)
{
	struct cgroup_tree *tree = &pool->tree;
	auto_free char *prefix = xasprintf(CGROUP_PREFIX "%s", label);
	auto_free char *name = process_own_name(prefix);
	int r;

	for (size_t i = 0; i < tree->n_all; i++) {
		char *folder = xasprintf("%s/%s", tree->folders[i], name);

		free(tree->folders[i]);
		tree->folders[i] = folder;
		if (mkdir(folder, 0755) < 0 && errno != EEXIST)
			return error_set(err, errno, "make control group '%s'", folder);
		r = process_claim(folder);
		if (r < 0)
			return error_set(err, -r, "lock control group '%s'", folder);
		pool->claims[pool->n_claims++] = r;
	}
	return 0;
}

static int cgroup_make_own(
		struct cgroups *pool, const char *label, pid_t helper, struct fh_error *err)
{
	struct cgroup_tree *tree = &pool->tree;
	int r;

	for (size_t i = 0; i < tree->n_all; i++)
		cgroup_collect_in(tree->folders[i]);
	/* Open the groups that this process is in, before `tree` gets the folders of the pool. */
	for (size_t i = 0; i < tree->n && !tree->kind->born_into; i++) {
		auto_free char *path = xasprintf("%s/cgroup.procs", tree->folders[i]);
		int fd = open(path, O_WRONLY | O_CLOEXEC);

		if (fd >= 0)
			pool->home[pool->n_home++] = fd;
	}
	r = cgroup_make_folders(pool, label, err);
	if (r < 0)
		return r;
	r = tree->kind->adopt(tree, helper, err);
	return r < 0 ? r : tree->kind->prepare(tree, err);
}

struct cgroups *cgroups_open(const char *label, pid_t helper, char **out_why)
{
	struct fh_error err = FH_ERROR_INIT;
	struct cgroups *pool = xcalloc(1, sizeof(*pool));
	auto_free char *why1 = NULL;
	auto_free char *why2 = NULL;

	if (cgroup_v1.find(helper, &pool->tree, &why1) < 0 &&
			cgroup_v2.find(helper, &pool->tree, &why2) < 0) {
		*out_why = xasprintf("%s; %s", why1, why2);
		free(pool);
		return NULL;
	}
	pool->used_end = &pool->used;
	pthread_mutex_init(&pool->lock, NULL);
	if (cgroup_make_own(pool, label, helper, &err) < 0) {
		*out_why = xstrdup(err.message);
		cgroups_close(pool);
		return NULL;
	}
	return pool;
}

int cgroups_adopt(struct cgroups *pool, pid_t helper, struct fh_error *err)
{
	return pool->tree.kind->adopt(&pool->tree, helper, err);
}

bool cgroups_born_into(const struct cgroups *pool)
{
	return pool->tree.kind->born_into;
}

static void cgroup_free(struct cgroup *group)
{
	cgroup_sent(group);
	close_fd(&group->cpu_fd);
	close_fd(&group->memory_fd);
	free(group->name);
	free(group);
}

static void cgroup_unclaim(struct cgroups *pool)
{
	while (pool->n_claims)
		close(pool->claims[--pool->n_claims]);
}

void cgroups_forked(struct cgroups *pool)
{
	/* Make the mutex again in this fork: another thread may have held it at the fork. */
	pthread_mutex_init(&pool->lock, NULL);
	cgroup_unclaim(pool);
}

/*
 * Removes the folders of a pool on which this process holds file locks. A fork holds none, and
 * removes none. The next owner removes folders that can't be removed now.
 */
static void cgroup_destroy_pool(struct cgroups *pool)
{
	int64_t deadline = clock_now_ns() + CLOSE_WAIT_MS * NS_PER_MS;

	while (pool->used) {
		struct cgroup *group = pool->used;

		pool->used = group->next;
		cgroup_free(group);
	}
	for (size_t i = 0; i < pool->n_home; i++)
		close(pool->home[i]);
	for (size_t i = 0; i < pool->n_claims; i++)
		while (cgroup_remove_folder(pool->tree.folders[i]) < 0 && clock_now_ns() < deadline)
			nanosleep(&(struct timespec){ .tv_nsec = 2 * NS_PER_MS }, NULL);
	cgroup_unclaim(pool);
	cgroup_tree_release(&pool->tree);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void cgroups_close(struct cgroups *pool)
{
	bool last;

	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->closed = true;
	last = pool->lent == 0;
	pthread_mutex_unlock(&pool->lock);
	if (last)
		cgroup_destroy_pool(pool);
}

/* --- groups ---------------------------------------------------------------------------------- */

static bool cgroup_has_no_process(const struct cgroups *pool, const struct cgroup *group)
{
	auto_free char *folder = cgroup_path(pool, group, 0);
	auto_free char *path = xasprintf("%s/cgroup.procs", folder);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte;

	return fd >= 0 && read(fd, &byte, 1) == 0;
}

static bool cgroup_is_empty(const struct cgroups *pool, const struct cgroup *group)
{
	const struct cgroup_kind *kind = pool->tree.kind;

	return cgroup_has_no_process(pool, group) &&
			!(kind->is_used && kind->is_used(&pool->tree, group->name));
}

static void cgroup_remove(struct cgroups *pool, struct cgroup *group)
{
	for (size_t i = 0; i < pool->tree.n_all; i++) {
		auto_free char *folder = cgroup_path(pool, group, i);

		rmdir(folder);
	}
	cgroup_free(group);
}

/*
 * Takes the first control group without processes from the list of used groups. NULL: none of the
 * CGROUP_TRIES_MAX oldest is empty. The caller holds the pool's mutex.
 */
static struct cgroup *cgroup_find_empty(struct cgroups *pool)
{
	struct cgroup **at = &pool->used;

	for (int i = 0; *at && i < CGROUP_TRIES_MAX; i++, at = &(*at)->next) {
		struct cgroup *found = *at;

		if (!cgroup_is_empty(pool, found))
			continue;
		*at = found->next;
		if (pool->used_end == &found->next)
			pool->used_end = at;
		found->next = NULL;
		return found;
	}
	return NULL;
}

/*
 * Returns a control group that an ended sandbox used, and resets its memory peak. Removes groups
 * whose peak can't be reset. NULL: there is none.
 */
static struct cgroup *cgroup_take_used(struct cgroups *pool)
{
	bool (*forget_peak)(int) = pool->tree.kind->forget_peak;
	struct cgroup *found;

	pthread_mutex_lock(&pool->lock);
	while ((found = cgroup_find_empty(pool)) && forget_peak && !forget_peak(found->memory_fd))
		cgroup_remove(pool, found);
	pthread_mutex_unlock(&pool->lock);
	return found;
}

static int cgroup_make(struct cgroups *pool, struct cgroup **out, struct fh_error *err)
{
	struct cgroup *group = xcalloc(1, sizeof(*group));

	group->pool = pool;
	group->cpu_fd = group->memory_fd = -1;
	pthread_mutex_lock(&pool->lock);
	group->name = xasprintf("ep%u", pool->made++);
	pthread_mutex_unlock(&pool->lock);
	for (size_t i = 0; i < pool->tree.n; i++) {
		auto_free char *folder = cgroup_path(pool, group, i);

		if (mkdir(folder, 0755) < 0 && errno != EEXIST) {
			int r = error_set(err, errno, "make control group '%s'", folder);

			cgroup_free(group);
			return r;
		}
	}
	*out = group;
	return 0;
}

static int cgroup_open_files(struct cgroups *pool, struct cgroup *group, struct fh_error *err)
{
	for (size_t i = 0; i < pool->tree.n; i++) {
		auto_free char *folder = cgroup_path(pool, group, i);
		auto_free char *procs = xasprintf("%s/cgroup.procs", folder);
		int fd = pool->tree.kind->born_into
				? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				: open(procs, O_WRONLY | O_CLOEXEC);

		if (fd < 0)
			return error_set(err, errno, "open control group '%s'", group->name);
		group->parts[group->n_parts++] = fd;
	}
	if (group->cpu_fd < 0)
		group->cpu_fd = pool->tree.kind->open_cpu(&pool->tree, group->name);
	if (group->memory_fd < 0 && pool->tree.kind->forget_peak)
		group->memory_fd = pool->tree.kind->open_memory(&pool->tree, group->name);
	return 0;
}

static int cgroup_set_limits(
		struct cgroup *group, const struct sandbox_limits *limits, struct fh_error *err)
{
	const struct cgroup_tree *tree = &group->pool->tree;
	const struct sandbox_limits *has = group->known ? &group->limits : NULL;
	int r;

	group->known = false;
	r = tree->kind->limit(tree, group->name, limits, has, err);
	if (r < 0)
		return r;
	group->limits = *limits;
	group->known = group->limited = true;
	for (size_t i = 0; i < CGROUP_EVENTS; i++) {
		int64_t n = tree->kind->count(tree, group->name, (enum cgroup_event)i);

		group->event_base[i] = n > 0 ? n : 0;
	}
	return 0;
}

int cgroups_take(struct cgroups *pool, struct cgroup **out, struct fh_error *err)
{
	struct cgroup *group = cgroup_take_used(pool);
	int r = group ? 0 : cgroup_make(pool, &group, err);

	if (r < 0)
		return r;
	r = cgroup_open_files(pool, group, err);
	if (r < 0) {
		cgroup_remove(pool, group);
		return r;
	}
	group->limited = false;
	pthread_mutex_lock(&pool->lock);
	pool->lent++;
	pthread_mutex_unlock(&pool->lock);
	*out = group;
	return 0;
}

int cgroups_limit(struct cgroup *group, const struct sandbox_limits *limits, struct fh_error *err)
{
	const struct sandbox_limits *has = &group->limits;
	bool same = group->limited && has->memory_bytes == limits->memory_bytes &&
			has->pids == limits->pids && has->cpus == limits->cpus;
	int64_t cpu_ns;
	int r = same ? 0 : cgroup_set_limits(group, limits, err);

	if (r < 0)
		return r;
	/*
	 * Note the CPU time of earlier sandboxes and cradles in the control group, to subtract it
	 * later.
	 */
	group->cpu_base_ns = 0;
	cpu_ns = cgroup_cpu_ns(group);
	group->cpu_base_ns = cpu_ns > 0 ? cpu_ns : 0;
	return 0;
}

size_t cgroups_home(const struct cgroups *pool, const int **out_fds)
{
	*out_fds = pool->home;
	return pool->n_home;
}

void cgroups_give(struct cgroup *group)
{
	struct cgroups *pool = group->pool;
	bool last;

	cgroup_sent(group);
	pthread_mutex_lock(&pool->lock);
	group->next = NULL;
	*pool->used_end = group;
	pool->used_end = &group->next;
	last = --pool->lent == 0 && pool->closed;
	pthread_mutex_unlock(&pool->lock);
	if (last)
		cgroup_destroy_pool(pool);
}

static int cgroup_give_traceless(void *arg, struct fh_error *err)
{
	struct cgroup *group = arg;
	const struct cgroups *pool = group->pool;
	int64_t deadline = clock_now_ns() + TRACELESS_WAIT_MS * NS_PER_MS;

	while (!cgroup_has_no_process(pool, group) && clock_now_ns() < deadline)
		nanosleep(&(struct timespec){ .tv_nsec = NS_PER_MS / 2 }, NULL);
	pool->tree.kind->reclaim(&pool->tree, group->name);
	cgroups_give(group);
	return 0;
}

struct job *cgroups_give_traceless(struct cgroup *group)
{
	struct job *job;

	if (job_begin(cgroup_give_traceless, group, "drop file pages", &job, NULL) == 0)
		return job;
	cgroups_give(group);
	return NULL;
}

static int cgroup_freeze_now(void *arg, struct fh_error *err)
{
	struct cgroup *group = arg;
	const struct cgroup_tree *tree = &group->pool->tree;

	return tree->kind->freeze(tree, group->name, group->limits.pids, err);
}

int cgroup_freeze(struct cgroup *group, struct job **out, struct fh_error *err)
{
	if (!group->pool->tree.freezes)
		return error_say(err, EOPNOTSUPP, "there is no v2 hierarchy of control groups");
	return job_begin(cgroup_freeze_now, group, "freeze a sandbox", out, err);
}

void cgroup_thaw(const struct cgroup *group)
{
	const struct cgroup_tree *tree = &group->pool->tree;

	tree->kind->thaw(tree, group->name);
}

void cgroup_sent(struct cgroup *group)
{
	for (size_t i = 0; i < group->n_parts; i++)
		close(group->parts[i]);
	group->n_parts = 0;
}

int64_t cgroup_cpu_ns(const struct cgroup *group)
{
	const struct cgroup_kind *kind = group->pool->tree.kind;
	int64_t n = group->cpu_fd < 0 ? -1 : cgroup_read_number(group->cpu_fd, kind->cpu_key);

	return n < 0 ? -1 : n * kind->cpu_unit_ns - group->cpu_base_ns;
}

int64_t cgroup_memory_peak(const struct cgroup *group)
{
	const struct cgroup_tree *tree = &group->pool->tree;
	auto_close int opened = -1;

	if (group->memory_fd >= 0)
		return cgroup_read_number(group->memory_fd, "");
	opened = tree->kind->open_memory(tree, group->name);
	return opened < 0 ? -1 : cgroup_read_number(opened, "");
}

int64_t cgroup_count(const struct cgroup *group, enum cgroup_event event)
{
	const struct cgroup_tree *tree = &group->pool->tree;
	int64_t n = tree->kind->count(tree, group->name, event);

	return n < 0 ? -1 : n - group->event_base[event];
}
