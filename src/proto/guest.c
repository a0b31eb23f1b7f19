/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/guest.h"

#include <errno.h>
#include <string.h>

/* Writes a string that may be NULL: first a byte that says whether the string follows, then the
 * string. */
static void guest_put_optional(struct buf *b, const char *s)
{
	wire_put_u8(b, s != NULL);
	if (s)
		wire_put_str(b, s);
}

/* Reads a string of a message into the arena. NULL: the message is malformed. */
static const char *guest_get_str(struct wire *w, size_t max, struct arena *a)
{
	size_t n;
	const char *at = wire_get_text(w, max, &n);

	return at ? arena_strndup(a, at, n) : NULL;
}

static const char *guest_get_optional(struct wire *w, size_t max, struct arena *a)
{
	return wire_get_u8(w) ? guest_get_str(w, max, a) : NULL;
}

static void guest_put_list(struct buf *b, const char *const *list)
{
	uint32_t n = 0;

	while (list && list[n])
		n++;
	wire_put_u32(b, n);
	for (uint32_t i = 0; i < n; i++)
		wire_put_str(b, list[i]);
}

/*
 * Reads from a message how many entries follow. If there are more than max, marks the message as
 * malformed and returns 0.
 */
static uint32_t guest_get_count(struct wire *w, uint32_t max)
{
	uint32_t n = wire_get_u32(w);

	if (n <= max)
		return n;
	w->bad = true;
	return 0;
}

/* Reads strings of a message into an array that ends with NULL. */
static const char *const *guest_get_list(struct wire *w, uint32_t max, struct arena *a)
{
	uint32_t n = guest_get_count(w, max);
	const char **list = arena_array(a, (size_t)n + 1, sizeof(*list));

	for (uint32_t i = 0; i < n && !w->bad; i++)
		list[i] = guest_get_str(w, GUEST_MESSAGE_MAX, a);
	return list;
}

static const void *guest_get_block(struct wire *w, uint32_t *out_n, struct arena *a)
{
	size_t n;
	const char *at = wire_get_bytes(w, &n);

	*out_n = (uint32_t)n;
	return at && n ? memcpy(arena_alloc(a, n), at, n) : NULL;
}

/*
 * The functions ..._release() overwrite arenas before they free them. A sandbox begins with a copy
 * of the nursery's memory, and must not find another sandbox' strings there.
 */

void hello_put(struct buf *b, const struct hello *h)
{
	wire_put_u8(b, NURSERY_HELLO);
	wire_put_u32(b, GUEST_VERSION);
	guest_put_list(b, h->roots);
	guest_put_list(b, h->covers);
	wire_put_bytes(b, h->base_filter, h->base_filter_bytes);
	wire_put_bytes(b, h->agent_filter, h->agent_filter_bytes);
	wire_put_bytes(b, h->judged_filter, h->judged_filter_bytes);
	guest_put_optional(b, h->tool);
	guest_put_list(b, h->tool_names);
}

int hello_get(struct wire *w, struct hello *out)
{
	struct hello h = { 0 };

	if (wire_get_u32(w) != GUEST_VERSION)
		return -EPROTO;
	h.roots = guest_get_list(w, GUEST_BINDS_MAX, &h.texts);
	h.covers = guest_get_list(w, GUEST_BINDS_MAX, &h.texts);
	h.base_filter = guest_get_block(w, &h.base_filter_bytes, &h.filters);
	h.agent_filter = guest_get_block(w, &h.agent_filter_bytes, &h.filters);
	h.judged_filter = guest_get_block(w, &h.judged_filter_bytes, &h.filters);
	h.tool = guest_get_optional(w, GUEST_PATH_MAX, &h.texts);
	h.tool_names = guest_get_list(w, GUEST_BINDS_MAX, &h.texts);
	if (!wire_done(w)) {
		hello_release(&h);
		return -EPROTO;
	}
	*out = h;
	return 0;
}

void hello_forget_names(struct hello *h)
{
	arena_wipe(&h->texts);
	h->roots = h->covers = h->tool_names = NULL;
	h->tool = NULL;
}

void hello_release(struct hello *h)
{
	arena_wipe(&h->texts);
	arena_wipe(&h->filters);
	*h = (struct hello){ 0 };
}

void layer_put(struct buf *b, const struct layer *l)
{
	wire_put_u8(b, NURSERY_LAYER);
	wire_put_str(b, l->name);
	wire_put_u32(b, l->n_entries);
	for (uint32_t i = 0; i < l->n_entries; i++) {
		guest_put_optional(b, l->entries[i].source);
		wire_put_str(b, l->entries[i].target);
		wire_put_u8(b, l->entries[i].read_only);
		wire_put_u8(b, l->entries[i].folders_only);
	}
}

