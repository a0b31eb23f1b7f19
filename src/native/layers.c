/* SPDX-License-Identifier: Apache-2.0 */
#include "native/layers.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"
#include "native/nursery.h"
#include "native/nursery_talk.h"
#include "native/spares.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void layers_free(struct owner_layer *l)
{
	arena_release(&l->arena);
	free(l);
}

void layers_release(struct native_owner *o)
{
	for (struct owner_layer *l = o->layers, *next; l; l = next) {
		next = l->next;
		layers_free(l);
	}
}

static bool layers_find(const struct native_owner *o, const char *name)
{
	for (const struct owner_layer *l = o->layers; l; l = l->next)
		if (str_eq(l->name, name))
			return true;
	return false;
}

bool layers_has(struct native_owner *o, const char *name)
{
	bool found;

	pthread_mutex_lock(&o->lock);
	found = layers_find(o, name);
	pthread_mutex_unlock(&o->lock);
	return found;
}

static struct owner_layer *layers_copy(
		const char *name, const struct layer_item *items, size_t n, bool folders_only)
{
	struct owner_layer *l = xcalloc(1, sizeof(*l));

	l->name = arena_strdup(&l->arena, name);
	l->items = arena_array(&l->arena, n, sizeof(*l->items));
	l->n = n;
	l->folders_only = folders_only;
	for (size_t i = 0; i < n; i++)
		l->items[i] = (struct layer_item){
			.source = items[i].source ? arena_strdup(&l->arena, items[i].source) : NULL,
			.target = arena_strdup(&l->arena, items[i].target),
			.read_only = items[i].read_only,
		};
	return l;
}

static int layers_try_make(
		struct native_owner *o, const struct owner_layer *layer, struct fh_error *err)
{
	int r = nursery_need(o, err);

	if (r < 0)
		return r;
	return nursery_make_layer(o->nursery, layer, err);
}

/*
 * Has the nursery make a layer. Tries again if the nursery was killed, or its child that copies the
 * files. The caller holds o->changing.
 */
static int layers_make(
		struct native_owner *o, const struct owner_layer *layer, struct fh_error *err)
{
	int r = 0;

	if (layers_find(o, layer->name))
		return error_say(err, EEXIST, "the layer '%s' already exists", layer->name);
	for (int i = 0; i < SANDBOX_STARTS_MAX; i++) {
		r = layers_try_make(o, layer, err);
		if (!nursery_is_lost(r))
			return r;
		/*
		 * Note that the nursery may be dead. If a process is killed, its socket closes a
		 * moment before its pidfd reports its end.
		 */
		atomic_store(&o->in_doubt, true);
	}
	return r;
}

/*
 * Has the nursery make a layer and adds it to the owner's list, which then owns the layer. No other
 * nursery may start in between: a new nursery makes only the layers of the list.
 */
static int layers_keep(struct native_owner *o, struct owner_layer *layer, struct fh_error *err)
{
	int r;

	pthread_mutex_lock(&o->changing);
	r = layers_make(o, layer, err);
	if (r < 0) {
		pthread_mutex_unlock(&o->changing);
		layers_free(layer);
		return r;
	}
	pthread_mutex_lock(&o->lock);
	layer->next = o->layers;
	o->layers = layer;
	pthread_mutex_unlock(&o->lock);
	pthread_mutex_unlock(&o->changing);
	spares_refill(o);
	return 0;
}

int layers_add(struct owner *base, const char *name, const struct layer_item *items, size_t n,
		struct fh_error *err)
{
	return layers_keep(native_owner_of(base), layers_copy(name, items, n, false), err);
}

void layers_folders_name(const char *source, char out[FOLDERS_NAME_BYTES])
{
	char hex[SHA256_HEX_BYTES];
	struct sha256 h;

	sha256_init(&h);
	sha256_add_str(&h, source);
	sha256_end_hex(&h, hex);
	snprintf(out, FOLDERS_NAME_BYTES, "folders-%.16s", hex);
}

int layers_add_writable(struct owner *base, const char *source, struct fh_error *err)
{
	const struct layer_item item = { .source = source, .target = "" };
	char name[FOLDERS_NAME_BYTES];
	int r;

	layers_folders_name(source, name);
	r = layers_keep(native_owner_of(base), layers_copy(name, &item, 1, true), err);
	return r == -EEXIST ? 0 : r;
}

/* Takes a layer out of the list. NULL: there is none of this name. */
static struct owner_layer *layers_take(struct native_owner *o, const char *name)
{
	auto_unlock pthread_mutex_t *held = scope_lock(&o->lock);

	for (struct owner_layer **at = &o->layers; *at; at = &(*at)->next)
		if (str_eq((*at)->name, name)) {
			struct owner_layer *l = *at;

			*at = l->next;
			return l;
		}
	return NULL;
}

void layers_drop(struct owner *base, const char *name)
{
	struct native_owner *o = native_owner_of(base);
	auto_unlock pthread_mutex_t *changing = scope_lock(&o->changing);
	struct owner_layer *l = layers_take(o, name);

	if (!l)
		return;
	nursery_drop_layer(o, name);
	layers_free(l);
}
