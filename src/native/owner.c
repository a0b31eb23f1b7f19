/* SPDX-License-Identifier: Apache-2.0 */
#include "native/nursery.h"

#include "base/mem.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"
#include "native/seccomp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An owner: the parts that all its sandboxes share. The first sandbox or layer starts the
 * nursery. */

static void owner_release(struct owner *base);

static int owner_init(
		struct native_owner *o, const struct owner_options *options, struct fh_error *err)
{
	auto_free char *state = NULL;
	int r;

	o->self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (o->self < 0)
		return error_set(err, errno, "open a pidfd of this process");
	r = roll_open(o, err);
	if (r < 0)
		return r;
	r = cover_hide(&o->base, places_get()->share_dir, err);
	if (r < 0)
		return r;
	/* Ignore it: a state folder that does not exist needs no hiding. */
	if (places_state_dir(NULL, &state, NULL) == 0) {
		r = cover_hide(&o->base, state, err);
		if (r < 0)
			return r;
	}
	if (options && options->gpus.wanted) {
		r = gpus_open(&options->gpus, &o->gpus, err);
		if (r < 0)
			return r;
	}
	return seccomp_build(&o->base_filter, &o->agent_filter, &o->judged_filter, err);
}

static int owner_new(const struct owner_options *options, struct owner **out, struct fh_error *err)
{
	struct native_owner *o = xcalloc(1, sizeof(*o));
	int r;

	o->base.ops = &sandbox_native;
	pthread_mutex_init(&o->changing, NULL);
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->errand_settled, NULL);
	o->label = arena_strdup(&o->arena, options && options->label ? options->label : "run");
	o->nursery = o->disk_claim = o->roll_fd = -1;
	r = owner_init(o, options, err);
	fork_watch_owner(o);
	if (r < 0) {
		owner_release(&o->base);
		return r;
	}
	*out = &o->base;
	return 0;
}

static void owner_free_layer(struct owner_layer *l)
{
	arena_release(&l->arena);
	free(l);
}

static void owner_release(struct owner *base)
{
	struct native_owner *o = native_owner_of(base);

	fork_unwatch_owner(o);
	errands_finish(o);
	if (o->disk_folders || o->disk_removals)
		nursery_do_all(o->nursery);
	nursery_leave(o);
	nursery_await_retired(o);
	roll_release(o);
	disk_close(o);
	gpus_close(o->gpus);
	close_fd(&o->self);
	cgroups_close(o->cgroups);
	for (struct owner_layer *l = o->layers, *next; l; l = next) {
		next = l->next;
		owner_free_layer(l);
	}
	buf_release(&o->base_filter);
	buf_release(&o->agent_filter);
	buf_release(&o->judged_filter);
	pthread_cond_destroy(&o->errand_settled);
	pthread_mutex_destroy(&o->lock);
	pthread_mutex_destroy(&o->changing);
	free(o->no_cgroups);
	arena_release(&o->arena);
	free(o);
}

static const char *owner_missed_limits(const struct owner *base)
{
	const struct native_owner *o = (const struct native_owner *)base;

	if (atomic_load(&o->limits_missed))
		return o->no_cgroups;
	if (atomic_load(&o->disk_unlimited))
		return "disk space is not limited: the state folder's file system has no project "
		       "quota that this user may set";
	return NULL;
}

void native_abilities(const struct owner *base, struct native_abilities *out)
{
	const struct native_owner *o = (const struct native_owner *)base;

	*out = (struct native_abilities){ .groups = o->cgroups != NULL,
		.no_groups = o->no_cgroups,
		.overlay = o->can & NURSERY_CAN_OVERLAY };
}

static int owner_lend_gpus(struct owner *base, size_t n, int *out_numbers, struct fh_error *err)
{
	return gpus_take(native_owner_of(base)->gpus, n, out_numbers, err);
}

static void owner_return_gpus(struct owner *base, const int *numbers, size_t n)
{
	gpus_give(native_owner_of(base)->gpus, numbers, n);
}

static int owner_collect_stale(void)
{
	int count = cgroups_collect();
	struct owner *base;

	if (owner_new(&(struct owner_options){ .label = "gc" }, &base, NULL) < 0)
		return count;
	count += disk_collect(native_owner_of(base));
	owner_release(base);
	return count;
}

