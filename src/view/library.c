/* SPDX-License-Identifier: Apache-2.0 */
#include "view/library.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "base/walk.h"
#include "report/find.h"
#include "trajectory/event_log.h"
#include "trajectory/export.h"
#include "view/running_step.h"
#include "view/steps_cache.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The folders are read again after this time, or after LIST_REST times what reading them took. */
#define LIST_AGE_NS NS_PER_S
#define LIST_REST 10
#define RECORDS_OPEN_MAX 64
/* The steps of a record are kept in the index after each so many bytes. Smaller records are read
 * fast enough. */
#define KEEP_BYTES (8L << 20)

static void library_free_run(struct library_run *r)
{
	record_free(r->record);
	rebuild_free(r->rebuilt);
	free(r->path);
	free(r->name);
	free(r->shown);
	free(r->going);
}

/* Orders numbers in paths by their value, so that step 3 of a policy is before step 100. */
static int library_compare(const void *a, const void *b)
{
	const struct library_run *x = a, *y = b;

	return strverscmp(x->path, y->path);
}

/*
 * Gives a run the name that people know: its folder, from the place that was named. Files
 * of several runs have the same name. So beside other places the name of a .traj has a folder.
 */
static char *library_name(const struct texts *places, size_t place, const char *path)
{
	const char *at = places->items[place];
	auto_free char *single = str_eq(at, path) ? path_dirname(path) : NULL;
	auto_free char *folder = NULL;
	size_t n = strlen(single ? single : at);

	at = single ? single : at;
	path += n + (path[n] == '/');
	folder = path_dirname(path);
	if (str_eq(path_basename(path), EXPORT_EVENTS))
		return xstrdup(str_eq(folder, ".") ? path_basename(at) : folder);
	if (places->n > 1 && str_eq(folder, "."))
		return path_join(path_basename(at), path);
	return xstrdup(path);
}

void library_id(const char *path, char out[LIBRARY_ID_BYTES])
{
	char hash[SHA256_HEX_BYTES];
	struct sha256 sha;

	sha256_init(&sha);
	sha256_add_str(&sha, path);
	sha256_end_hex(&sha, hash);
	snprintf(out, LIBRARY_ID_BYTES, "%.*s", LIBRARY_ID_BYTES - 1, hash);
}

/* Adds the run of a file, unless the sorted first `known` runs have it. Marks it as seen. */
static void library_add(
		struct library *l, size_t known, size_t place, char *path, const struct stat *st)
{
	const struct library_run key = { .path = path };
	struct library_run *r = known
			? bsearch(&key, l->runs, known, sizeof(*l->runs), library_compare)
			: NULL;

	if (!r) {
		l->runs = xgrow(l->runs, l->n, sizeof(*l->runs));
		r = &l->runs[l->n++];
		*r = (struct library_run){ .path = xstrdup(path),
			.name = library_name(l->places, place, path) };
		library_id(path, r->id);
	}
	r->seen = true;
	r->place = place;
	r->size = st->st_size;
	r->mtime_ns = record_mtime_ns(st);
}

/* A walk notes in the fts_number of a folder's entry which files the folder has. */
#define LIBRARY_HAS_STEPS 1
#define LIBRARY_HAS_RESULTS 2

/* True for the file of a run. The .traj beside the events of a run has nothing that they lack. */
static bool library_wants(const FTSENT *file)
{
	auto_free char *folder = NULL, *events = NULL;

	if (str_eq(file->fts_name, EXPORT_EVENTS))
		return true;
	if (!str_ends(file->fts_name, ".traj") && !found_is_policy(file->fts_name))
		return false;
	if (file->fts_level == 0)
		return true;
	folder = path_dirname(file->fts_path);
	events = path_join(folder, EXPORT_EVENTS);
	return !path_exists(events);
}

/* Adds the run of a folder that has only its results left. */
static void library_add_results(struct library *l, size_t known, size_t place, const FTSENT *folder)
{
	auto_free char *path = NULL;
	struct stat st;

	if (folder->fts_number != LIBRARY_HAS_RESULTS)
		return;
	path = path_join(folder->fts_path, EXPORT_RESULTS);
	if (lstat(path, &st) == 0)
		library_add(l, known, place, path, &st);
}

