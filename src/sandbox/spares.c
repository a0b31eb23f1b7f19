/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/owner.h"

/*
 * Spare groups, each with a process that waits in it for the next sandbox, so that no reset has to wait
 * for the kernel to move one. The first sandbox of an owner gets one made ahead; who starts many has as
 * many spares as a grading takes (an episode, a judge and a player at once).
 */

int spares_take(struct owner *o, const struct sandbox_limits *limits, struct cgroup **out,
		uint32_t *out_cradle, struct fh_error *err)
{
	struct spare spare = { 0 };
	int r = 0;

	pthread_mutex_lock(&o->lock);
	for (size_t i = 0; i < SPARES_MAX && !spare.group; i++) {
		spare = o->spares[i];
		o->spares[i] = (struct spare){ 0 };
	}
	o->sandboxes_started++;
	pthread_mutex_unlock(&o->lock);
	if (!spare.group)
		r = cgroups_take(o->cgroups, &spare.group, err);
	if (r < 0)
		return r;
	r = cgroups_limit(o->cgroups, spare.group, limits, err);
	if (r < 0) {
		cgroups_give(o->cgroups, spare.group);
		return r;
	}
	*out = spare.group;
	*out_cradle = spare.cradle;
	return 0;
}

static bool add(struct owner *o, struct spare *spare)
{
	struct cgroup *group;

	if (cgroups_take(o->cgroups, &group, NULL) < 0)
		return false;
	if (nursery_add_cradle(o, ++o->cradles, group) < 0) {
		cgroups_give(o->cgroups, group);
		return false;
	}
	*spare = (struct spare){ .group = group, .cradle = o->cradles };
	return true;
}

void spares_refill(struct owner *o)
{
	const int *home;
	unsigned wanted;

	if (!o->cgroups || !cgroups_home(o->cgroups, &home))
		return;
	pthread_mutex_lock(&o->lock);
	wanted = o->sandboxes_started < SPARES_MAX ? o->sandboxes_started + 1 : SPARES_MAX;
	for (size_t i = 0; i < SPARES_MAX && i < wanted && o->nursery >= 0; i++)
		if (!o->spares[i].group && !add(o, &o->spares[i]))
			break;
	pthread_mutex_unlock(&o->lock);
}

void spares_drop(struct owner *o)
{
	for (size_t i = 0; i < SPARES_MAX; i++) {
		if (o->spares[i].group)
			cgroups_give(o->cgroups, o->spares[i].group);
		o->spares[i] = (struct spare){ 0 };
	}
}