/* --- layers ---------------------------------------------------------------------------------- */

static bool owner_find_layer(const struct native_owner *o, const char *name)
{
	for (const struct owner_layer *l = o->layers; l; l = l->next)
		if (str_eq(l->name, name))
			return true;
	return false;
}

bool native_has_layer(struct native_owner *o, const char *name)
{
	bool found;

	pthread_mutex_lock(&o->lock);
	found = owner_find_layer(o, name);
	pthread_mutex_unlock(&o->lock);
	return found;
}

static struct owner_layer *owner_copy_layer(
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

/*
 * Makes a layer in the nursery. Tries again if the nursery, or the process that copies, was killed.
 * The caller holds `changing`.
 */
static int owner_make_layer(
		struct native_owner *o, const struct owner_layer *layer, struct fh_error *err)
{
	int r = 0;

	if (owner_find_layer(o, layer->name))
		return error_say(err, EEXIST, "the layer '%s' is there already", layer->name);
	for (int i = 0; i < SANDBOX_STARTS_MAX; i++) {
		r = nursery_need(o, err);
		if (r >= 0)
			r = nursery_make_layer(o->nursery, layer, err);
		if (!nursery_is_lost(r))
			return r;
		/* A killed nursery's socket closes a moment before waitid() reports its end. */
		atomic_store(&o->in_doubt, true);
	}
	return r;
}

/*
 * Adds the layer to the owner, which then owns it. Must come before another nursery starts: each
 * new nursery makes all layers of the list.
 */
static int owner_keep_layer(struct native_owner *o, struct owner_layer *layer, struct fh_error *err)
{
	int r;

	pthread_mutex_lock(&o->changing);
	r = owner_make_layer(o, layer, err);
	if (r == 0) {
		pthread_mutex_lock(&o->lock);
		layer->next = o->layers;
		o->layers = layer;
		pthread_mutex_unlock(&o->lock);
	}
	pthread_mutex_unlock(&o->changing);
	if (r < 0)
		owner_free_layer(layer);
	else
		spares_refill(o);
	return r;
}

static int owner_new_layer(struct owner *base, const char *name, const struct layer_item *items,
		size_t n, struct fh_error *err)
{
	return owner_keep_layer(
			native_owner_of(base), owner_copy_layer(name, items, n, false), err);
}

void native_folders_name(const char *source, char out[FOLDERS_NAME_BYTES])
{
	char hex[SHA256_HEX_BYTES];
	struct sha256 h;

	sha256_init(&h);
	sha256_add_str(&h, source);
	sha256_end_hex(&h, hex);
	snprintf(out, FOLDERS_NAME_BYTES, "folders-%.16s", hex);
}

static int owner_new_writable(struct owner *base, const char *source, struct fh_error *err)
{
	const struct layer_item item = { .source = source, .target = "" };
	char name[FOLDERS_NAME_BYTES];
	int r;

	native_folders_name(source, name);
	r = owner_keep_layer(native_owner_of(base), owner_copy_layer(name, &item, 1, true), err);
	return r == -EEXIST ? 0 : r;
}

const struct sandbox_ops sandbox_native = {
	.shell = &shell_native,
	.owner_open = owner_new,
	.owner_close = owner_release,
	.hide = cover_hide,
	.hide_check = cover_check,
	.warning = owner_missed_limits,
	.take_gpus = owner_lend_gpus,
	.give_gpus = owner_return_gpus,
	.collect = owner_collect_stale,
	.add_layer = owner_new_layer,
	.add_writable = owner_new_writable,
	.start = start_begin,
	.close = start_close,
	.waits = control_waits,
	.fds = start_fds,
	.next_event = control_next_event,
	.clear_requests = porter_clear_requests,
	.run = control_run,
	.go = control_go,
	.send_signal = control_signal,
	.hold_output = porter_hold_output,
	.shut_output = porter_shut_output,
	.feed = porter_send_input,
	.get_begin = porter_get_begin,
	.put_begin = porter_put_begin,
	.drain_begin = porter_drain_begin,
	.take = porter_take,
	.answered = porter_answered,
	.answer_waits = porter_answer_waits,
	.count = start_count,
};