int layer_get(struct wire *w, struct layer *out)
{
	struct layer l = { 0 };
	struct layer_entry *entries;

	l.name = guest_get_str(w, GUEST_PATH_MAX, &l.memory);
	l.n_entries = guest_get_count(w, GUEST_ITEMS_MAX);
	l.entries = entries = arena_array(&l.memory, l.n_entries, sizeof(*entries));
	for (uint32_t i = 0; i < l.n_entries && !w->bad; i++) {
		entries[i].source = guest_get_optional(w, GUEST_PATH_MAX, &l.memory);
		entries[i].target = guest_get_str(w, GUEST_PATH_MAX, &l.memory);
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
	arena_wipe(&l->memory);
	*l = (struct layer){ 0 };
}

void plan_put(struct buf *b, const struct plan *p)
{
	wire_put_u8(b, NURSERY_PLAN);
	wire_put_u32(b, p->flags);
	wire_put_u32(b, p->n_groups);
	wire_put_u32(b, p->cradle);
	wire_put_u32(b, p->number);
	guest_put_optional(b, p->layer);
	guest_put_optional(b, p->disk_folder);
	wire_put_u32(b, p->n_binds);
	for (uint32_t i = 0; i < p->n_binds; i++) {
		wire_put_str(b, p->binds[i].source);
		wire_put_str(b, p->binds[i].target);
		wire_put_u8(b, p->binds[i].device);
	}
	guest_put_optional(b, p->writable);
	guest_put_optional(b, p->writable_layer);
	guest_put_list(b, p->env);
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
	p.layer = guest_get_optional(w, GUEST_PATH_MAX, &p.rest);
	p.disk_folder = guest_get_optional(w, GUEST_PATH_MAX, &p.paths);
	p.n_binds = guest_get_count(w, GUEST_BINDS_MAX);
	p.binds = binds = arena_array(&p.paths, p.n_binds, sizeof(*binds));
	for (uint32_t i = 0; i < p.n_binds && !w->bad; i++) {
		binds[i].source = guest_get_str(w, GUEST_PATH_MAX, &p.paths);
		binds[i].target = guest_get_str(w, GUEST_PATH_MAX, &p.paths);
		binds[i].device = wire_get_u8(w);
	}
	p.writable = guest_get_optional(w, GUEST_PATH_MAX, &p.paths);
	p.writable_layer = guest_get_optional(w, GUEST_PATH_MAX, &p.paths);
	p.env = guest_get_list(w, GUEST_ENV_MAX, &p.rest);
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
	arena_wipe(&p->paths);
	p->binds = NULL;
	p->disk_folder = p->writable = p->writable_layer = NULL;
	p->n_binds = 0;
}

void plan_release(struct plan *p)
{
	arena_wipe(&p->paths);
	arena_wipe(&p->rest);
	*p = (struct plan){ 0 };
}

void init_run_put(struct buf *b, const struct init_run *r)
{
	wire_put_u8(b, INIT_RUN);
	wire_put_u32(b, r->id);
	wire_put_u8(b, r->user);
	wire_put_u8(b, r->has_program);
	wire_put_bytes(b, r->slots, r->n_slots);
	guest_put_optional(b, r->cwd);
	guest_put_list(b, r->argv);
	wire_put_u8(b, r->env != NULL);
	if (r->env)
		guest_put_list(b, r->env);
}

static void init_run_get_slots(struct wire *w, struct init_run *out)
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
		if (out->slots[i] > 0 || out->slots[i] < SLOT_TERMINAL)
			w->bad = true;
}

bool init_run_has_terminal(const struct init_run *r)
{
	return memchr(r->slots, (unsigned char)SLOT_TERMINAL, r->n_slots) != NULL;
}

size_t init_run_fds(const struct init_run *r)
{
	size_t n = (size_t)r->has_program + init_run_has_terminal(r);

	for (uint32_t i = 0; i < r->n_slots; i++)
		n += r->slots[i] == 0;
	return n;
}

int init_run_get(struct wire *w, struct init_run *out)
{
	struct init_run run = { .id = wire_get_u32(w) };

	run.user = wire_get_u8(w);
	run.has_program = wire_get_u8(w);
	init_run_get_slots(w, &run);
	run.cwd = guest_get_optional(w, GUEST_PATH_MAX, &run.memory);
	run.argv = guest_get_list(w, GUEST_ARGS_MAX, &run.memory);
	if (wire_get_u8(w))
		run.env = guest_get_list(w, GUEST_ENV_MAX, &run.memory);
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
	arena_wipe(&r->memory);
	*r = (struct init_run){ 0 };
}
