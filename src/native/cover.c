/* SPDX-License-Identifier: Apache-2.0 */
#include "native/cover.h"

#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "native/nursery.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Sandboxes see listed paths of this machine. Folders with tasks, records, Fumehood's state or its
 * own files may lie beneath a listed path. To hide such a folder, the nursery mounts an empty
 * folder over it when it makes the root. A folder that is hidden later needs a new nursery.
 */

#define ETC "/etc" /* folder of which sandboxes see only some files */

static bool cover_is_listed(const char *real)
{
	bool listed = path_is_within(real, ETC) || str_eq(real, "/");

	for (size_t i = 0; listed_paths[i] && !listed; i++)
		listed = path_is_within(real, listed_paths[i]);
	return listed;
}

static bool cover_has(const struct native_owner *o, const char *real)
{
	for (size_t i = 0; i < o->n_covers; i++)
		if (path_is_within(real, o->covers[i]))
			return true;
	return false;
}

int cover_check(const char *folder, struct fh_error *err)
{
	auto_free char *real = realpath(folder, NULL);

	if (real && cover_is_listed(real) && sandbox_bind_hides_needed(real))
		return error_say(err, EINVAL,
				"'%s' can't be hidden from agents, since it holds what their "
				"sandboxes need: choose another folder",
				folder);
	return 0;
}

/* Adds a folder to the list o->covers of folders that sandboxes must not see. The caller holds
 * o->changing. */
static int cover_add(struct native_owner *o, const char *real, struct fh_error *err)
{
	if (cover_has(o, real))
		return 0;
	if (o->n_covers == COVERS_MAX)
		return error_say(err, E2BIG,
				"'%s' can't be hidden from agents: only %d folders beneath /usr and "
				"/opt can be. Move it, or give the folder above it to --tasks-dir",
				real, COVERS_MAX);
	pthread_mutex_lock(&o->lock);
	o->covers[o->n_covers++] = arena_strdup(&o->arena, real);
	pthread_mutex_unlock(&o->lock);
	nursery_retire(o);
	return 0;
}

int cover_hide(struct owner *base, const char *folder, struct fh_error *err)
{
	struct native_owner *o = native_owner_of(base);
	/* Resolve symbolic links in the folder's path: a mount over a link would leave its target
	 * visible. */
	auto_free char *real = realpath(folder, NULL);
	int r = cover_check(folder, err);
	bool covered;

	if (r < 0 || !real || !cover_is_listed(real))
		return r;
	pthread_mutex_lock(&o->lock);
	covered = cover_has(o, real);
	pthread_mutex_unlock(&o->lock);
	if (covered)
		return 0;
	pthread_mutex_lock(&o->changing);
	r = cover_add(o, real, err);
	pthread_mutex_unlock(&o->changing);
	return r;
}
