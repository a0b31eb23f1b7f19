/* SPDX-License-Identifier: Apache-2.0 */
#include "report/index.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"
#include "report/find.h"
#include "report/scan.h"

#include "fumehood-build.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Raise it when a column, or a text that is kept, changes its meaning: old files are made anew. */
#define INDEX_FORMAT 11
#define INDEX_BUSY_MS 20000

struct run_index {
	char *dir;
	char *path;
	sqlite3 *db;
	struct scan_tasks tasks;
};

static int index_fail(struct run_index *ix, const char *what, struct fh_error *err)
{
	int code = sqlite3_errcode(ix->db) == SQLITE_FULL ? ENOSPC : EIO;

	return error_say(
			err, code, "%s the index '%s': %s", what, ix->path, sqlite3_errmsg(ix->db));
}

static int index_exec(struct run_index *ix, const char *sql)
{
	return sqlite3_exec(ix->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Returns the path for the index of a folder, in the folder itself or in the state folder. */
static int index_place(const char *dir, char **out, struct fh_error *err)
{
	auto_free char *state = NULL, *name = NULL, *folder = NULL;
	struct stat st;
	int r;

	if (stat(dir, &st) < 0)
		return error_set(err, errno, "open folder '%s'", dir);
	if (!S_ISDIR(st.st_mode))
		return error_say(err, ENOTDIR, "'%s' is not a folder: name a folder of runs", dir);
	name = xasprintf(".fumehood-index-%llx-%llx.sqlite", (unsigned long long)st.st_dev,
			(unsigned long long)st.st_ino);
	if (access(dir, W_OK) == 0) {
		*out = path_join(dir, name);
		return 0;
	}
	r = places_state_dir(NULL, &state, err);
	if (r < 0)
		return r;
	folder = path_join(state, "index");
	r = path_mkdirs(folder, 0700, err);
	if (r < 0)
		return r;
	*out = path_join(folder, name + 1);
	return 0;
}

/* Gives the number of the format in a file. Each released version has its own, because it may read
 * records in another way. */
static int index_format(void)
{
	uint8_t digest[SHA256_BYTES];
	struct sha256 sha;

	sha256_init(&sha);
	sha256_add_str(&sha, FUMEHOOD_VERSION);
	sha256_end(&sha, digest);
	return INDEX_FORMAT << 16 | digest[0] << 8 | digest[1];
}

static void index_create_sql(struct buf *sql)
{
	static const char *const types[] = {
		[ROW_TEXT] = "TEXT", [ROW_COUNT] = "INTEGER", [ROW_NUMBER] = "REAL"
	};

	buf_add_str(sql, "CREATE TABLE runs(stamp TEXT");
	for (const struct row_field *f = row_fields; f->name; f++)
		buf_printf(sql, ", %s %s", f->name, types[f->kind]);
	buf_printf(sql,
			"); CREATE UNIQUE INDEX by_path ON runs(path); "
			"CREATE TABLE kept(path TEXT PRIMARY KEY, text BLOB); "
			"CREATE TRIGGER gone AFTER DELETE ON runs "
			"BEGIN DELETE FROM kept WHERE path=old.path; END; PRAGMA user_version=%d",
			index_format());
}

static int index_version(struct run_index *ix)
{
	sqlite3_stmt *q;
	int version = -1;

	if (sqlite3_prepare_v2(ix->db, "PRAGMA user_version", -1, &q, NULL) != SQLITE_OK)
		return -1;
	if (sqlite3_step(q) == SQLITE_ROW)
		version = sqlite3_column_int(q, 0);
	return sqlite3_finalize(q) == SQLITE_OK ? version : -1;
}

/* Makes the table in an empty file. -EIO: the file is not an index of this format. */
static int index_make(struct run_index *ix)
{
	auto_buf struct buf sql = BUF_INIT(65536);
	int r = index_exec(ix, "BEGIN IMMEDIATE");

	if (r < 0)
		return r;
	if (index_version(ix) == 0) {
		index_create_sql(&sql);
		r = index_exec(ix, buf_str(&sql));
	} else if (index_version(ix) != index_format())
		r = -EIO;
	return r < 0 ? (index_exec(ix, "ROLLBACK"), r) : index_exec(ix, "COMMIT");
}

static int index_connect(struct run_index *ix)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW;

	if (sqlite3_open_v2(ix->path, &ix->db, flags, NULL) != SQLITE_OK)
		return -EIO;
	sqlite3_busy_timeout(ix->db, INDEX_BUSY_MS);
	sqlite3_db_config(ix->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(ix->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	/* An index that a crash damages is made anew, so nothing has to be synced. */
	index_exec(ix, "PRAGMA synchronous=OFF");
	return index_version(ix) == index_format() ? 0 : index_make(ix);
}

static void index_disconnect(struct run_index *ix)
{
	sqlite3_close(ix->db);
	ix->db = NULL;
}

/* Opens the file. Makes it anew if it can't be read, unless others use it. */
static int index_open_file(struct run_index *ix, struct fh_error *err)
{
	int code;

	if (index_connect(ix) >= 0)
		return 0;
	code = sqlite3_errcode(ix->db);
	if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
		return index_fail(ix, "open", err);
	index_disconnect(ix);
	unlink(ix->path);
	return index_connect(ix) < 0 ? index_fail(ix, "open", err) : 0;
}

int run_index_open(const char *dir, const char *tasks_dir, struct run_index **out,
		struct fh_error *err)
{
	auto_run_index struct run_index *ix = xcalloc(1, sizeof(*ix));
	int r = path_absolute(dir, &ix->dir, err);

	if (r < 0)
		return r;
	ix->tasks.tasks_dir = tasks_dir;
	r = index_place(ix->dir, &ix->path, err);
	if (r < 0)
		return r;
	r = index_open_file(ix, err);
	if (r < 0)
		return r;
	*out = take_ptr(ix);
	return 0;
}

void run_index_close(struct run_index *ix)
{
	if (!ix)
		return;
	index_disconnect(ix);
	scan_tasks_release(&ix->tasks);
	free(ix->dir);
	free(ix->path);
	free(ix);
}

/* --- rows ------------------------------------------------------------------------------------- */

static void index_bind(
		sqlite3_stmt *q, int at, const struct row_field *f, const struct run_row *row)
{
	const void *field = (const char *)row + f->offset;

	switch (f->kind) {
	case ROW_TEXT:
		sqlite3_bind_text(q, at, *(const char *const *)field, -1, SQLITE_STATIC);
		break;
	case ROW_COUNT:
		sqlite3_bind_int64(q, at, *(const int64_t *)field);
		break;
	case ROW_NUMBER: /* SQLite stores NAN as NULL */
		sqlite3_bind_double(q, at, *(const double *)field);
		break;
	}
}

static void index_column(sqlite3_stmt *q, int at, const struct row_field *f, struct arena *a,
		struct run_row *row)
{
	void *field = (char *)row + f->offset;
	const char *text;

	switch (f->kind) {
	case ROW_TEXT:
		text = (const char *)sqlite3_column_text(q, at);
		*(const char **)field = text ? arena_strdup(a, text) : NULL;
		break;
	case ROW_COUNT:
		*(int64_t *)field = sqlite3_column_int64(q, at);
		break;
	case ROW_NUMBER:
		*(double *)field = sqlite3_column_type(q, at) == SQLITE_NULL
				? NAN
				: sqlite3_column_double(q, at);
		break;
	}
}

static void index_names(struct buf *sql, const char *separator, const char *text)
{
	for (const struct row_field *f = row_fields; f->name; f++)
		buf_printf(sql, "%s%s", f == row_fields ? "" : separator, text ? text : f->name);
}

int run_index_rows(
		struct run_index *ix, struct arena *a, struct run_rows *out, struct fh_error *err)
{
	auto_buf struct buf sql = BUF_INIT(65536);
	sqlite3_stmt *q;

	buf_add_str(&sql, "SELECT ");
	index_names(&sql, ", ", NULL);
	buf_add_str(&sql, " FROM runs ORDER BY path");
	if (sqlite3_prepare_v2(ix->db, buf_str(&sql), -1, &q, NULL) != SQLITE_OK)
		return index_fail(ix, "read", err);
	while (sqlite3_step(q) == SQLITE_ROW) {
		struct run_row *row = run_rows_add(a, out);
		int at = 0;

		for (const struct row_field *f = row_fields; f->name; f++)
			index_column(q, at++, f, a, row);
	}
	return sqlite3_finalize(q) == SQLITE_OK ? 0 : index_fail(ix, "read", err);
}

/* --- texts that are kept ---------------------------------------------------------------------- */

int run_index_keep(struct run_index *ix, const char *path, const struct buf *text,
		struct fh_error *err)
{
	sqlite3_stmt *q;

	if (sqlite3_prepare_v2(ix->db, "REPLACE INTO kept(path, text) VALUES(?, ?)", -1, &q,
			    NULL) != SQLITE_OK)
		return index_fail(ix, "write", err);
	sqlite3_bind_text(q, 1, path, -1, SQLITE_STATIC);
	sqlite3_bind_blob64(q, 2, text->data, text->len, SQLITE_STATIC);
	sqlite3_step(q);
	return sqlite3_finalize(q) == SQLITE_OK ? 0 : index_fail(ix, "write", err);
}

int run_index_kept(struct run_index *ix, const char *path, struct buf *out, struct fh_error *err)
{
	sqlite3_stmt *q;
	bool found = false;

	if (sqlite3_prepare_v2(ix->db, "SELECT text FROM kept WHERE path=?", -1, &q, NULL) !=
			SQLITE_OK)
		return index_fail(ix, "read", err);
	sqlite3_bind_text(q, 1, path, -1, SQLITE_STATIC);
	if (sqlite3_step(q) == SQLITE_ROW) {
		const void *text = sqlite3_column_blob(q, 0);

		buf_add(out, text ? text : "", (size_t)sqlite3_column_bytes(q, 0));
		found = !out->truncated;
	}
	if (sqlite3_finalize(q) != SQLITE_OK)
		return index_fail(ix, "read", err);
	return found ? 0 : error_say(err, ENOENT, "the index has no entry for '%s'", path);
}

/* --- keeping it up to date -------------------------------------------------------------------- */

/* Compares the folder with the index. Both lists are sorted by path. */
struct index_changes {
	struct found_records found, known;
	const char **added; /* records to read */
	const char **stamps;
	size_t n_added;
	const char **gone;
	size_t n_gone;
};

static int index_known(struct run_index *ix, struct arena *a, struct found_records *out,
		struct fh_error *err)
{
	sqlite3_stmt *q;
	static const char sql[] = "SELECT path, stamp FROM runs ORDER BY path";

	if (sqlite3_prepare_v2(ix->db, sql, -1, &q, NULL) != SQLITE_OK)
		return index_fail(ix, "read", err);
	while (sqlite3_step(q) == SQLITE_ROW) {
		const char *path = (const char *)sqlite3_column_text(q, 0);
		const char *stamp = (const char *)sqlite3_column_text(q, 1);

		out->items = arena_grow(a, out->items, out->n, sizeof(*out->items));
		out->items[out->n++] = (struct found_record){ arena_strdup(a, path ? path : ""),
			arena_strdup(a, stamp ? stamp : "") };
	}
	return sqlite3_finalize(q) == SQLITE_OK ? 0 : index_fail(ix, "read", err);
}

static void index_compare(struct index_changes *c, struct arena *a)
{
	size_t i = 0, k = 0;

	c->added = arena_array(a, c->found.n + 1, sizeof(*c->added));
	c->stamps = arena_array(a, c->found.n + 1, sizeof(*c->stamps));
	c->gone = arena_array(a, c->known.n + 1, sizeof(*c->gone));
	while (i < c->found.n || k < c->known.n) {
		const struct found_record *f = i < c->found.n ? &c->found.items[i] : NULL;
		const struct found_record *old = k < c->known.n ? &c->known.items[k] : NULL;
		int order = !f ? 1 : !old ? -1 : strcmp(f->path, old->path);

		if (old && order > 0) {
			c->gone[c->n_gone++] = old->path;
		} else if (f && (!old || order < 0 || !str_eq(f->stamp, old->stamp))) {
			c->added[c->n_added] = f->path;
			c->stamps[c->n_added++] = f->stamp;
		}
		i += order <= 0;
		k += order >= 0;
	}
}

static int index_add(struct run_index *ix, sqlite3_stmt *q, const char *path, const char *stamp)
{
	auto_arena struct arena own = ARENA_INIT;
	struct run_row row;
	int at = 2;

	scan_record(&own, &ix->tasks, path, &row);
	sqlite3_bind_text(q, 1, stamp, -1, SQLITE_STATIC);
	for (const struct row_field *f = row_fields; f->name; f++)
		index_bind(q, at++, f, &row);
	sqlite3_step(q);
	return sqlite3_reset(q) == SQLITE_OK ? 0 : -EIO;
}

static void scope_query(sqlite3_stmt *const *q)
{
	sqlite3_finalize(*q);
}

#define auto_query __attribute__((cleanup(scope_query)))

static bool index_is_stopped(int stop_fd)
{
	struct pollfd stop = { .fd = stop_fd, .events = POLLIN };

	return poll(&stop, 1, 0) > 0;
}

static int index_write(struct run_index *ix, const struct index_changes *c, int stop_fd)
{
	auto_buf struct buf sql = BUF_INIT(65536);
	auto_query sqlite3_stmt *add = NULL, *drop = NULL;

	buf_add_str(&sql, "REPLACE INTO runs(stamp, ");
	index_names(&sql, ", ", NULL);
	buf_add_str(&sql, ") VALUES(?, ");
	index_names(&sql, ", ", "?");
	buf_add_str(&sql, ")");
	if (sqlite3_prepare_v2(ix->db, buf_str(&sql), -1, &add, NULL) != SQLITE_OK ||
			sqlite3_prepare_v2(ix->db, "DELETE FROM runs WHERE path=?", -1, &drop,
					NULL) != SQLITE_OK)
		return -EIO;
	for (size_t i = 0; i < c->n_gone; i++) {
		sqlite3_bind_text(drop, 1, c->gone[i], -1, SQLITE_STATIC);
		sqlite3_step(drop);
		if (sqlite3_reset(drop) != SQLITE_OK)
			return -EIO;
	}
	for (size_t i = 0; i < c->n_added && !index_is_stopped(stop_fd); i++) {
		int r = index_add(ix, add, c->added[i], c->stamps[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

int run_index_update(struct run_index *ix, int stop_fd, struct fh_error *err)
{
	auto_arena struct arena a = ARENA_INIT;
	struct index_changes c = { 0 };
	/* Other tasks may tell other metrics. */
	const char *salt = ix->tasks.tasks_dir ? ix->tasks.tasks_dir : "";
	int r = found_records_read(&a, ix->dir, salt, &c.found, err);

	if (r < 0)
		return r;
	r = index_known(ix, &a, &c.known, err);
	if (r < 0)
		return r;
	index_compare(&c, &a);
	if (c.n_added || c.n_gone) {
		if (index_exec(ix, "BEGIN IMMEDIATE") < 0)
			return index_fail(ix, "write", err);
		if (index_write(ix, &c, stop_fd) < 0 || index_exec(ix, "COMMIT") < 0) {
			r = index_fail(ix, "write", err);
			index_exec(ix, "ROLLBACK");
			return r;
		}
	}
	return 0;
}
