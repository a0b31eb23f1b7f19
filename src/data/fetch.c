/* SPDX-License-Identifier: Apache-2.0 */
#include "data/fetch.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "data/cache.h"
#include "data/packages.h"
#include "data/part.h"
#include "data/source.h"
#include "data/transfer.h"
#include "env/make.h"
#include "sandbox/python.h"
#include "web/http.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>

#define FETCH_COPY_BYTES (1 << 20)

struct fetching {
	const struct dataset *dataset;
	const struct data_fetch_options *options;
	char *state_dir;
	struct transfer transfer;
	char *token;
};

/* State of fetching one file of a data set. */
struct fetching_file {
	struct fetching *f;
	const struct dataset_source *source;
	char *key; /* key in data.lock */
	struct lock_entry known;
	bool is_known;        /* data.lock has an entry: `known` */
	const char *expected; /* sha256 that the file must have; NULL: not known */
	struct data_file out;
};

/* --- errors ----------------------------------------------------------------------------------- */

/* Adds the file's name and address to an error. */
static int fetching_name_file(
		const struct fetching_file *ff, const char *revision, struct fh_error *err)
{
	auto_free char *url = NULL;
	/* An error about an invalid address names it already. */
	bool is_url = source_url(ff->source, revision, &url, NULL) == 0;

	return is_url ? error_wrap(err, "fetch %s from %s", ff->source->name, url) : err->code;
}

static size_t fetching_count_missing(const struct fetching *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->dataset->n_sources; i++)
		n += !path_exists(f->dataset->sources[i].target);
	return n;
}

/* Tells the user what to do by hand when a server can't be asked. */
static int fetching_say_offline(
		const struct fetching_file *ff, const char *why, struct fh_error *err)
{
	auto_free char *folder = path_dirname(ff->source->target);
	auto_free char *url = NULL;
	int r = source_url(ff->source, NULL, &url, err);

	if (r < 0)
		return r;
	return error_say(err, ENETUNREACH,
			"%s: %s. Without network, fetch that file elsewhere, put it into %s, and run "
			"this command again. Number of files that are missing in %s: %zu",
			url, why, ff->source->target, folder, fetching_count_missing(ff->f));
}

static int fetching_say_by_hand(const struct fetching_file *ff, struct fh_error *err)
{
	const char *how = ff->f->dataset->how_to_get;

	if (how)
		return error_say(err, ENODATA, "%s", how);
	return error_say(err, ENODATA, "put the file into %s, and run this command again",
			ff->source->target);
}

/* Sets the error for a file with another sha256 than expected. The message tells where the expected
 * one is from. */
static int fetching_say_differs(const struct fetching_file *ff, const char *what, const char *hex,
		struct fh_error *err)
{
	if (ff->source->sha256)
		return error_say(err, EBADMSG,
				"%s has the sha256 %s, but datasets/%s.yaml expects %s", what, hex,
				ff->f->dataset->id, ff->expected);
	return error_say(err, EBADMSG,
			"%s has the sha256 %s, but %s when it was first fetched. If the new file is "
			"right, remove the entry '%s' from %s/data.lock",
			what, hex, ff->expected, ff->key, ff->f->state_dir);
}

/* --- places of a file ------------------------------------------------------------------------- */

/* Keeps a file that is there already, from an earlier call or from the user, if its hash is
 * right. */
static int fetching_keep(struct fetching_file *ff, struct fh_error *err)
{
	struct lock_entry *entry = &ff->out.entry;
	const char *path = ff->source->target;
	struct stat st;
	int r = sha256_file(path, entry->sha256, err);

	if (r < 0)
		return r;
	if (ff->expected && strcasecmp(entry->sha256, ff->expected) != 0) {
		fetching_say_differs(ff, path, entry->sha256, err);
		return error_wrap(err, "remove %s to fetch it again", ff->source->name);
	}
	if (stat(path, &st) < 0)
		return error_set(err, errno, "look at '%s'", path);
	chmod(path, 0644); /* the layout's sandbox runs as another user */
	entry->size_bytes = st.st_size;
	ff->out.origin = DATA_KEPT;
	if (ff->is_known)
		memcpy(entry->revision, ff->known.revision, sizeof(entry->revision));
	return 0;
}

static int fetching_copy(const char *from, struct part *part, struct fh_error *err)
{
	auto_free char *data = xcalloc(1, FETCH_COPY_BYTES);
	auto_close int fd = fd_open_file(from, err);
	ssize_t n;

	if (fd < 0)
		return fd;
	while ((n = fd_read_full(fd, data, FETCH_COPY_BYTES)) > 0) {
		int r = part_add(part, data, (size_t)n, err);

		if (r < 0)
			return r;
	}
	return n < 0 ? error_set(err, (int)-n, "read '%s'", from) : 0;
}