static void library_walk_file(struct library *l, size_t known, size_t place, const FTSENT *file)
{
	bool is_results = str_eq(file->fts_name, EXPORT_RESULTS);

	if (is_results && file->fts_level > 0) {
		file->fts_parent->fts_number |= LIBRARY_HAS_RESULTS;
	} else if (is_results || library_wants(file)) {
		file->fts_parent->fts_number |= LIBRARY_HAS_STEPS;
		library_add(l, known, place, file->fts_path, file->fts_statp);
	}
}

static void library_walk(struct library *l, size_t known, size_t place)
{
	auto_walk FTS *walk = walk_open(l->places->items[place], FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *file;

	while (walk && (file = fts_read(walk))) {
		if (file->fts_info == FTS_F)
			library_walk_file(l, known, place, file);
		else if (file->fts_info == FTS_DP)
			library_add_results(l, known, place, file);
	}
}

static int library_compare_rows(const void *path, const void *row)
{
	return strcmp(path, ((const struct run_row *)row)->path);
}

/* Brings the index of a place up to date, and gives the runs of the place their rows. */
static void library_index(struct library *l, size_t place)
{
	const char *dir = l->places->items[place];
	struct run_rows rows = { 0 };

	if (!l->indexes[place] && run_index_open(dir, NULL, &l->indexes[place], NULL) < 0)
		return;
	run_index_update(l->indexes[place], l->stop_fd, NULL);
	if (run_index_rows(l->indexes[place], &l->arena, &rows, NULL) < 0 || !rows.n)
		return;
	for (size_t i = 0; i < l->n; i++) {
		struct library_run *r = &l->runs[i];

		if (!r->row)
			r->row = bsearch(r->path, rows.items, rows.n, sizeof(*rows.items),
					library_compare_rows);
	}
}

static void library_release_single(struct library_single *s)
{
	arena_release(&s->arena);
	scan_tasks_release(&s->tasks);
	*s = (struct library_single){ 0 };
}

/* Gives the run of a place that is a record its row. */
static void library_scan(struct library *l, size_t place)
{
	struct library_single *s = &l->singles[place];

	for (size_t i = 0; i < l->n; i++) {
		struct library_run *r = &l->runs[i];

		if (!str_eq(r->path, l->places->items[place]))
			continue;
		if (s->mtime_ns != r->mtime_ns || s->size != r->size) {
			library_release_single(s);
			scan_record(&s->arena, &s->tasks, r->path, &s->row);
			s->size = r->size;
			s->mtime_ns = r->mtime_ns;
		}
		r->row = &s->row;
	}
}

/* Looks at each run that has no end by its row of the index. */
static void library_look(struct library *l)
{
	auto_arena struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < l->n; i++) {
		struct library_run *r = &l->runs[i];
		auto_close int fd = -1;

		free(take_ptr(r->going));
		if (!r->row || r->row->exit_status || !str_ends(r->path, "/" EXPORT_EVENTS))
			continue;
		fd = fd_open_plain(r->path, NULL);
		if (fd >= 0)
			r->going = xstrdup(running_step_look(
					&arena, r->path, event_log_is_open(fd), r->row->steps)
							   .sentence);
	}
}

static void library_drop_unseen(struct library *l)
{
	size_t kept = 0;

	for (size_t i = 0; l->runs && i < l->n; i++) {
		if (l->runs[i].seen)
			l->runs[kept++] = l->runs[i];
		else
			library_free_run(&l->runs[i]);
	}
	if (kept < l->n)
		l->whole = l->version + 1;
	l->n = kept;
	if (kept)
		qsort(l->runs, kept, sizeof(*l->runs), library_compare);
}

/* Drops a run that was found in two places: in a folder, and as a record that was named too. */
static void library_drop_twins(struct library *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (kept && str_eq(l->runs[i].path, l->runs[kept - 1].path))
			library_free_run(&l->runs[i]);
		else
			l->runs[kept++] = l->runs[i];
	}
	l->n = kept;
}

