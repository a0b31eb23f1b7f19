/* SPDX-License-Identifier: Apache-2.0 */
#include "native/nursery.h"

#include "base/mem.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"
#include "proto/guest.h"
#include "native/seccomp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An owner: what a process' sandboxes share. The nursery itself is started by the first of them. */

static int cover_own(struct owner *o, struct fh_error *err)
{
	auto_free char *state = NULL;
	int r = owner_cover(o, places_get()->share_dir, err);

	/* Without a state folder there is nothing in it. */
	if (r == 0 && places_state_dir(NULL, &state, NULL) == 0)
		r = owner_cover(o, state, err);
	return r;
}

int owner_open(const struct owner_options *options, struct owner **out, struct fh_error *err)
{
	struct owner *o = xcalloc(1, sizeof(*o));
	int r;

	pthread_mutex_init(&o->changing, NULL);
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->errand_settled, NULL);
	o->label = xstrdup(options && options->label ? options->label : "run");
	o->nursery = o->disk_claim = o->roll_fd = -1;
	o->self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	r = o->self < 0 ? error_set(err, errno, "open a pidfd of this process") : 0;
	if (r == 0)
		r = roll_open(o, err);
	if (r == 0)
		r = cover_own(o, err);
	if (r == 0 && options && options->gpus.wanted)
		r = gpus_open(&options->gpus, &o->gpus, err);
	if (r == 0)
		r = seccomp_build(&o->base_filter, &o->agent_filter, &o->judged_filter, err);
	fork_watch_owner(o);
	if (r < 0) {
		owner_close(o);
		return r;
	}
	*out = o;
	return 0;
}

static void free_layers(struct owner_layer *l)
{
	while (l) {
		struct owner_layer *next = l->next;

		for (size_t i = 0; i < l->n; i++) {
			free((char *)(uintptr_t)l->items[i].source);
			free((char *)(uintptr_t)l->items[i].target);
		}
		free(l->items);
		free(l->name);
		free(l);
		l = next;
	}
}

void owner_close(struct owner *o)
{
	if (!o)
		return;
	fork_unwatch_owner(o);
	errands_finish(o);
	if (o->disk_folders || o->disk_removals)
		nursery_do_all(o->nursery);
	nursery_stop(o);
	nursery_await_retired(o);
	roll_release(o);
	disk_close(o);
	gpus_close(o->gpus);
	close_fd(&o->self);
	cgroups_close(o->cgroups);
	free_layers(o->layers);
	buf_release(&o->base_filter);
	buf_release(&o->agent_filter);
	buf_release(&o->judged_filter);
	pthread_cond_destroy(&o->errand_settled);
	pthread_mutex_destroy(&o->lock);
	pthread_mutex_destroy(&o->changing);
	free(o->no_cgroups);
	for (size_t i = 0; i < o->n_covers; i++)
		free(o->covers[i]);
	free(o->label);
	free(o);
}

const char *owner_warning(const struct owner *o)
{
	if (atomic_load(&o->limits_missed))
		return o->no_cgroups;
	if (atomic_load(&o->disk_unlimited))
		return "disk space is not limited: the state folder's file system has no project "
		       "quota that this user may set";
	return NULL;
}

void owner_abilities(const struct owner *o, struct owner_abilities *out)
{
	*out = (struct owner_abilities){ .groups = o->cgroups != NULL,
		.no_groups = o->no_cgroups,
		.overlay = o->can & NURSERY_CAN_OVERLAY };
}

int owner_take_gpus(struct owner *o, size_t n, int *out_numbers, struct fh_error *err)
{
	return gpus_take(o->gpus, n, out_numbers, err);
}

void owner_give_gpus(struct owner *o, const int *numbers, size_t n)
{
	gpus_give(o->gpus, numbers, n);
}

int owner_collect(void)
{
	int count = cgroups_collect();
	struct owner *o;

	if (owner_open(&(struct owner_options){ .label = "gc" }, &o, NULL) < 0)
		return count;
	count += disk_collect(o);
	owner_close(o);
	return count;
}

/* --- layers ---------------------------------------------------------------------------------- */

static struct owner_layer *find_layer(const struct owner *o, const char *name)
{
	for (struct owner_layer *l = o->layers; l; l = l->next)
		if (str_eq(l->name, name))
			return l;
	return NULL;
}

bool owner_has_layer(const struct owner *o, const char *name)
{
	struct owner *locked = (struct owner *)(uintptr_t)o;
	bool found;

	pthread_mutex_lock(&locked->lock);
	found = find_layer(o, name) != NULL;
	pthread_mutex_unlock(&locked->lock);
	return found;
}

static struct owner_layer *copy_layer(const char *name, const struct layer_item *items, size_t n)
{
	struct owner_layer *l = xcalloc(1, sizeof(*l));

	l->name = xstrdup(name);
	l->items = xcalloc(n, sizeof(*l->items));
	l->n = n;
	for (size_t i = 0; i < n; i++)
		l->items[i] = (struct layer_item){
			.source = items[i].source ? xstrdup(items[i].source) : NULL,
			.target = xstrdup(items[i].target),
			.read_only = items[i].read_only,
			.folders_only = items[i].folders_only,
		};
	return l;
}

/* A nursery that was killed as it copied, or the process that copied, is no reason to fail. */
static int make_layer(struct owner *o, const struct owner_layer *layer, struct fh_error *err)
{
	int r = 0;

	for (int i = 0; i < SANDBOX_STARTS_MAX; i++) {
		r = nursery_need(o, err);
		if (r == 0)
			r = nursery_make_layer(o->nursery, layer, err);
		if (!nursery_is_lost(r))
			return r;
		/* Its socket is closed a moment before the process can be seen to have ended. */
		atomic_store(&o->in_doubt, true);
	}
	return r;
}

/* Under `changing`: it is in the list before another nursery is started, which makes it too. */
static int add_layer(struct owner *o, struct owner_layer *layer, struct fh_error *err)
{
	int r;

	if (find_layer(o, layer->name))
		return error_say(err, EEXIST, "the layer '%s' is there already", layer->name);
	r = make_layer(o, layer, err);
	if (r < 0)
		return r;
	pthread_mutex_lock(&o->lock);
	layer->next = o->layers;
	o->layers = layer;
	pthread_mutex_unlock(&o->lock);
	return 0;
}

int owner_add_layer(struct owner *o, const char *name, const struct layer_item *items, size_t n,
		struct fh_error *err)
{
	struct owner_layer *layer = copy_layer(name, items, n);
	int r;

	pthread_mutex_lock(&o->changing);
	r = add_layer(o, layer, err);
	pthread_mutex_unlock(&o->changing);
	if (r < 0)
		free_layers(layer);
	else
		spares_refill(o);
	return r;
}

void owner_folders_name(const char *source, char out[FOLDERS_NAME_BYTES])
{
	uint8_t digest[SHA256_BYTES];
	char hex[SHA256_HEX_BYTES];
	struct sha256 h;

	sha256_init(&h);
	sha256_add_str(&h, source);
	sha256_end(&h, digest);
	sha256_hex(digest, hex);
	snprintf(out, FOLDERS_NAME_BYTES, "folders-%.16s", hex);
}

int owner_add_folders(struct owner *o, const char *source, struct fh_error *err)
{
	const struct layer_item item = { .source = source, .target = "", .folders_only = true };
	char name[FOLDERS_NAME_BYTES];
	int r;

	owner_folders_name(source, name);
	r = owner_add_layer(o, name, &item, 1, err);
	return r == -EEXIST ? 0 : r;
}