static int fetching_copy_hit(
		struct fetching_file *ff, const struct cache_hit *hit, struct fh_error *err)
{
	struct lock_entry *entry = &ff->out.entry;
	const char *known = *hit->sha256 ? hit->sha256 : NULL;
	auto_part struct part part = PART_INIT;
	int r = part_open(ff->source->target, NULL, &part, err);

	if (r < 0)
		return r;
	r = fetching_copy(hit->path, &part, err);
	if (r < 0)
		return r;
	r = part_finish(&part, ff->expected ? ff->expected : known, entry->sha256, err);
	if (r < 0)
		return r;
	entry->size_bytes = part.done;
	snprintf(entry->revision, sizeof(entry->revision), "%s", hit->commit);
	ff->out.origin = DATA_CACHED;
	return 0;
}

/* Copies the file from the cache, which its user may empty at any time. -ENOENT: the cache lacks
 * the file, its file has another hash, or it can't be read. */
static int fetching_take_cached(
		struct fetching_file *ff, const char *revision, struct fh_error *err)
{
	struct cache_hit hit;
	int r;

	cache_find(ff->source, revision, &hit);
	if (!hit.path)
		return -ENOENT;
	r = fetching_copy_hit(ff, &hit, err);
	free(hit.path);
	return r == -EBADMSG || r == -EACCES ? -ENOENT : r;
}

/* Asks the server for the file's hash and commit. Fails if the hash is not the expected one, before
 * the file is fetched. */
static int fetching_look(struct fetching_file *ff, const char *revision, struct transfer_look *out,
		struct fh_error *err)
{
	auto_free char *url = NULL;
	int r = source_url(ff->source, revision, &url, err);

	if (r < 0)
		return r;
	r = transfer_look(&ff->f->transfer, url, ff->source->huggingface != NULL, out, err);
	if (r < 0)
		return r;
	if (ff->expected && *out->sha256 && strcasecmp(out->sha256, ff->expected) != 0)
		return fetching_say_differs(ff, "the server's file", out->sha256, err);
	if (*out->commit && !source_is_commit(out->commit))
		return error_say(err, EIO, "the server names a revision that is not a commit");
	return 0;
}

static int fetching_ask_server(struct fetching_file *ff, const char *revision, struct fh_error *err)
{
	struct lock_entry *entry = &ff->out.entry;
	struct transfer *t = &ff->f->transfer;
	auto_free char *url = NULL;
	struct transfer_look look;
	int r;

	t->token = ff->source->huggingface ? ff->f->token : NULL;
	r = fetching_look(ff, revision, &look, err);
	if (r < 0)
		return r;
	/* Fetch from the commit that the server named, so that all parts are of one file. */
	r = source_url(ff->source, *look.commit ? look.commit : revision, &url, err);
	if (r < 0)
		return r;
	r = transfer_get(t, url, &look,
			ff->expected                   ? ff->expected
					: *look.sha256 ? look.sha256
						       : NULL,
			ff->source->target, entry->sha256, &entry->size_bytes, err);
	snprintf(entry->revision, sizeof(entry->revision), "%s", look.commit);
	ff->out.origin = DATA_FETCHED;
	return r;
}

/* --- one file --------------------------------------------------------------------------------- */

static int fetching_bring(struct fetching_file *ff, struct fh_error *err)
{
	const struct dataset_source *source = ff->source;
	const char *revision = source->revision;
	int r;

	if (path_exists(source->target))
		return fetching_keep(ff, err);
	if (!source->huggingface && !source->url)
		return fetching_say_by_hand(ff, err);
	if (source->huggingface && *ff->known.revision)
		revision = ff->known.revision;
	r = fetching_take_cached(ff, revision, err);
	if (r != -ENOENT)
		return r;
	if (source_is_offline())
		return fetching_say_offline(
				ff, "HF_HUB_OFFLINE is set, so no server is asked", err);
	r = fetching_ask_server(ff, revision, err);
	if (r == -ENETUNREACH) {
		struct fh_error why = *err;

		return fetching_say_offline(ff, why.message, err);
	}
	return r < 0 ? fetching_name_file(ff, revision, err) : 0;
}

static int fetching_file(
		struct fetching *f, const struct dataset_source *source, struct fh_error *err)
{
	auto_free char *key = source_key(source);
	struct fetching_file ff = { .f = f, .source = source, .key = key };
	int r = lock_find(f->state_dir, LOCK_SOURCES, key, &ff.is_known, &ff.known, err);

	if (r < 0)
		return r;
	ff.expected = source->sha256 ? source->sha256 : ff.is_known ? ff.known.sha256 : NULL;
	ff.out.name = source->name;
	r = fetching_bring(&ff, err);
	if (r < 0)
		return r;
	r = lock_record(f->state_dir, LOCK_SOURCES, key, &ff.out.entry, err);
	if (r < 0)
		return r;
	if (f->options->file)
		f->options->file(f->options->user, &ff.out);
	return 0;
}

