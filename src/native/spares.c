/* SPDX-License-Identifier: Apache-2.0 */
#include "native/spares.h"

#include "native/nursery_talk.h"

/*
 * Control groups made ahead, each with a process that waits for its sandbox. So no reset waits for
 * the kernel to make a group or a network, or to move a process.
 *
 * An owner that has started no sandbox yet has one spare. If it starts many sandboxes, it has
 * three: for an episode, a judge and a player.
 */

/*
 * Takes the oldest control group that was made ahead. The nursery makes a group's cradle (waiting
 * process) only when no message comes. So the oldest group most likely has one.
 */
static struct spare spares_take_oldest(struct native_owner *o)
{
	struct spare *oldest = NULL, spare = { 0 };

	for (size_t i = 0; i < SPARES_MAX; i++) {
		struct spare *s = &o->spares[i];

		if (s->group && (!oldest || s->cradle < oldest->cradle))
			oldest = s;
	}
	if (!oldest)
		return spare;
	spare = *oldest;
	*oldest = (struct spare){ 0 };
	return spare;
}

int spares_take(struct native_owner *o, const struct sandbox_limits *limits, struct cgroup **out,
		uint32_t *out_cradle, struct fh_error *err)
{
	struct spare spare;
	int r = 0;

	pthread_mutex_lock(&o->lock);
	spare = spares_take_oldest(o);
	o->sandboxes_started++;
	o->last_limits = *limits;
	if (!spare.group && o->cgroups)
		r = cgroups_take(o->cgroups, &spare.group, err);
	pthread_mutex_unlock(&o->lock);
	if (r < 0)
		return r;
	r = spare.group ? cgroups_limit(spare.group, limits, err) : 0;
	if (r < 0) {
		cgroups_give(spare.group);
		return r;
	}
	*out = spare.group;
	*out_cradle = spare.cradle;
	return 0;
}

static bool spares_add(struct native_owner *o, struct spare *spare)
{
	struct cgroup *group;

	if (cgroups_take(o->cgroups, &group, NULL) < 0)
		return false;
	if (cgroups_limit(group, &o->last_limits, NULL) < 0 ||
			nursery_add_cradle(o, ++o->cradles, group) < 0) {
		cgroups_give(group);
		return false;
	}
	*spare = (struct spare){ .group = group, .cradle = o->cradles };
	return true;
}

void spares_refill(struct native_owner *o)
{
	unsigned wanted;

	pthread_mutex_lock(&o->lock);
	wanted = o->sandboxes_started < SPARES_MAX ? o->sandboxes_started + 1 : SPARES_MAX;
	for (size_t i = 0; i < SPARES_MAX && i < wanted && o->cgroups && o->nursery >= 0; i++)
		if (!o->spares[i].group && !spares_add(o, &o->spares[i]))
			break;
	pthread_mutex_unlock(&o->lock);
}

void spares_drop(struct native_owner *o)
{
	for (size_t i = 0; i < SPARES_MAX; i++) {
		if (o->spares[i].group)
			cgroups_give(o->spares[i].group);
		o->spares[i] = (struct spare){ 0 };
	}
}
