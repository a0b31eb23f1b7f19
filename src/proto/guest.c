/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/guest.h"

#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A string that may be absent: a u8, then the string. */
static void put_optional(struct buf *b, const char *s)
{
	wire_put_u8(b, s != NULL);
	if (s)
		wire_put_str(b, s);
}

static const char *get_optional(struct wire *w, size_t max)
{
	return wire_get_u8(w) ? wire_get_str(w, max) : NULL;
}

static void put_list(struct buf *b, const char *const *list)
{
	uint32_t n = 0;

	while (list && list[n])
		n++;
	wire_put_u32(b, n);
	for (uint32_t i = 0; i < n; i++)
		wire_put_str(b, list[i]);
}

/* Reads a number of entries. If it is above max, marks the message as malformed and returns 0. */
static uint32_t get_count(struct wire *w, uint32_t max)
{
	uint32_t n = wire_get_u32(w);

	if (n <= max)
		return n;
	w->bad = true;
	return 0;
}

/* Reads strings into an array that ends with NULL. */
static const char *const *get_list(struct wire *w, uint32_t max)
{
	uint32_t n = get_count(w, max);
	const char **list = xcalloc((size_t)n + 1, sizeof(*list));

	for (uint32_t i = 0; i < n && !w->bad; i++)
		list[i] = wire_get_str(w, GUEST_MESSAGE_MAX);
	return list;
}

/*
 * Wipe before freeing: strings of one sandbox must not stay in the nursery's memory, which the next
 * sandbox copies.
 */
static void wipe_str(const char *s)
{
	if (s)
		explicit_bzero((void *)(uintptr_t)s, strlen(s));
	free((void *)(uintptr_t)s);
}

static void free_list(const char *const *list)
{
	for (uint32_t i = 0; list && list[i]; i++)
		wipe_str(list[i]);
	free((void *)(uintptr_t)list);
}

static const void *get_block(struct wire *w, uint32_t *out_n)
{
	size_t n;
	const char *at = wire_get_bytes(w, &n);
	void *copy = at && n ? xcalloc(n, 1) : NULL;

	if (copy)
		memcpy(copy, at, n);
	*out_n = (uint32_t)n;
	return copy;
}

void hello_put(struct buf *b, const struct hello *h)
{
	wire_put_u8(b, NURSERY_HELLO);
	wire_put_u32(b, GUEST_VERSION);
	put_list(b, h->roots);
	put_list(b, h->covers);
	wire_put_bytes(b, h->base_filter, h->base_filter_bytes);
	wire_put_bytes(b, h->agent_filter, h->agent_filter_bytes);
	wire_put_bytes(b, h->judged_filter, h->judged_filter_bytes);
	put_optional(b, h->tool);
	put_list(b, h->tool_names);
}

int hello_get(struct wire *w, struct hello *out)
{
	struct hello h = { 0 };

	if (wire_get_u32(w) != GUEST_VERSION)
		return -EPROTO;
	h.roots = get_list(w, GUEST_BINDS_MAX);
	h.covers = get_list(w, GUEST_BINDS_MAX);
	h.base_filter = get_block(w, &h.base_filter_bytes);
	h.agent_filter = get_block(w, &h.agent_filter_bytes);
	h.judged_filter = get_block(w, &h.judged_filter_bytes);
	h.tool = get_optional(w, GUEST_PATH_MAX);
	h.tool_names = get_list(w, GUEST_BINDS_MAX);
	if (!wire_done(w)) {
		hello_release(&h);
		return -EPROTO;
	}
	*out = h;
	return 0;
}

void hello_forget_names(struct hello *h)
{
	free_list(h->roots);
	free_list(h->covers);
	wipe_str(h->tool);
	free_list(h->tool_names);
	h->roots = h->covers = h->tool_names = NULL;
	h->tool = NULL;
}

void hello_release(struct hello *h)
{
	hello_forget_names(h);
	free((void *)(uintptr_t)h->base_filter);
	free((void *)(uintptr_t)h->agent_filter);
	free((void *)(uintptr_t)h->judged_filter);
	*h = (struct hello){ 0 };
}

void layer_put(struct buf *b, const struct layer *l)
{
	wire_put_u8(b, NURSERY_LAYER);
	wire_put_str(b, l->name);
	wire_put_u32(b, l->n_entries);
	for (uint32_t i = 0; i < l->n_entries; i++) {
		put_optional(b, l->entries[i].source);
		wire_put_str(b, l->entries[i].target);
		wire_put_u8(b, l->entries[i].read_only);
		wire_put_u8(b, l->entries[i].folders_only);
	}
}

int layer_get(struct wire *w, struct layer *out)
{
	struct layer l = { .name = wire_get_str(w, GUEST_PATH_MAX) };
	struct layer_entry *entries;

	l.n_entries = get_count(w, GUEST_ITEMS_MAX);
	l.entries = entries = xcalloc(l.n_entries, sizeof(*entries));
	for (uint32_t i = 0; i < l.n_entries && !w->bad; i++) {
		entries[i].source = get_optional(w, GUEST_PATH_MAX);
		entries[i].target = wire_get_str(w, GUEST_PATH_MAX);
		entries[i].read_only = wire_get_u8(w);
		entries[i].folders_only = wire_get_u8(w);
	}
	if (!wire_done(w)) {
		layer_release(&l);
		return -EPROTO;
	}
	*out = l;
	return 0;
}