/* --- the layout ------------------------------------------------------------------------------- */

/* Records the sha256s of all files of the data set in data.lock. `data verify` needs them for files
 * without one in datasets/<id>.yaml. */
static int fetching_record_files(const struct fetching *f, struct fh_error *err)
{
	for (size_t i = 0; i < f->dataset->n_files; i++) {
		const struct dataset_file *file = &f->dataset->files[i];
		auto_free char *key = path_join(f->dataset->store, file->path);
		struct lock_entry entry = { .size_bytes = -1 };
		struct stat st;
		int r = sha256_file(file->source, entry.sha256, err);

		if (r < 0)
			return r;
		if (stat(file->source, &st) == 0)
			entry.size_bytes = st.st_size;
		r = lock_record(f->state_dir, LOCK_FILES, key, &entry, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int fetching_files(struct fetching *f, struct fh_error *err)
{
	for (size_t i = 0; i < f->dataset->n_sources; i++) {
		int r = fetching_file(f, &f->dataset->sources[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Looks for missing Python packages of the data set's layout before fetching, which may take
 * hours. */
static int fetching_for_layout(struct fetching *f, struct owner *owner,
		const struct python_env *python, struct fh_error *err)
{
	const struct data_fetch_options *o = f->options;
	int r = packages_check(owner, python, f->dataset->packages, err);

	if (r < 0)
		return r;
	r = fetching_files(f, err);
	if (r < 0)
		return r;
	if (o->layout)
		o->layout(o->user, true);
	r = make_layout(owner, f->dataset, python, err);
	if (o->layout)
		o->layout(o->user, false);
	return r;
}

static int fetching_with_layout(struct fetching *f, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct python_env python = { .spec = NULL };
	struct owner *owner;
	int r = f->options->python ? python_env_find(&arena, f->options->python, &python, err) : 0;

	if (r < 0)
		return r;
	r = owner_open(&(struct owner_options){ .label = "data" }, &owner, err);
	if (r < 0)
		return r;
	r = fetching_for_layout(f, owner, &python, err);
	owner_close(owner);
	return r;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Makes the data set's folders, and keeps other processes out until *out_lock is closed. */
static int fetching_lock(const struct dataset *dataset, int *out_lock, struct fh_error *err)
{
	auto_free char *above = path_dirname(dataset->fetched);
	int r = path_mkdirs(dataset->dir, 0700, err);
	int fd;

	if (r < 0)
		return r;
	r = path_mkdirs(above, 0700, err);
	if (r < 0)
		return r;
	r = path_mkdirs(dataset->fetched, 0755, err);
	if (r < 0)
		return r;
	/* Give others access: the program that lays out the files runs as another user. Other users
	 * of this machine can't pass the folder above, whose mode is 0700. */
	chmod(dataset->fetched, 0755);
	fd = open(dataset->fetched, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "open '%s'", dataset->fetched);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return error_say(
				err, EBUSY, "another process is fetching it: wait until that ends");
	}
	*out_lock = fd;
	return 0;
}

/* Fetches all files. The caller closes f->transfer.http. */
static int fetching_all(struct fetching *f, struct fh_error *err)
{
	auto_close int lock = -1;
	int r = http_open(
			&f->transfer.http, err); /* loads libcurl, which source_url() needs, too */

	if (r < 0)
		return r;
	r = fetching_lock(f->dataset, &lock, err);
	if (r < 0)
		return r;
	r = f->dataset->layout ? fetching_with_layout(f, err) : fetching_files(f, err);
	if (r < 0)
		return r;
	return fetching_record_files(f, err);
}

int data_fetch(const struct dataset *dataset, const struct data_fetch_options *options,
		struct fh_error *err)
{
	struct fetching f = { .dataset = dataset,
		.options = options,
		.transfer = { .stall_ms = options->stall_ms,
				.cancel_fd = options->cancel_fd,
				.user = options->user,
				.progress = options->progress } };
	auto_free char *state_dir = NULL, *token = source_token();
	int r;

	if (!dataset_missing(dataset) || dataset->make)
		return 0;
	if (!dataset->n_sources)
		return error_say(err, ENODATA, "data set '%s' lacks %s in %s%s%s", dataset->id,
				dataset_missing(dataset)->path, dataset->dir,
				dataset->how_to_get ? ": " : "",
				dataset->how_to_get ? dataset->how_to_get : "");
	r = places_state_dir(NULL, &state_dir, err);
	if (r < 0)
		return error_wrap(err, "data set '%s'", dataset->id);
	f.state_dir = state_dir;
	f.token = token;
	r = fetching_all(&f, err);
	http_close(f.transfer.http);
	/* A file with a wrong hash is a failure (exit status 1), no wrong input (exit status 2). */
	if (r == -EBADMSG)
		err->code = -EIO;
	return r < 0 ? error_wrap(err, "data set '%s'", dataset->id) : 0;
}
