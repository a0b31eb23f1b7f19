/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "native/nursery.h"

#include <errno.h>
#include <stdlib.h>

/*
 * What the root of a sandbox has of this machine, and what is hidden of that: tasks, records, the state, and
 * our own files may lie beneath a listed path. The nursery mounts an empty folder over each when it makes
 * the root; for one that is named later, there is a new nursery.
 */
const char *const listed_paths[] = {
	"/usr",
	"/bin",
	"/sbin",
	"/lib",
	"/lib32",
	"/lib64",
	"/libx32",
	"/opt",
	NULL,
};

#define ETC "/etc" /* of which the nursery takes some */

static bool is_listed(const char *real)
{
	bool listed = path_is_within(real, ETC) || str_eq(real, "/");

	for (size_t i = 0; listed_paths[i] && !listed; i++)
		listed = path_is_within(real, listed_paths[i]);
	return listed;
}

static bool is_covered(const struct owner *o, const char *real)
{
	for (size_t i = 0; i < o->n_covers; i++)
		if (path_is_within(real, o->covers[i]))
			return true;
	return false;
}

int sandbox_cover_check(const char *folder, struct fh_error *err)
{
	auto_free char *real = realpath(folder, NULL);

	if (real && is_listed(real) && sandbox_bind_hides_needed(real))
		return error_say(err, EINVAL,
				"'%s' can't be hidden from agents, since it holds what their "
				"sandboxes need: choose another folder",
				folder);
	return 0;
}

/* Under `changing`. */
static int add(struct owner *o, const char *real, struct fh_error *err)
{
	if (is_covered(o, real))
		return 0;
	if (o->n_covers == COVERS_MAX)
		return error_say(err, E2BIG,
				"'%s' can't be hidden from agents, as more than %d folders beneath "
				"/usr and /opt: name the folder above them by --tasks-dir, or put "
				"it elsewhere",
				real, COVERS_MAX);
	pthread_mutex_lock(&o->lock);
	o->covers[o->n_covers++] = xstrdup(real);
	pthread_mutex_unlock(&o->lock);
	nursery_retire(o);
	return 0;
}

int owner_cover(struct owner *o, const char *folder, struct fh_error *err)
{
	/* Links would make a cover miss what it is for. */
	auto_free char *real = realpath(folder, NULL);
	int r = sandbox_cover_check(folder, err);
	bool covered;

	if (r < 0 || !real || !is_listed(real))
		return r;
	pthread_mutex_lock(&o->lock);
	covered = is_covered(o, real);
	pthread_mutex_unlock(&o->lock);
	if (covered)
		return 0;
	pthread_mutex_lock(&o->changing);
	r = add(o, real, err);
	pthread_mutex_unlock(&o->changing);
	return r;
}