void layer_release(struct layer *l)
{
	wipe_str(l->name);
	for (uint32_t i = 0; i < l->n_entries; i++) {
		wipe_str(l->entries[i].source);
		wipe_str(l->entries[i].target);
	}
	free((void *)(uintptr_t)l->entries);
	*l = (struct layer){ 0 };
}

void plan_put(struct buf *b, const struct plan *p)
{
	wire_put_u8(b, NURSERY_PLAN);
	wire_put_u32(b, p->flags);
	wire_put_u32(b, p->n_groups);
	wire_put_u32(b, p->cradle);
	wire_put_u32(b, p->number);
	put_optional(b, p->layer);
	put_optional(b, p->disk_folder);
	wire_put_u32(b, p->n_binds);
	for (uint32_t i = 0; i < p->n_binds; i++) {
		wire_put_str(b, p->binds[i].source);
		wire_put_str(b, p->binds[i].target);
		wire_put_u8(b, p->binds[i].device);
	}
	put_optional(b, p->writable);
	put_optional(b, p->writable_layer);
	put_list(b, p->env);
	wire_put_u32(b, p->random_seed);
	wire_put_u64(b, p->disk_bytes);
	wire_put_u64(b, p->disk_files);
	wire_put_u64(b, p->processes);
	wire_put_u64(b, p->memory_bytes);
}

int plan_get(struct wire *w, struct plan *out)
{
	struct plan p = { .flags = wire_get_u32(w) };
	struct plan_bind *binds;

	p.n_groups = wire_get_u32(w);
	p.cradle = wire_get_u32(w);
	p.number = wire_get_u32(w);
	if (p.n_groups > GUEST_GROUPS_MAX)
		w->bad = true;
	p.layer = get_optional(w, GUEST_PATH_MAX);
	p.disk_folder = get_optional(w, GUEST_PATH_MAX);
	p.n_binds = get_count(w, GUEST_BINDS_MAX);
	p.binds = binds = xcalloc(p.n_binds, sizeof(*binds));
	for (uint32_t i = 0; i < p.n_binds && !w->bad; i++) {
		binds[i].source = wire_get_str(w, GUEST_PATH_MAX);
		binds[i].target = wire_get_str(w, GUEST_PATH_MAX);
		binds[i].device = wire_get_u8(w);
	}
	p.writable = get_optional(w, GUEST_PATH_MAX);
	p.writable_layer = get_optional(w, GUEST_PATH_MAX);
	p.env = get_list(w, GUEST_ENV_MAX);
	p.random_seed = wire_get_u32(w);
	p.disk_bytes = wire_get_u64(w);
	p.disk_files = wire_get_u64(w);
	p.processes = wire_get_u64(w);
	p.memory_bytes = wire_get_u64(w);
	if (!wire_done(w)) {
		plan_release(&p);
		return -EPROTO;
	}
	*out = p;
	return 0;
}

void plan_forget_binds(struct plan *p)
{
	for (uint32_t i = 0; i < p->n_binds; i++) {
		wipe_str(p->binds[i].source);
		wipe_str(p->binds[i].target);
	}
	free((void *)(uintptr_t)p->binds);
	p->binds = NULL;
	wipe_str(p->disk_folder);
	wipe_str(p->writable);
	wipe_str(p->writable_layer);
	p->disk_folder = p->writable = p->writable_layer = NULL;
	p->n_binds = 0;
}

void plan_release(struct plan *p)
{
	wipe_str(p->layer);
	plan_forget_binds(p);
	free_list(p->env);
	*p = (struct plan){ 0 };
}

void init_run_put(struct buf *b, const struct init_run *r)
{
	wire_put_u8(b, INIT_RUN);
	wire_put_u32(b, r->id);
	wire_put_u8(b, r->user);
	wire_put_u8(b, r->has_program);
	wire_put_bytes(b, r->slots, r->n_slots);
	put_optional(b, r->cwd);
	put_list(b, r->argv);
	wire_put_u8(b, r->env != NULL);
	if (r->env)
		put_list(b, r->env);
}

static void get_slots(struct wire *w, struct init_run *out)
{
	size_t n;
	const char *slots = wire_get_bytes(w, &n);

	if (!slots || n > GUEST_FDS_MAX) {
		w->bad = true;
		return;
	}
	memcpy(out->slots, slots, n);
	out->n_slots = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		if (out->slots[i] > 0 || out->slots[i] < SLOT_INPUT)
			w->bad = true;
}

size_t init_run_fds(const struct init_run *r)
{
	size_t n = r->has_program;

	for (uint32_t i = 0; i < r->n_slots; i++)
		n += r->slots[i] == 0;
	return n;
}

int init_run_get(struct wire *w, struct init_run *out)
{
	struct init_run run = { .id = wire_get_u32(w) };

	run.user = wire_get_u8(w);
	run.has_program = wire_get_u8(w);
	get_slots(w, &run);
	run.cwd = get_optional(w, GUEST_PATH_MAX);
	run.argv = get_list(w, GUEST_ARGS_MAX);
	if (wire_get_u8(w))
		run.env = get_list(w, GUEST_ENV_MAX);
	if (!run.argv[0])
		w->bad = true;
	if (!wire_done(w)) {
		init_run_release(&run);
		return -EPROTO;
	}
	*out = run;
	return 0;
}

void init_run_release(struct init_run *r)
{
	wipe_str(r->cwd);
	free_list(r->argv);
	free_list(r->env);
	*r = (struct init_run){ 0 };
}