void library_list(struct library *l)
{
	int64_t began_ns = clock_now_ns();
	size_t known = l->runs ? l->n : 0;

	if (began_ns < l->next_ns)
		return;
	if (!l->version)
		l->version = l->whole = clock_ns(CLOCK_REALTIME) / NS_PER_MS;
	l->listed = true;
	for (size_t i = 0; i < known; i++) {
		l->runs[i].seen = false;
		l->runs[i].row = NULL;
	}
	for (size_t i = 0; i < l->places->n; i++)
		library_walk(l, known, i);
	library_drop_unseen(l);
	library_drop_twins(l);
	arena_release(&l->arena);
	l->arena = (struct arena)ARENA_INIT;
	if (!l->indexes) {
		l->indexes = xcalloc(l->places->n, sizeof(struct run_index *));
		l->singles = xcalloc(l->places->n, sizeof(*l->singles));
	}
	for (size_t i = 0; i < l->places->n; i++) {
		if (path_is_dir(l->places->items[i]))
			library_index(l, i);
		else
			library_scan(l, i);
	}
	library_look(l);
	l->next_ns = clock_now_ns();
	l->next_ns += LIST_AGE_NS + LIST_REST * (l->next_ns - began_ns);
}

/* Closes the record that was not used for the longest time, if many are open. */
static void library_close_oldest(struct library *l)
{
	struct library_run *oldest = NULL;
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct library_run *r = &l->runs[i];

		n += r->record != NULL;
		if (r->record && (!oldest || r->used_ns < oldest->used_ns))
			oldest = r;
	}
	if (n < RECORDS_OPEN_MAX || !oldest)
		return;
	record_free(oldest->record);
	oldest->record = NULL;
	rebuild_free(oldest->rebuilt);
	oldest->rebuilt = NULL;
}

static struct library_run *library_find(const struct library *l, const char *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->runs[i].id, id))
			return &l->runs[i];
	return NULL;
}

/* Takes the steps of a new record from the index, if an earlier viewer kept them. */
static void library_recall(struct library *l, struct library_run *r)
{
	auto_buf struct buf text = BUF_INIT(STEPS_CACHE_BYTES_MAX);
	struct run_index *ix = l->indexes ? l->indexes[r->place] : NULL;

	r->kept_bytes = 0;
	if (ix && run_index_kept(ix, r->path, &text, NULL) >= 0 &&
			steps_cache_read(r->record, buf_str(&text), text.len))
		r->kept_bytes = r->record->size;
}

static void library_keep(struct library *l, struct library_run *r)
{
	auto_buf struct buf text = BUF_INIT(STEPS_CACHE_BYTES_MAX);
	struct run_index *ix = l->indexes ? l->indexes[r->place] : NULL;

	if (!ix || r->record->size - r->kept_bytes < KEEP_BYTES)
		return;
	r->kept_bytes = r->record->size;
	if (steps_cache_write(r->record, &text))
		run_index_keep(ix, r->path, &text, NULL);
}

struct library_run *library_open(struct library *l, const char *id)
{
	struct library_run *r = library_find(l, id);

	if (!r) {
		library_list(l);
		r = library_find(l, id);
	}
	if (!r || (r->record && r->round == l->round))
		return r;
	if (!r->record) {
		library_close_oldest(l);
		r->record = record_new(r->path);
		library_recall(l, r);
	}
	r->round = l->round;
	r->used_ns = clock_now_ns();
	/* A record that ends in the middle is shown up to there. */
	record_refresh(r->record, NULL);
	library_keep(l, r);
	return r;
}

bool library_has_only_results(const struct library_run *r)
{
	return str_eq(path_basename(r->path), EXPORT_RESULTS);
}

void library_release(struct library *l)
{
	for (size_t i = 0; i < l->n; i++)
		library_free_run(&l->runs[i]);
	free(l->runs);
	for (size_t i = 0; l->indexes && i < l->places->n; i++) {
		run_index_close(l->indexes[i]);
		library_release_single(&l->singles[i]);
	}
	free(l->indexes);
	free(l->singles);
	arena_release(&l->arena);
}
